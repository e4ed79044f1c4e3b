package verbena.conformance.cases;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.conformance.fixture.CmFixture;
import verbena.conformance.fixture.DeviceAddress;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.ConnectionException;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// Connections by address and port (rdma_cm(7)).
@Needs({Capability.RC, Capability.CONNECTION_MANAGER})
public final class Connecting {
    /// The number of bytes that fit into a request (IBTA A11.4, less the bytes of the IP addresses).
    private static final int REQUEST_BYTES = 56;

    private Connecting() {}

    /// Two ends that are connected by the manager, also where endpoints would do.
    private record Made(CmFixture cm, TestEnd a, TestEnd b, ConnectionId idOfA, ConnectionId idOfB) {}

    private static QueuePair queuePair(Fixture fixture, TestEnd end, ConnectionId id) {
        return id.createQueuePair(end.domain, fixture.wire(QpType.RC).options(end));
    }

    private static Made connect(Fixture fixture, PrivateData asks, PrivateData answers) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        CmFixture cm = fixture.cm();
        ConnectionId idOfA = cm.resolved(PortSpace.TCP);
        queuePair(fixture, a, idOfA);
        idOfA.connect(ConnectionParameters.defaults().withReads(1, 1).withPrivateData(asks));
        ConnectionEvent.ConnectRequest request = cm.request();
        Expect.bytes(
                "private data of the request",
                asks.bytes(),
                start(request.peer().privateData(), asks));
        queuePair(fixture, b, request.id());
        request.id().accept(ConnectionParameters.defaults().withReads(1, 1).withPrivateData(answers));
        var established = cm.await(idOfA, ConnectionEvent.Established.class);
        Expect.bytes(
                "private data of the answer",
                answers.bytes(),
                start(established.peer().privateData(), answers));
        cm.await(request.id(), ConnectionEvent.Established.class);
        return new Made(cm, a, b, idOfA, request.id());
    }

    /// Returns the beginning of private data, to which the wire may add zeroes.
    private static byte[] start(PrivateData arrived, PrivateData sent) {
        return Arrays.copyOf(arrived.bytes(), Math.min(sent.length(), arrived.length()));
    }

    private static QueuePair qp(ConnectionId id) {
        return id.queuePair().orElseThrow();
    }

    public static void bothAreToldAndBothCanSend(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        Expect.equal("state of a", ConnectionId.State.CONNECTED, made.idOfA.state());
        Expect.equal("state of b", ConnectionId.State.CONNECTED, made.idOfB.state());
        Expect.equal("queue pair of a", QpState.RTS, qp(made.idOfA).state());
        Expect.equal("queue pair of b", QpState.RTS, qp(made.idOfB).state());
        for (boolean aBegins : new boolean[] {true, false}) {
            TestEnd from = aBegins ? made.a : made.b;
            TestEnd to = aBegins ? made.b : made.a;
            qp(aBegins ? made.idOfB : made.idOfA).postReceive(1, to.memory.slice(0, 100));
            qp(aBegins ? made.idOfA : made.idOfB).postSend(2, from.memory.slice(500, 100));
            from.ok(2);
            to.received(1, 100);
            Expect.bytes("message", from.bytes(500, 100), to.bytes(0, 100));
        }
    }

    public static void addressesAreKnownAtBothEnds(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        Expect.equal("peer of a", made.cm.address(), made.idOfA.peerAddress().orElseThrow());
        Expect.equal(
                "own address of b", made.cm.address(), made.idOfB.localAddress().orElseThrow());
        InetSocketAddress a = made.idOfA.localAddress().orElseThrow();
        Expect.equal("own address of a", DeviceAddress.of(fixture.a()), a.getAddress());
        Expect.atLeast("own port of a", 1, a.getPort());
        Expect.equal("peer of b", a, made.idOfB.peerAddress().orElseThrow());
        Expect.that("the context of a", made.idOfA.context() == fixture.a());
    }

    public static void privateDataOfEverySizeArrive(Fixture fixture) throws InterruptedException {
        for (int size : new int[] {1, 4, REQUEST_BYTES - 1, REQUEST_BYTES}) {
            byte[] data = new byte[size];
            for (int i = 0; i < size; i++) {
                data[i] = (byte) (i + 1);
            }
            connect(fixture, PrivateData.of(data), PrivateData.of(data));
        }
    }

    public static void privateDataThatAreTooLongAreRefused(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        ConnectionId id = fixture.cm().resolved(PortSpace.TCP);
        queuePair(fixture, a, id);
        Expect.thrown(
                "2000 bytes",
                IllegalArgumentException.class,
                () -> id.connect(ConnectionParameters.defaults().withPrivateData(PrivateData.of(new byte[2000]))));
    }

    public static void aRejectionBringsItsPrivateData(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        CmFixture cm = fixture.cm();
        ConnectionId id = cm.resolved(PortSpace.TCP);
        queuePair(fixture, a, id);
        id.connect(ConnectionParameters.defaults());
        ConnectionId asked = cm.request().id();
        asked.reject(PrivateData.ofText("not today"));
        var rejected = cm.await(id, ConnectionEvent.Rejected.class);
        Expect.equal("reason", ConnectionEvent.Rejected.CONSUMER_DEFINED, rejected.reason());
        Expect.equal("private data", "not today", rejected.privateData().text());
        Expect.equal("state", ConnectionId.State.DISCONNECTED, id.state());
        Expect.thrown(
                "accepting afterwards",
                InvalidStateException.class,
                () -> asked.accept(ConnectionParameters.defaults()));
    }

    public static void whereNobodyListensARequestIsRejected(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        CmFixture cm = fixture.cm();
        InetSocketAddress at = cm.address();
        ConnectionId id = cm.resolved(PortSpace.TCP);
        queuePair(fixture, a, id);
        cm.listener.close();
        id.connect(ConnectionParameters.defaults());
        ConnectionEvent event = id.channel().await(fixture.timeout()).orElseThrow();
        fixture.tell(event + " from " + at);
        Expect.that(
                "rejected or unreachable: " + event,
                event instanceof ConnectionEvent.Rejected || event instanceof ConnectionEvent.Unreachable);
        if (event instanceof ConnectionEvent.Rejected rejected) {
            Expect.equal("reason", ConnectionEvent.Rejected.INVALID_SERVICE_ID, rejected.reason());
        }
    }

    public static void aTakenPortIsRefused(Fixture fixture) {
        CmFixture cm = fixture.cm();
        ConnectionId second = fixture.own(cm.listening.createId(PortSpace.TCP));
        var refused = Expect.thrown("bind", ConnectionException.class, () -> second.bind(cm.address()));
        Expect.equal("reason", ConnectionException.Reason.ADDRESS, refused.reason());
    }

    public static void aPortIsFreeAgainAfterItsListenerWasClosed(Fixture fixture) {
        CmFixture cm = fixture.cm();
        InetSocketAddress at = cm.address();
        cm.listener.close();
        ConnectionId second = fixture.own(cm.listening.createId(PortSpace.TCP));
        second.bind(at);
        second.listen(1);
        Expect.equal("state", ConnectionId.State.LISTENING, second.state());
    }

    private static void ends(Fixture fixture, boolean byA) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        qp(made.idOfA).postReceive(1, made.a.memory.slice(0, 8));
        qp(made.idOfB).postReceive(2, made.b.memory.slice(0, 8));
        (byA ? made.idOfA : made.idOfB).disconnect();
        for (ConnectionId id : new ConnectionId[] {made.idOfA, made.idOfB}) {
            var ended = made.cm.await(id, ConnectionEvent.Disconnected.class);
            EndedBy by = (id == made.idOfA) == byA ? EndedBy.THIS_SIDE : EndedBy.PEER;
            Expect.equal("which end ended it, told to " + (id == made.idOfA ? "a" : "b"), by, ended.by());
            Expect.equal("state", ConnectionId.State.DISCONNECTED, id.state());
            Expect.equal("queue pair", QpState.ERR, qp(id).state());
        }
        made.a.flushed(1);
        made.b.flushed(2);
        made.idOfA.disconnect(); // nothing happens when it has ended
    }

    public static void theAskingSideMayEndIt(Fixture fixture) throws InterruptedException {
        ends(fixture, true);
    }

    public static void theAskedSideMayEndIt(Fixture fixture) throws InterruptedException {
        ends(fixture, false);
    }

    public static void closingEndsItForThePeer(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        made.idOfA.close();
        made.cm.await(made.idOfB, ConnectionEvent.Disconnected.class);
        Expect.that(
                "the queue pair is closed",
                made.idOfA.queuePair().map(QueuePair::isClosed).orElse(true));
        Expect.equal("queue pair of the peer", QpState.ERR, qp(made.idOfB).state());
    }

    public static void aFailedRequestEndsTheConnection(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        qp(made.idOfA).postRead(1, new RemoteMemory(made.b.at(0), made.b.rkey() ^ 0x55, 8), made.a.memory.slice(0, 8));
        made.a.fails(1, verbena.verbs.WcStatus.REM_ACCESS_ERR);
        var ended = made.cm.await(made.idOfA, ConnectionEvent.Disconnected.class);
        Expect.equal("by", EndedBy.FAILURE, ended.by());
    }

    public static void severalConnectionsAtOneListenerAreDistinct(Fixture fixture) throws InterruptedException {
        Made first = connect(fixture, PrivateData.of((byte) 1), PrivateData.NONE);
        Made second = connect(fixture, PrivateData.of((byte) 2), PrivateData.NONE);
        qp(first.idOfB).postReceive(1, first.b.memory.slice(0, 100));
        qp(second.idOfB).postReceive(2, second.b.memory.slice(0, 100));
        qp(second.idOfA).postSend(3, second.a.memory.slice(0, 30));
        second.b.received(2, 30);
        qp(first.idOfA).postSend(4, first.a.memory.slice(0, 40));
        first.b.received(1, 40);
        first.idOfA.disconnect();
        first.cm.await(first.idOfB, ConnectionEvent.Disconnected.class);
        Expect.equal("the other's queue pair", QpState.RTS, qp(second.idOfA).state());
    }

    public static void stepsInTheWrongOrderAreRefused(Fixture fixture) {
        EventChannel channel = fixture.own(EventChannel.open(fixture.a()));
        ConnectionId id = fixture.own(channel.createId(PortSpace.TCP));
        Expect.equal("state", ConnectionId.State.IDLE, id.state());
        var parameters = ConnectionParameters.defaults();
        Expect.thrown("listen", InvalidStateException.class, () -> id.listen(1));
        Expect.thrown("resolveRoute", InvalidStateException.class, id::resolveRoute);
        Expect.thrown("connect", InvalidStateException.class, () -> id.connect(parameters));
        Expect.thrown("accept", InvalidStateException.class, () -> id.accept(parameters));
        Expect.thrown("reject", InvalidStateException.class, () -> id.reject(PrivateData.NONE));
        Expect.thrown("disconnect", InvalidStateException.class, id::disconnect);
        Expect.thrown("context", InvalidStateException.class, id::context);
        id.bind(new InetSocketAddress(DeviceAddress.of(fixture.a()), 0));
        Expect.atLeast("port", 1, id.localAddress().orElseThrow().getPort());
        Expect.thrown(
                "bind again",
                InvalidStateException.class,
                () -> id.bind(new InetSocketAddress(DeviceAddress.of(fixture.a()), 0)));
        Expect.thrown("a backlog of 0", IllegalArgumentException.class, () -> id.listen(0), "backlog");
        id.listen(1);
        Expect.equal("state", ConnectionId.State.LISTENING, id.state());
    }

    public static void withoutAQueuePairNobodyConnects(Fixture fixture) throws InterruptedException {
        ConnectionId id = fixture.cm().resolved(PortSpace.TCP);
        Expect.thrown(
                "connect",
                InvalidStateException.class,
                () -> id.connect(ConnectionParameters.defaults()),
                "queue pair");
    }

    public static void aSecondQueuePairIsRefused(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        ConnectionId id = fixture.cm().resolved(PortSpace.TCP);
        queuePair(fixture, a, id);
        Expect.thrown("another", InvalidStateException.class, () -> queuePair(fixture, a, id));
    }

    public static void receivesCanBePostedBeforeTheConnectionIsThere(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        CmFixture cm = fixture.cm();
        ConnectionId idOfA = cm.resolved(PortSpace.TCP);
        queuePair(fixture, a, idOfA).postReceive(1, a.memory.slice(0, 100));
        idOfA.connect(ConnectionParameters.defaults());
        ConnectionId idOfB = cm.request().id();
        queuePair(fixture, b, idOfB).postReceive(2, b.memory.slice(0, 100));
        idOfB.accept(ConnectionParameters.defaults());
        cm.await(idOfA, ConnectionEvent.Established.class);
        qp(idOfA).postSend(3, a.memory.slice(200, 10));
        a.ok(3);
        b.received(2, 10);
        cm.await(idOfB, ConnectionEvent.Established.class);
        qp(idOfB).postSend(4, b.memory.slice(200, 11));
        b.ok(4);
        a.received(1, 11);
    }

    public static void readsAreAgreedOn(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        Expect.that(
                "at least one READ may be outstanding",
                qp(made.idOfA).query().sending().maxReadAtomic() >= 1
                        || fixture.device().transportType() == verbena.verbs.TransportType.IWARP);
        qp(made.idOfA).postRead(1, made.b.memory.remote().slice(500, 100), made.a.memory.slice(0, 100));
        made.a.ok(1);
        Expect.bytes("what was read", made.b.bytes(500, 100), made.a.bytes(0, 100));
    }

    public static void anAddressThatNobodyHasHereIsAnAddressError(Fixture fixture) throws InterruptedException {
        EventChannel channel = fixture.own(EventChannel.open(fixture.a()));
        ConnectionId id = fixture.own(channel.createId(PortSpace.TCP));
        var from = new InetSocketAddress("203.0.113.9", 0);
        id.resolveAddress(from, new InetSocketAddress(DeviceAddress.of(fixture.a()), 4711));
        ConnectionEvent event = channel.await(fixture.timeout()).orElseThrow();
        Expect.that("AddressError: " + event, event instanceof ConnectionEvent.AddressError);
    }

    public static void anEventChannelStaysOpenForItsIdentifiers(Fixture fixture) {
        EventChannel channel = fixture.own(EventChannel.open(fixture.a()));
        ConnectionId id = fixture.own(channel.createId(PortSpace.TCP));
        Expect.thrown("close", InUseException.class, channel::close);
        id.close();
        id.close();
        channel.close();
        Expect.that("it is closed", channel.isClosed());
        Expect.thrown("an identifier of it", InvalidStateException.class, () -> channel.createId(PortSpace.TCP));
        Expect.thrown(
                "waiting at it", InvalidStateException.class, () -> channel.await(java.time.Duration.ofSeconds(1)));
    }

    public static void anIdentifierTellsElsewhereAfterItHasMoved(Fixture fixture) throws InterruptedException {
        Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        EventChannel other = fixture.own(EventChannel.open(fixture.b()));
        made.idOfB.migrate(other);
        made.idOfA.disconnect();
        ConnectionEvent event = other.await(fixture.timeout()).orElseThrow();
        Expect.that(
                "Disconnected: " + event, event instanceof ConnectionEvent.Disconnected && event.id() == made.idOfB);
        made.idOfB.close();
    }

    public static void manyConnectionsComeAndGo(Fixture fixture) throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            Made made = connect(fixture, PrivateData.NONE, PrivateData.NONE);
            made.idOfA.disconnect();
            made.cm.await(made.idOfA, ConnectionEvent.Disconnected.class);
            made.cm.await(made.idOfB, ConnectionEvent.Disconnected.class);
            made.idOfA.close();
            made.idOfB.close();
        }
    }

    // ---- the two classes that programs begin with

    public static void aConnectionIsMadeInTwoLines(Fixture fixture) throws Exception {
        var options = ConnectionOptions.defaults();
        try (var listener = ConnectionListener.bind(
                new InetSocketAddress(DeviceAddress.of(fixture.b()), 0), options.withDevice(fixture.b()))) {
            var accepted = new CompletableFuture<Connection>();
            Thread.ofVirtual().start(() -> {
                try {
                    accepted.complete(listener.accept());
                } catch (Throwable e) {
                    accepted.completeExceptionally(e);
                }
            });
            try (var a = Connection.connect(listener.localAddress(), options.withDevice(fixture.a()));
                    var b = accepted.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS)) {
                var memory = b.allocate(4096, Access.remoteAll());
                var note = a.allocate(100);
                note.segment().setString(0, "written from afar");
                a.write(note.slice(0, 18), memory.remote());
                a.read(memory.remote().slice(0, 18), note.slice(50, 18));
                Expect.equal("text", "written from afar", memory.segment().getString(0));
                Expect.equal(
                        "text that was read back",
                        "written from afar",
                        note.segment().getString(50));
            }
        }
    }

    /// Checks that memory and domain are free when any of these methods returns.
    public static void whoeverClosesAConnectionFindsItClosed(Fixture fixture) throws Exception {
        var options = ConnectionOptions.defaults();
        try (var listener = ConnectionListener.bind(
                new InetSocketAddress(DeviceAddress.of(fixture.b()), 0), options.withDevice(fixture.b()))) {
            var accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    return listener.accept();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Connection made = Connection.connect(listener.localAddress(), options.withDevice(fixture.a()));
            var memory = made.allocate(4096);
            Connection other = accepted.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS);
            var closing = new ArrayList<CompletableFuture<Void>>();
            for (Connection each : List.of(made, other, made, other, made)) {
                closing.add(CompletableFuture.runAsync(
                        () -> {
                            each.close();
                            Expect.that(
                                    "the queue pair is closed", each.queuePair().isClosed());
                            Expect.that(
                                    "the domain is closed",
                                    each.queuePair().protectionDomain().isClosed());
                        },
                        work -> Thread.ofPlatform().daemon().start(work)));
            }
            for (var each : closing) {
                each.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS);
            }
            Expect.that("the region is closed", memory.isClosed());
        }
    }

    public static void whereNobodyListensConnectingThrows(Fixture fixture) {
        CmFixture cm = fixture.cm();
        InetSocketAddress at = cm.address();
        cm.listener.close();
        var refused = Expect.thrown(
                "connect",
                ConnectionException.class,
                () -> fixture.own(
                        Connection.connect(at, ConnectionOptions.defaults().withDevice(fixture.a()))));
        Expect.oneOf(
                "reason",
                java.util.List.of(ConnectionException.Reason.REFUSED, ConnectionException.Reason.UNREACHABLE),
                refused.reason());
    }

    // ---- datagrams

    @Needs(Capability.UD)
    public static void aDatagramServiceTellsItsQueuePair(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        CmFixture cm = new CmFixture(fixture, PortSpace.UDP);
        ConnectionId idOfA = cm.resolved(PortSpace.UDP);
        var options = fixture.wire(QpType.UD);
        QueuePair qpOfA = idOfA.createQueuePair(a.domain, options.options(a));
        idOfA.connect(ConnectionParameters.defaults().withPrivateData(PrivateData.ofText("hello")));
        ConnectionEvent.ConnectRequest request = cm.request();
        QueuePair qpOfB = request.id().createQueuePair(b.domain, options.options(b));
        qpOfB.postReceive(1, b.memory.slice(0, 200));
        request.id().accept(ConnectionParameters.defaults());
        var told = cm.await(idOfA, ConnectionEvent.DatagramEstablished.class);
        Expect.equal("queue pair", qpOfB.qpn(), told.peer().qpn());
        var handle = fixture.own(a.domain.createAddressHandle(told.path()));
        try (var batch = qpOfA.sendBatch()) {
            batch.send(2)
                    .sge(a.memory, 0, 50)
                    .to(handle, told.peer().qpn(), told.peer().qkey())
                    .signaled()
                    .submit();
        }
        a.ok(2);
        b.received(1, Datagrams.GRH + 50);
    }

    @Needs(Capability.ENDPOINTS)
    public static void bothWaysOfConnectingAreAlike(Fixture fixture) throws InterruptedException {
        Pair byEndpoints = fixture.rc();
        Made byManager = connect(fixture, PrivateData.NONE, PrivateData.NONE);
        var one = byEndpoints.a().qp().query();
        var other = qp(byManager.idOfA).query();
        Expect.equal("state", one.state(), other.state());
        Expect.equal("port", one.port(), other.port());
        Expect.equal("ACK timeout", one.sending().ackTimeout(), other.sending().ackTimeout());
        Expect.equal("retries", one.sending().retryCount(), other.sending().retryCount());
    }
}
