package verbena.tools.explain;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.Future;
import verbena.tools.explain.Ends.Joined;
import verbena.tools.kit.CommandFailed;
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

/// Scenarios of connections and messages, in which both applications take part.
final class Messages {
    /// The bytes of the network header, which stands before a datagram in its receive.
    private static final int GRH_BYTES = 40;

    private Messages() {}

    // ---- connections

    static void connect(Ends ends) throws InterruptedException {
        Joined joined = ends.connect(ends.target(Access.remoteAll()));
        ends.a.state(joined.a());
        ends.b.state(joined.b());
        ends.phase("Parting", "Either side may end the connection; the other is told.");
        Future<Boolean> told = ends.meanwhile(() -> {
            ends.b.disconnected();
            return true;
        });
        ends.a.call(
                "disconnect",
                "The queue pair goes to ERR at once.",
                () -> joined.idA().disconnect());
        Ends.get(told);
        ends.a.disconnected();
        ends.a.state(joined.a());
        ends.b.state(joined.b());
    }

    static void refused(Ends ends) throws InterruptedException {
        // A port that was just free, and is again.
        ConnectionId taken = ends.b.id(PortSpace.TCP);
        taken.bind(ends.b.address(0));
        var closed = taken.localAddress().orElseThrow();
        taken.close();
        ends.phase("Asking", "At device B no program listens at port " + closed.getPort() + ".");
        ConnectionId id = ends.a.id(PortSpace.TCP);
        ends.a.call("resolve address and route", "", () -> id.resolveAddress(closed));
        ends.a.expect(ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        ends.a.expect(ConnectionEvent.RouteResolved.class);
        ends.a.call("create a queue pair", "", () -> id.createQueuePair(ends.a.domain, QueuePairOptions.rc(ends.a.cq)));
        ends.a.call("connect", "Asks device B for the service.", () -> id.connect(ConnectionParameters.defaults()));
        ConnectionEvent event = ends.a.event();
        String why = switch (event) {
            case ConnectionEvent.Rejected no -> no.why();
            case ConnectionEvent.Unreachable silence -> silence.why();
            case ConnectionEvent.ConnectError error -> error.why();
            default ->
                throw new CommandFailed(
                        "a refusal was expected, got " + event.getClass().getSimpleName());
        };
        ends.recorder.told(
                Place.APPLICATION_A,
                event.getClass().getSimpleName().toLowerCase(Locale.ROOT),
                why + ". "
                        + (ends.isIwarp() ? "B's operating system" : "Device B's connection manager")
                        + " has answered by itself: no application had to.");
    }

    // ---- messages

    static void send(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        Joined joined = ends.connect(to);
        ends.phase("The SEND", "A message needs both applications: B has to say beforehand where it may go.");
        ends.b.receive(joined.b(), 7, to, (int) to.region.length());
        ends.b.arm();
        Future<Completion> received = ends.meanwhile(ends.b::sleep);
        send(ends, joined.a(), 1, from, ends.size);
        ends.a.poll();
        Ends.get(received);
        ends.awaitEqual(from, to, ends.size);
    }

    /// Posts one SEND.
    static void send(Ends ends, QueuePair queuePair, long wrId, Watched from, int bytes) {
        ends.a.post(
                queuePair,
                String.format(Locale.ROOT, "SEND %,d bytes from a+0", bytes),
                batch -> batch.send(wrId).sge(from.region, 0, bytes).signaled());
    }

    static void sharedReceives(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        SharedReceiveQueue shared = ends.b.call(
                "create a shared receive queue",
                "Receives for many connections: the first message to come takes the next one. Thousands of connections need"
                        + " no more memory than their messages.",
                () -> ends.b.domain.createSharedReceiveQueue(16, 1));
        ends.b.closing(shared);
        Joined first = ends.connect("Connecting", to, options -> options.withSharedReceiveQueue(shared));
        Joined second = ends.connect("Connecting once more", to, options -> options.withSharedReceiveQueue(shared));
        ends.phase("Two messages", "One on each connection, into receives that belong to neither.");
        for (int i = 0; i < 2; i++) {
            int wrId = 7 + i;
            int offset = i * 2_048;
            ends.b.call(
                    "post receive " + wrId + " at b+" + offset + " to the shared queue",
                    "For the connection that needs it first.",
                    () -> shared.postReceive(wrId, to.region.slice(offset, 2_048)));
        }
        int bytes = Math.min(ends.size, 2_048);
        for (Joined joined : new Joined[] {second, first}) {
            ends.b.arm();
            Future<Completion> received = ends.meanwhile(ends.b::sleep);
            send(ends, joined.a(), 1, from, bytes);
            ends.a.poll();
            Completion done = Ends.get(received);
            ends.b.step(
                    "receive " + done.wrId() + " went to queue pair 0x%06x".formatted(done.qpn()),
                    "Of the " + (joined == first ? "first" : "second") + " connection.");
        }
    }

    // ---- datagrams

    static void datagram(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        ends.phase(
                "Asking for the number",
                "A datagram needs no connection, but the number and the Q_Key of a queue pair.");
        ConnectionId listener = ends.b.id(PortSpace.UDP);
        ends.b.call("bind and listen", "", () -> {
            listener.bind(ends.b.address(0));
            listener.listen(4);
        });
        Future<QueuePair> answered = ends.meanwhile(() -> answer(ends));
        ConnectionId id = ends.a.id(PortSpace.UDP);
        ends.a.call(
                "resolve address and route",
                "",
                () -> id.resolveAddress(listener.localAddress().orElseThrow()));
        ends.a.expect(ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        ends.a.expect(ConnectionEvent.RouteResolved.class);
        QueuePair source = ends.a.call(
                "create a queue pair for datagrams",
                "",
                () -> id.createQueuePair(ends.a.domain, QueuePairOptions.ud(ends.a.cq)));
        ends.a.call("ask", "Which queue pair serves that port?", () -> id.connect(ConnectionParameters.defaults()));
        var known = ends.a.expect(ConnectionEvent.DatagramEstablished.class);
        ends.recorder.told(
                Place.APPLICATION_A,
                "it is queue pair 0x%06x, Q_Key 0x%08x"
                        .formatted(known.peer().qpn(), known.peer().qkey()),
                "That, and an address handle, is all that a datagram needs.");
        QueuePair sink = Ends.get(answered);

        ends.phase("The datagram", "One packet, which is not acknowledged: if it is lost, neither end is told.");
        int bytes = Math.min(ends.size, datagramMax(ends));
        ends.b.receive(sink, 7, to, GRH_BYTES + bytes);
        ends.b.arm();
        Future<Completion> received = ends.meanwhile(ends.b::sleep);
        AddressHandle handle = ends.a.closing(ends.a.call(
                "create an address handle",
                "The way to the peer, looked up once and used for many datagrams.",
                () -> ends.a.domain.createAddressHandle(known.path())));
        ends.a.post(
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
        ends.a.poll();
        Ends.get(received);
        header(ends);
    }

    private static QueuePair answer(Ends ends) throws InterruptedException {
        var request = ends.b.expect(ConnectionEvent.ConnectRequest.class);
        ConnectionId id = ends.b.closing(request.id());
        ends.recorder.told(Place.APPLICATION_B, "a peer asks", "");
        QueuePair queuePair = ends.b.call(
                "create a queue pair for datagrams",
                "One is enough for any number of peers.",
                () -> id.createQueuePair(ends.b.domain, QueuePairOptions.ud(ends.b.cq)));
        ends.b.call("answer", "", () -> id.accept(ConnectionParameters.defaults()));
        return queuePair;
    }

    private static int datagramMax(Ends ends) {
        return ends.a.context.port(1).activeMtu().bytes();
    }

    private static void header(Ends ends) {
        ends.b.step(
                "the first 40 bytes are the network header",
                "So the receiver knows who has sent it, and can answer. The data stand behind them.");
    }

    static void multicast(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        InetAddress group = group();
        ends.phase("Joining", "B becomes a member of the group " + group.getHostAddress() + "; A only sends to it.");
        ConnectionId member = join(ends.b, group, false);
        ConnectionId sender = join(ends.a, group, true);
        var joined = ends.b.expect(ConnectionEvent.MulticastJoined.class);
        ends.recorder.told(Place.APPLICATION_B, "joined", "The network brings the group's datagrams here from now on.");
        var path = ends.a.expect(ConnectionEvent.MulticastJoined.class);
        ends.phase("The datagram", "It is addressed to the group, and to queue pair 0xffffff: all of the members.");
        int bytes = Math.min(ends.size, datagramMax(ends));
        ends.b.receive(member.queuePair().orElseThrow(), 7, to, GRH_BYTES + bytes);
        ends.b.arm();
        Future<Completion> received = ends.meanwhile(ends.b::sleep);
        AddressHandle handle = ends.a.closing(ends.a.domain.createAddressHandle(path.path()));
        ends.a.post(
                sender.queuePair().orElseThrow(),
                String.format(Locale.ROOT, "SEND %,d bytes from a+0 to the group", bytes),
                batch -> batch.send(1)
                        .sge(from.region, 0, bytes)
                        .to(handle, joined.qpn(), joined.qkey())
                        .signaled());
        ends.a.poll();
        Ends.get(received);
        header(ends);
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
        if (sendOnly) {
            end.call("join, to send only", "", () -> id.joinMulticastToSend(group));
        } else {
            end.call("join", "", () -> id.joinMulticast(group));
        }
        return id;
    }
}
