package verbena.conformance.cases;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.EventChannel;

/// Declared capabilities: a device has them, and refuses all others by name when they are asked for.
public final class Capabilities {
    private Capabilities() {}

    /// Does what the capability is about, or hears that there is none.
    private static void hadOrRefused(Fixture fixture, Capability capability, Expect.Action use) throws Exception {
        if (fixture.has(capability)) {
            use.run();
            return;
        }
        var refused = Expect.thrown(capability + ", which is not declared", UnsupportedException.class, use);
        Expect.equal("capability that the exception names", capability, refused.capability());
    }

    private static void queuePair(Fixture fixture, Capability capability, QpType type) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(
                fixture,
                capability,
                () -> fixture.own(end.domain.createQueuePair(QueuePairOptions.of(type, end.cq)
                        .withSizes(fixture.wire(type).sizes()))));
    }

    /// Posts one request that may succeed, and waits for it where it was taken.
    private static void request(
            Fixture fixture, Capability capability, java.util.function.Consumer<SendBatch> request, TestEnd a)
            throws Exception {
        hadOrRefused(fixture, capability, () -> {
            a.post(capability.name(), request);
            a.ok(1);
        });
    }

    public static void reliableConnections(Fixture fixture) throws Exception {
        queuePair(fixture, Capability.RC, QpType.RC);
    }

    public static void unreliableConnections(Fixture fixture) throws Exception {
        queuePair(fixture, Capability.UC, QpType.UC);
    }

    public static void datagrams(Fixture fixture) throws Exception {
        queuePair(fixture, Capability.UD, QpType.UD);
    }

    public static void sharedReceiveQueues(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(fixture, Capability.SRQ, () -> fixture.own(end.domain.createSharedReceiveQueue(4, 1)));
    }

    public static void extendedConnections(Fixture fixture) throws Exception {
        hadOrRefused(fixture, Capability.XRC, () -> fixture.own(fixture.a().openXrcDomain()));
        if (!fixture.has(Capability.XRC)) {
            queuePair(fixture, Capability.XRC, QpType.XRC_INITIATOR);
        }
    }

    public static void rdmaRead(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        TestEnd b = pair.b();
        request(
                fixture,
                Capability.RDMA_READ,
                batch -> batch.read(1, b.at(0), b.rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void rdmaWrite(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        TestEnd b = pair.b();
        request(
                fixture,
                Capability.RDMA_WRITE,
                batch -> batch.write(1, b.at(0), b.rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void atomics(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        TestEnd b = pair.b();
        request(
                fixture,
                Capability.ATOMICS,
                batch -> batch.fetchAdd(1, b.at(0), b.rkey(), 1)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
        hadOrRefused(fixture, Capability.ATOMICS, () -> {
            pair.a()
                    .post(
                            "CMP_SWAP",
                            batch -> batch.compareSwap(1, b.at(0), b.rkey(), 1, 2)
                                    .sge(pair.a().memory, 0, 8)
                                    .signaled());
            pair.a().ok(1);
        });
    }

    public static void writeWithImmediate(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        TestEnd b = pair.b();
        b.receive(9, 0, 8);
        request(
                fixture,
                Capability.IMMEDIATE_DATA,
                batch -> batch.writeWithImmediate(1, b.at(0), b.rkey(), 7)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void sendWithImmediate(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        pair.b().receive(9, 0, 8);
        request(
                fixture,
                Capability.SEND_WITH_IMMEDIATE,
                batch ->
                        batch.sendWithImmediate(1, 7).sge(pair.a().memory, 0, 8).signaled(),
                pair.a());
    }

    public static void sendWithInvalidate(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        pair.b().receive(9, 0, 8);
        int key = fixture.has(Capability.SEND_WITH_INVALIDATE) && fixture.has(Capability.MEMORY_WINDOW_TYPE_2)
                ? Windows.bound(pair.b(), 2).rkey()
                : pair.b().rkey();
        request(
                fixture,
                Capability.SEND_WITH_INVALIDATE,
                batch -> batch.sendWithInvalidate(1, key)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void localInvalidate(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        int key = fixture.has(Capability.LOCAL_INVALIDATE) && fixture.has(Capability.MEMORY_WINDOW_TYPE_2)
                ? Windows.bound(pair.a(), 2).rkey()
                : pair.a().rkey();
        request(
                fixture,
                Capability.LOCAL_INVALIDATE,
                batch -> batch.localInvalidate(1, key).signaled(),
                pair.a());
    }

    public static void windowsOfTypeOne(Fixture fixture) throws Exception {
        hadOrRefused(
                fixture,
                Capability.MEMORY_WINDOW_TYPE_1,
                () -> fixture.own(fixture.end().domain.allocateWindow(MemoryWindow.Type.TYPE_1)));
    }

    public static void windowsOfTypeTwo(Fixture fixture) throws Exception {
        hadOrRefused(
                fixture,
                Capability.MEMORY_WINDOW_TYPE_2,
                () -> fixture.own(fixture.end().domain.allocateWindow(MemoryWindow.Type.TYPE_2)));
    }

    public static void flush(Fixture fixture) throws Exception {
        extension(fixture, Capability.FLUSH);
    }

    public static void atomicWrite(Fixture fixture) throws Exception {
        extension(fixture, Capability.ATOMIC_WRITE);
    }

    private static void extension(Fixture fixture, Capability extension) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(
                fixture,
                extension,
                () -> fixture.own(end.domain.createQueuePair(QueuePairOptions.rc(end.cq)
                        .withSizes(fixture.wire(QpType.RC).sizes())
                        .withExtensions(Set.of(extension)))));
    }

    public static void multicast(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        QpType type = fixture.has(Capability.UD) ? QpType.UD : QpType.RC;
        var qp = fixture.own(end.domain.createQueuePair(
                QueuePairOptions.of(type, end.cq).withSizes(fixture.wire(type).sizes())));
        boolean isIpv4 = fixture.a().gid(1, TestEnd.gidIndex(fixture.a())).gid().isIpv4();
        Gid group = Gid.parse(isIpv4 ? "239.77.3.1" : "ff0e::77:3:1");
        hadOrRefused(fixture, Capability.MULTICAST, () -> qp.attachMulticast(group));
    }

    public static void resizingACompletionQueue(Fixture fixture) throws Exception {
        var cq = fixture.own(fixture.a().createCompletionQueue(16));
        hadOrRefused(fixture, Capability.RESIZE_CQ, () -> cq.resize(32));
    }

    public static void timeStampsOfCompletions(Fixture fixture) throws Exception {
        hadOrRefused(fixture, Capability.COMPLETION_TIMESTAMPS, () -> {
            var cq = fixture.own(fixture.a()
                    .createCompletionQueue(CompletionQueueOptions.of(16).withTimestamps()));
            long mask = fixture.attributes().clock().timestampMask();
            long half = mask >>> 1; // of the way round
            Expect.that("a mask of its clock", mask != 0);
            if (!fixture.has(Capability.ENDPOINTS)) {
                return; // the connection manager makes queue pairs here, with another queue
            }
            TestEnd a = fixture.end(fixture.a());
            TestEnd b = fixture.end(fixture.b());
            var wiring = fixture.wire(QpType.RC);
            a.use(a.domain.createQueuePair(QueuePairOptions.rc(cq).withSizes(wiring.sizes())));
            b.use(b.domain.createQueuePair(wiring.options(b)));
            wiring.byEndpoints(a.qp(), b.qp());
            var wc = new WorkCompletion();
            long before = 0;
            for (int i = 0; i < 3; i++) {
                a.write(i, 0, 8, b, 0);
                Expect.that("a completion", cq.await(wc, fixture.timeout()));
                Expect.that("success", wc.ok());
                Expect.that("a time stamp", wc.timestamp() != 0);
                Expect.that(
                        "not before the last",
                        i == 0 || Long.compareUnsigned(wc.timestamp() - before & mask, half) <= 0);
                before = wc.timestamp();
            }
        });
    }

    public static void registeringAnew(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(fixture, Capability.REREGISTER, () -> end.memory.reregister(end.domain, Access.local()));
    }

    public static void addressesFromZero(Fixture fixture) throws Exception {
        registers(
                fixture,
                Capability.ZERO_BASED,
                (end, segment) -> end.domain.register(
                        segment, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.ZERO_BASED)));
    }

    public static void addressesOfChoice(Fixture fixture) throws Exception {
        registers(
                fixture,
                Capability.IOVA,
                (end, segment) ->
                        end.domain.register(segment, 0x1000_0000L + segment.address() % 4096, Access.remoteAll()));
    }

    public static void pagingOnDemand(Fixture fixture) throws Exception {
        registers(
                fixture,
                Capability.ON_DEMAND_PAGING,
                (end, segment) -> end.domain.register(segment, Set.of(Access.LOCAL_WRITE, Access.ON_DEMAND)));
    }

    /// Checks a region of another device's memory. Not every host has a dma-buf; a device that registers them
    /// reports that this is none.
    public static void memoryOfAnotherDevice(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        Expect.Action use = () -> end.domain.registerDmaBuf(Integer.MAX_VALUE, 0, 4096, 0, Access.local());
        if (fixture.has(Capability.DMA_BUF)) {
            Expect.thrown("a descriptor that is none", IllegalArgumentException.class, use);
        } else {
            hadOrRefused(fixture, Capability.DMA_BUF, use);
        }
    }

    public static void rawPackets(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(
                fixture,
                Capability.RAW_PACKET,
                () -> fixture.own(end.domain.createQueuePair(QueuePairOptions.rawPacket(end.cq))));
    }

    public static void memoryOfTheDevice(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        hadOrRefused(fixture, Capability.DEVICE_MEMORY, () -> fixture.own(end.context.allocateDeviceMemory(64)));
    }

    private static void registers(
            Fixture fixture,
            Capability capability,
            java.util.function.BiFunction<TestEnd, MemorySegment, MemoryRegion> how)
            throws Exception {
        TestEnd end = fixture.end();
        Arena arena = fixture.own(Arena.ofShared());
        MemorySegment segment = arena.allocate(4096, 4096);
        hadOrRefused(fixture, capability, () -> fixture.own(how.apply(end, segment)));
    }

    public static void draining(Fixture fixture) throws Exception {
        var pair = fixture.rc();
        hadOrRefused(fixture, Capability.SQ_DRAIN, () -> pair.a().qp().modify(new Transition.ToSqd(false)));
    }

    public static void connectingByEndpoints(Fixture fixture) throws Exception {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        var wiring = fixture.wire(QpType.RC);
        var first = fixture.own(a.domain.createQueuePair(wiring.options(a)));
        var second = fixture.own(b.domain.createQueuePair(wiring.options(b)));
        hadOrRefused(fixture, Capability.ENDPOINTS, () -> wiring.byEndpoints(first, second));
        if (fixture.has(Capability.ENDPOINTS)) {
            Expect.equal("state", QpState.RTS, first.state());
            return;
        }
        first.modify(new Transition.ToInit(Access.remoteAll()));
        Expect.thrown(
                "to RTR by hand",
                verbena.verbs.VerbsException.class,
                () -> first.modify(new QpModification().withState(QpState.RTR)));
    }

    public static void connectingByAddressAndPort(Fixture fixture) throws Exception {
        hadOrRefused(fixture, Capability.CONNECTION_MANAGER, () -> fixture.own(EventChannel.open(fixture.a())));
    }
}
