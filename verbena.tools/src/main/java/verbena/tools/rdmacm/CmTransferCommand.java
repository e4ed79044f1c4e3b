package verbena.tools.rdmacm;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// The base of `ucmatose` and `udaddy`: a server and a client make all connections, and then messages go in one
/// direction and the other.
abstract class CmTransferCommand extends CmTestCommand {
    private static final int BACKLOG = 1_024;

    @Option(names = "-s", paramLabel = "ADDRESS", description = "Where the server is; without it, be the server.")
    private @Nullable String host;

    @Option(
            names = "-f",
            paramLabel = "FORMAT",
            defaultValue = "name",
            description = "How addresses are written: name, ip, ipv6 or gid (default ${DEFAULT-VALUE}).")
    private String format;

    @Option(
            names = "-t",
            paramLabel = "TOS",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Type of service of the packets, 0 to 255 (default ${DEFAULT-VALUE}).")
    private int typeOfService;

    private int connectsLeft;
    private int disconnectsLeft;

    CmTransferCommand(String name) {
        super(name);
    }

    abstract PortSpace space();

    abstract QpType type();

    abstract int port();

    /// Returns the parameters to ask for and to agree to.
    ConnectionParameters parameters() {
        return ConnectionParameters.defaults().withTrafficClass(typeOfService);
    }

    @Override
    void validate() {
        super.validate();
        range("-p", port(), host == null ? 0 : 1, 65_535);
        range("-t", typeOfService, 0, 255);
        switch (format.toLowerCase(Locale.ROOT)) {
            case "name" -> {}
            case "ip", "ipv6", "gid" -> numeric();
            default -> throw wrong("-f: name, ip, ipv6 or gid, got " + format);
        }
    }

    private void numeric() {
        bind().ifPresent(text -> literal("-b", text));
        if (host != null) {
            literal("-s", host);
        }
    }

    final boolean isServer() {
        return host == null;
    }

    /// Makes all connections.
    ///
    /// @throws CommandFailed when one cannot be made
    final void connectAll(CmChannel channel, @Nullable ConnectionId listener) throws InterruptedException {
        connectsLeft = connections();
        if (listener != null) {
            listener.bind(address("-b", bind().orElse(null), port()));
            listener.listen(BACKLOG);
            listening(listener.localAddress().orElseThrow(), command());
        } else {
            say("connecting");
            InetSocketAddress to = address("-s", host, port());
            Optional<InetSocketAddress> from = bind().map(own -> address("-b", own, 0));
            for (int i = 0; i < connections(); i++) {
                ConnectionId id = add(channel.newId(space())).id();
                from.ifPresentOrElse(own -> id.resolveAddress(own, to), () -> id.resolveAddress(to));
            }
        }
        while (connectsLeft > 0) {
            // A server waits for its first client as long as it takes, then for those that have begun.
            take(
                    isServer() && nodes().size() < connections()
                            ? channel.awaitAny()
                            : channel.await("connect to "
                                    + Addresses.peer(nodes().getLast().id())));
        }
    }

    /// Ends all connections at the server; the client waits until the server has.
    final void disconnectAll(CmChannel channel) throws InterruptedException {
        if (isServer()) {
            nodes().stream()
                    .filter(CmNode::isConnected)
                    .forEach(node -> node.id().disconnect());
        }
        while (disconnectsLeft > 0) {
            take(channel.await(
                    "disconnect from " + Addresses.peer(nodes().getLast().id())));
        }
    }

    private String command() {
        return type() == QpType.UD ? "udaddy -s %s --port %d" : "ucmatose -s %s -p %d";
    }

    private void take(ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.AddressResolved(ConnectionId id) -> id.resolveRoute();
            case ConnectionEvent.RouteResolved(ConnectionId id) -> {
                open(node(id));
                id.connect(parameters());
            }
            case ConnectionEvent.ConnectRequest request -> requested(request.id());
            case ConnectionEvent.Established established -> {
                connected(node(established.id()));
                disconnectsLeft++;
            }
            case ConnectionEvent.DatagramEstablished(ConnectionId id, var path, var peer) -> {
                node(id).sendTo(path, peer.qpn(), peer.qkey());
                connected(node(id));
            }
            case ConnectionEvent.Disconnected _ -> disconnectsLeft--;
            case ConnectionEvent.AddressError _,
                    ConnectionEvent.RouteError _,
                    ConnectionEvent.ConnectError _,
                    ConnectionEvent.Unreachable _,
                    ConnectionEvent.Rejected _,
                    ConnectionEvent.DeviceRemoval _ -> throw failure(event);
            case ConnectionEvent.ConnectResponse _,
                    ConnectionEvent.MulticastJoined _,
                    ConnectionEvent.MulticastError _,
                    ConnectionEvent.TimewaitExit _ -> {}
        }
    }

    private void requested(ConnectionId id) {
        if (nodes().size() == connections()) {
            say("failing connection request");
            id.reject(PrivateData.NONE);
            id.close();
            return;
        }
        CmNode node = add(id);
        open(node);
        id.accept(parameters());
        if (type() == QpType.UD) {
            connected(node); // nothing more is heard of it but the datagrams
        }
    }

    private void open(CmNode node) {
        node.open(type());
        node.postReceives();
    }

    private void connected(CmNode node) {
        node.setConnected(true);
        connectsLeft--;
    }

    final void sendAll() {
        nodes().forEach(CmNode::postSends);
    }

    final void awaitSends() throws InterruptedException {
        for (CmNode node : nodes()) {
            node.awaitSends();
        }
    }

    final void awaitReceives() throws InterruptedException {
        for (CmNode node : nodes()) {
            node.awaitReceives(ConnectionId.UDP_QKEY);
        }
    }
}
