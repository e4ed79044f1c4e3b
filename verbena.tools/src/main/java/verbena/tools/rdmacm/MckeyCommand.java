package verbena.tools.rdmacm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PortSpace;

/// `verbena mckey`: mckey(1), so alike that either end can be that program.
@Command(
        name = "mckey",
        header = "Join a multicast group by its address, send to it or receive from it, as mckey(1).",
        description = {
            "",
            "Receives unless -s is given; the other ends may be mckey. -C and -S have to be the same at all: they do not"
                    + " tell each other. Start those that receive first."
        },
        exitCodeOnInvalidInput = 1,
        exitCodeOnExecutionException = 255,
        footer = {
            "",
            "Exit status, as of mckey: 0 done, 1 wrong usage, else what the last line says, of which the shell sees the",
            "lowest byte."
        })
public final class MckeyCommand extends CmTestCommand {
    @Option(names = "-m", paramLabel = "GROUP", description = "The group: an IPv4 or IPv6 multicast address.")
    private @Nullable String group;

    @Option(
            names = "-M",
            paramLabel = "GID",
            description = "The group by its GID, in place of -m; needs -b. On RoCE it is the address again.")
    private @Nullable String groupGid;

    @Option(names = "-s", description = "Send.")
    private boolean sender;

    @Option(
            names = "-p",
            paramLabel = "SPACE",
            converter = CNumber.class,
            defaultValue = "0x111",
            description = "Port space by number: 0x111 for UDP, 0x2 for IPOIB (default ${DEFAULT-VALUE}).")
    private int spaceNumber;

    @Option(names = "-o", description = "Join to send only.")
    private boolean sendOnly;

    @Option(names = "-l", description = "Refused: what a queue pair sends to its own group comes back to it.")
    private boolean noLoopback;

    @Option(
            names = "--pause",
            paramLabel = "SECONDS",
            defaultValue = "3",
            description = "Sender: time for switches and receivers to be ready, before the first message (default"
                    + " ${DEFAULT-VALUE}, as in the C program).")
    private int pauseSeconds;

    MckeyCommand() {
        super("mckey");
    }

    @Override
    void validate() {
        super.validate();
        if ((group == null) == (groupGid == null)) {
            throw wrong("-m or -M: which group");
        }
        if (groupGid != null && bind().isEmpty()) {
            throw wrong("unmapped multicast address requires binding to source address: -b");
        }
        if (spaceNumber != PortSpace.UDP.code() && spaceNumber != PortSpace.IPOIB.code()) {
            throw wrong("-p: 0x111 for UDP or 0x2 for IPOIB, got 0x" + Integer.toHexString(spaceNumber));
        }
        range("--pause", pauseSeconds, 0, 3_600);
        if (noLoopback) {
            throw new CommandFailed("-l: a software device has no way to keep a group's messages from their sender");
        }
    }

    @Override
    void run(CmChannel channel) throws InterruptedException {
        say("starting " + (sender ? "client" : "server"));
        InetAddress to = groupGid != null
                ? literal("-M", groupGid)
                : address("-m", group, 0).getAddress();
        if (!to.isMulticastAddress()) {
            throw new CommandFailed((group != null ? "-m: " : "-M: ") + "224.0.0.0 to 239.255.255.255 or ff00::/8, got "
                    + Addresses.ip(to));
        }
        say("joining");
        for (int i = 0; i < connections(); i++) {
            join(channel, to);
        }
        if (messages() > 0) {
            transfer();
        }
        for (CmNode node : nodes()) {
            node.id().leaveMulticast(to);
        }
    }

    private void join(CmChannel channel, InetAddress to) throws InterruptedException {
        ConnectionId id = channel.newId(spaceNumber == PortSpace.IPOIB.code() ? PortSpace.IPOIB : PortSpace.UDP);
        CmNode node = add(id);
        var group = new InetSocketAddress(to, 0);
        bind().map(own -> address("-b", own, 0))
                .ifPresentOrElse(own -> id.resolveAddress(own, group), () -> id.resolveAddress(group));
        heard(channel, ConnectionEvent.AddressResolved.class, "resolve address");
        node.open(QpType.UD);
        if (!sender) {
            node.postReceives();
        }
        if (sendOnly) {
            id.joinMulticastToSend(to);
        } else {
            id.joinMulticast(to);
        }
        var joined = heard(channel, ConnectionEvent.MulticastJoined.class, "join");
        say("joined dgid: " + Addresses.gid(joined.group()) + " mlid 0x0 sl "
                + joined.path().serviceLevel());
        node.sendTo(joined.path(), joined.qpn(), joined.qkey());
        node.setConnected(true);
    }

    private <T extends ConnectionEvent> T heard(CmChannel channel, Class<T> wanted, String what)
            throws InterruptedException {
        ConnectionEvent event = channel.await(what);
        if (!wanted.isInstance(event)) {
            throw failure(event);
        }
        return wanted.cast(event);
    }

    private void transfer() throws InterruptedException {
        if (sender) {
            Thread.sleep(Duration.ofSeconds(pauseSeconds));
            print("initiating data transfers");
            nodes().forEach(CmNode::postSends);
            for (CmNode node : nodes()) {
                node.awaitSends();
            }
        } else {
            print("receiving data transfers");
            // As the C program: the sender may begin at any time.
            boolean isFirst = true;
            for (CmNode node : nodes()) {
                node.awaitReceives(ConnectionId.UDP_QKEY, isFirst);
                isFirst = false;
            }
        }
        print("data transfers complete");
    }
}
