package verbena.tools.pingpong;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;

/// A ping-pong whose ends find each other by address and port: each queue pair is a connection. For one thread.
final class PingpongCm implements AutoCloseable {
    private final CmChannel channel;
    private final Pingpong.Settings settings;
    private final boolean isDatagram;
    private final List<ConnectionId> ids = new ArrayList<>();
    private @Nullable Pingpong pingpong;

    PingpongCm(CmChannel channel, Pingpong.Settings settings) {
        this.channel = channel;
        this.settings = settings;
        isDatagram = settings.service() == PingpongService.UD;
    }

    private PortSpace space() {
        return isDatagram ? PortSpace.UDP : PortSpace.TCP;
    }

    /// Makes all connections, as the client.
    void connect(InetSocketAddress to) throws InterruptedException {
        for (int i = 0; i < settings.queuePairs(); i++) {
            ConnectionId id = channel.newId(space());
            ids.add(id);
            if (to.isUnresolved()) {
                throw new CommandFailed("unknown host " + to.getHostString());
            }
            id.resolveAddress(to);
            channel.await(ConnectionEvent.AddressResolved.class, "resolve address");
            id.resolveRoute();
            channel.await(ConnectionEvent.RouteResolved.class, "resolve route");
        }
        Pingpong game = begin();
        ids.forEach(id -> id.connect(parameters()));
        String what = "connect to " + Addresses.peer(ids.getFirst());
        if (isDatagram) {
            var peer = channel.await(ConnectionEvent.DatagramEstablished.class, what);
            game.connected(peer.path(), peer.peer().qpn());
            return;
        }
        for (int i = 0; i < ids.size(); i++) {
            channel.await(ConnectionEvent.Established.class, what);
        }
    }

    /// Waits for all connections of a client, as the server.
    ///
    /// @param listening told where clients can connect
    void serve(InetSocketAddress at, Consumer<InetSocketAddress> listening) throws InterruptedException {
        try (ConnectionId listener = channel.newId(space())) {
            listener.bind(at);
            listener.listen(settings.queuePairs());
            listening.accept(listener.localAddress().orElseThrow());
            while (ids.size() < settings.queuePairs()) {
                ConnectionEvent event = ids.isEmpty()
                        ? channel.awaitAny()
                        : channel.await("connection " + (ids.size() + 1) + " of " + settings.queuePairs()
                                + " (-q, the same at both ends)");
                if (event instanceof ConnectionEvent.ConnectRequest request) {
                    ids.add(request.id());
                }
            }
            begin();
            ids.forEach(id -> id.accept(parameters()));
            for (int i = 0; i < ids.size() && !isDatagram; i++) {
                channel.await(ConnectionEvent.Established.class, "accept " + Addresses.peer(ids.getFirst()));
            }
        }
    }

    private Pingpong begin() {
        var game = new Pingpong(ids.getFirst().context(), settings, ids);
        pingpong = game;
        return game;
    }

    private static ConnectionParameters parameters() {
        return ConnectionParameters.defaults();
    }

    /// Returns the queue pairs, and those of the peer; none for datagrams, because their server does not know its
    /// client yet.
    List<PingpongPeer> ends() {
        return isDatagram ? List.of() : game().connected();
    }

    /// Runs the exchange of messages to the end.
    Pingpong.Result run(boolean isClient, boolean check) throws InterruptedException {
        return game().run(isClient, check);
    }

    /// Ends all connections: the client does so when it has all answers, and the server waits for that.
    void disconnect(boolean isClient) throws InterruptedException {
        if (isDatagram) {
            return;
        }
        if (isClient) {
            ids.forEach(ConnectionId::disconnect);
        }
        for (int i = 0; i < ids.size(); i++) {
            channel.await(ConnectionEvent.Disconnected.class, "disconnect from " + Addresses.peer(ids.getFirst()));
        }
    }

    private Pingpong game() {
        return Objects.requireNonNull(pingpong, "connected before");
    }

    @Override
    public void close() {
        if (pingpong != null) {
            pingpong.close();
        }
        ids.forEach(ConnectionId::close);
    }
}
