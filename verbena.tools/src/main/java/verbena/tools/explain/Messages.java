package verbena.tools.explain;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.Future;
import verbena.tools.CommandFailed;
import verbena.tools.explain.Stage.Joined;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.Completion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;

/// Tales of connections and messages, in which both applications take part.
final class Messages {
    /// What stands before a datagram in its receive: the network header.
    private static final int GRH_BYTES = 40;

    private Messages() {}

    // ---- connections

    static void connect(Stage stage) throws InterruptedException {
        Joined joined = stage.connect(stage.target(Access.remoteAll()));
        stage.a.state(joined.a());
        stage.b.state(joined.b());
        stage.phase("Parting", "Either side may end the connection; the other is told.");
        Future<Boolean> told = stage.meanwhile(() -> {
            stage.b.disconnected();
            return true;
        });
        stage.a.call(
                "disconnect",
                "The queue pair goes to ERR at once.",
                () -> joined.idA().disconnect());
        Stage.get(told);
        stage.a.disconnected();
        stage.a.state(joined.a());
        stage.b.state(joined.b());
    }

    static void refused(Stage stage) throws InterruptedException {
        // A port that was just free, and is again.
        ConnectionId taken = stage.b.id(PortSpace.TCP);
        taken.bind(stage.b.address(0));
        var nobody = taken.localAddress().orElseThrow();
        taken.close();
        stage.phase("Asking", "At device B no program listens at port " + nobody.getPort() + ".");
        ConnectionId id = stage.a.id(PortSpace.TCP);
        stage.a.call("resolve address and route", "", () -> id.resolveAddress(nobody));
        stage.a.expect(ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        stage.a.expect(ConnectionEvent.RouteResolved.class);
        stage.a.call(
                "create a queue pair", "", () -> id.createQueuePair(stage.a.domain, QueuePairOptions.rc(stage.a.cq)));
        stage.a.call("connect", "Asks device B for the service.", () -> id.connect(ConnectionParameters.defaults()));
        ConnectionEvent event = stage.a.event();
        String why = switch (event) {
            case ConnectionEvent.Rejected no -> no.why();
            case ConnectionEvent.Unreachable silence -> silence.why();
            case ConnectionEvent.ConnectError error -> error.why();
            default -> throw new CommandFailed("a refusal was expected, got " + event);
        };
        stage.recorder.told(
                Place.APPLICATION_A,
                event.getClass().getSimpleName().toLowerCase(Locale.ROOT),
                why + ". "
                        + (stage.isIwarp() ? "B's operating system" : "Device B's connection manager")
                        + " has answered by itself: no application had to.");
    }

    // ---- messages

    static void send(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        Joined joined = stage.connect(to);
        stage.phase("The SEND", "A message needs both applications: B has to say beforehand where it may go.");
        stage.b.receive(joined.b(), 7, to, (int) to.region.length());
        stage.b.arm();
        Future<Completion> received = stage.meanwhile(stage.b::sleep);
        send(stage, joined.a(), 1, from, stage.size);
        stage.a.poll();
        Stage.get(received);
        stage.awaitEqual(from, to, stage.size);
    }

    /// Posts one SEND.
    static void send(Stage stage, QueuePair queuePair, long wrId, Watched from, int bytes) {
        stage.a.post(
                queuePair,
                String.format(Locale.ROOT, "SEND %,d bytes from a+0", bytes),
                batch -> batch.send(wrId).sge(from.region, 0, bytes).signaled());
    }

    static void sharedReceives(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        SharedReceiveQueue shared = stage.b.call(
                "create a shared receive queue",
                "Receives for many connections: the first message to come takes the next one. Thousands of connections need"
                        + " no more memory than their messages.",
                () -> stage.b.domain.createSharedReceiveQueue(16, 1));
        stage.b.closing(shared);
        Joined first = stage.connect("Connecting", to, options -> options.withSharedReceiveQueue(shared));
        Joined second = stage.connect("Connecting once more", to, options -> options.withSharedReceiveQueue(shared));
        stage.phase("Two messages", "One on each connection, into receives that belong to neither.");
        for (int i = 0; i < 2; i++) {
            int wrId = 7 + i;
            int offset = i * 2_048;
            stage.b.call(
                    "post receive " + wrId + " at b+" + offset + " to the shared queue",
                    "For whichever connection needs it.",
                    () -> shared.postReceive(wrId, to.region, offset, 2_048));
        }
        int bytes = Math.min(stage.size, 2_048);
        for (Joined joined : new Joined[] {second, first}) {
            stage.b.arm();
            Future<Completion> received = stage.meanwhile(stage.b::sleep);
            send(stage, joined.a(), 1, from, bytes);
            stage.a.poll();
            Completion done = Stage.get(received);
            stage.b.step(
                    "receive " + done.wrId() + " went to queue pair 0x%06x".formatted(done.qpn()),
                    "Of the " + (joined == first ? "first" : "second") + " connection.");
        }
    }

    // ---- datagrams

    static void datagram(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        stage.phase(
                "Asking for the number",
                "A datagram needs no connection, but the number and the Q_Key of a queue pair.");
        ConnectionId listener = stage.b.id(PortSpace.UDP);
        stage.b.call("bind and listen", "", () -> {
            listener.bind(stage.b.address(0));
            listener.listen(4);
        });
        Future<QueuePair> answered = stage.meanwhile(() -> answer(stage));
        ConnectionId id = stage.a.id(PortSpace.UDP);
        stage.a.call(
                "resolve address and route",
                "",
                () -> id.resolveAddress(listener.localAddress().orElseThrow()));
        stage.a.expect(ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        stage.a.expect(ConnectionEvent.RouteResolved.class);
        QueuePair source = stage.a.call(
                "create a queue pair for datagrams",
                "",
                () -> id.createQueuePair(stage.a.domain, QueuePairOptions.ud(stage.a.cq)));
        stage.a.call("ask", "Which queue pair serves that port?", () -> id.connect(ConnectionParameters.defaults()));
        var known = stage.a.expect(ConnectionEvent.DatagramEstablished.class);
        stage.recorder.told(
                Place.APPLICATION_A,
                "it is queue pair 0x%06x, Q_Key 0x%08x"
                        .formatted(known.peer().qpn(), known.peer().qkey()),
                "That, and an address handle, is all that a datagram needs.");
        QueuePair sink = Stage.get(answered);

        stage.phase("The datagram", "One packet, which is not acknowledged: if it is lost, neither end is told.");
        int bytes = Math.min(stage.size, datagramMax(stage));
        stage.b.receive(sink, 7, to, GRH_BYTES + bytes);
        stage.b.arm();
        Future<Completion> received = stage.meanwhile(stage.b::sleep);
        AddressHandle handle = stage.a.closing(stage.a.call(
                "create an address handle",
                "The way to the peer, looked up once and used for many datagrams.",
                () -> stage.a.domain.createAddressHandle(known.path())));
        stage.a.post(
                source,
                String.format(
                        Locale.ROOT,
                        "SEND %,d bytes from a+0 to 0x%06x",
                        bytes,
                        known.peer().qpn()),
                batch -> batch.send(1)
                        .sge(from.region, 0, bytes)
                        .to(handle, known.peer().qpn(), known.peer().qkey())
                        .signaled());
        stage.a.poll();
        Stage.get(received);
        header(stage);
    }

    private static QueuePair answer(Stage stage) throws InterruptedException {
        var request = stage.b.expect(ConnectionEvent.ConnectRequest.class);
        ConnectionId id = stage.b.closing(request.id());
        stage.recorder.told(Place.APPLICATION_B, "a peer asks", "");
        QueuePair queuePair = stage.b.call(
                "create a queue pair for datagrams",
                "One is enough for any number of peers.",
                () -> id.createQueuePair(stage.b.domain, QueuePairOptions.ud(stage.b.cq)));
        stage.b.call("answer", "", () -> id.accept(ConnectionParameters.defaults()));
        return queuePair;
    }

    private static int datagramMax(Stage stage) {
        return stage.a.context.port(1).activeMtu().bytes();
    }

    private static void header(Stage stage) {
        stage.b.step(
                "the first 40 bytes are the network header",
                "So the receiver knows who has sent it, and can answer. The data stand behind them.");
    }

    static void multicast(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        InetAddress group = group();
        stage.phase("Joining", "B becomes a member of the group " + group.getHostAddress() + "; A only sends to it.");
        ConnectionId member = join(stage.b, group, false);
        ConnectionId sender = join(stage.a, group, true);
        var joined = stage.b.expect(ConnectionEvent.MulticastJoined.class);
        stage.recorder.told(
                Place.APPLICATION_B, "joined", "The network brings the group's datagrams here from now on.");
        var path = stage.a.expect(ConnectionEvent.MulticastJoined.class);
        stage.phase("The datagram", "It is addressed to the group, and to queue pair 0xffffff: all of the members.");
        int bytes = Math.min(stage.size, datagramMax(stage));
        stage.b.receive(member.queuePair().orElseThrow(), 7, to, GRH_BYTES + bytes);
        stage.b.arm();
        Future<Completion> received = stage.meanwhile(stage.b::sleep);
        AddressHandle handle = stage.a.closing(stage.a.domain.createAddressHandle(path.path()));
        stage.a.post(
                sender.queuePair().orElseThrow(),
                String.format(Locale.ROOT, "SEND %,d bytes from a+0 to the group", bytes),
                batch -> batch.send(1)
                        .sge(from.region, 0, bytes)
                        .to(handle, joined.qpn(), joined.qkey())
                        .signaled());
        stage.a.poll();
        Stage.get(received);
        header(stage);
    }

    private static InetAddress group() {
        try {
            return InetAddress.getByName("239.86.69.82");
        } catch (UnknownHostException e) {
            throw new AssertionError("four numbers are always an address", e);
        }
    }

    private static ConnectionId join(End end, InetAddress group, boolean sendOnly) {
        ConnectionId id = end.id(PortSpace.UDP);
        id.bind(end.address(0));
        end.call(
                "create a queue pair for datagrams",
                "",
                () -> id.createQueuePair(end.domain, QueuePairOptions.ud(end.cq)));
        end.call(sendOnly ? "join, to send only" : "join", "", () -> id.joinMulticast(group, sendOnly));
        return id;
    }
}
