package verbena.conformance.cases;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Rig;
import verbena.conformance.rig.Side;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.EventChannel;

/// What a device declares it has; what it does not declare it refuses, by name and when it is asked for.
public final class Capabilities {
    private Capabilities() {}

    /// Does what the capability is about, or hears that there is none.
    private static void hadOrRefused(Rig rig, Capability capability, Expect.Action use) throws Exception {
        if (rig.has(capability)) {
            use.run();
            return;
        }
        var refused = Expect.thrown(capability + ", which is not declared", UnsupportedException.class, use);
        Expect.equal("capability that the exception names", capability, refused.capability());
    }

    private static void queuePair(Rig rig, Capability capability, QpType type) throws Exception {
        Side side = rig.side();
        hadOrRefused(
                rig,
                capability,
                () -> rig.own(side.domain.createQueuePair(QueuePairOptions.of(type, side.cq)
                        .withSizes(rig.wire(type).sizes()))));
    }

    /// Posts one request that may succeed, and waits for it where it was taken.
    private static void request(Rig rig, Capability capability, java.util.function.Consumer<SendBatch> request, Side a)
            throws Exception {
        hadOrRefused(rig, capability, () -> {
            a.post(capability.name(), request);
            a.ok(1);
        });
    }

    public static void reliableConnections(Rig rig) throws Exception {
        queuePair(rig, Capability.RC, QpType.RC);
    }

    public static void unreliableConnections(Rig rig) throws Exception {
        queuePair(rig, Capability.UC, QpType.UC);
    }

    public static void datagrams(Rig rig) throws Exception {
        queuePair(rig, Capability.UD, QpType.UD);
    }

    public static void sharedReceiveQueues(Rig rig) throws Exception {
        Side side = rig.side();
        hadOrRefused(rig, Capability.SRQ, () -> rig.own(side.domain.createSharedReceiveQueue(4, 1)));
    }

    public static void extendedConnections(Rig rig) throws Exception {
        hadOrRefused(rig, Capability.XRC, () -> rig.own(rig.a().openXrcDomain()));
        if (!rig.has(Capability.XRC)) {
            queuePair(rig, Capability.XRC, QpType.XRC_INITIATOR);
        }
    }

    public static void rdmaRead(Rig rig) throws Exception {
        var pair = rig.rc();
        Side b = pair.b();
        request(
                rig,
                Capability.RDMA_READ,
                batch -> batch.read(1, b.at(0), b.rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void rdmaWrite(Rig rig) throws Exception {
        var pair = rig.rc();
        Side b = pair.b();
        request(
                rig,
                Capability.RDMA_WRITE,
                batch -> batch.write(1, b.at(0), b.rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void atomics(Rig rig) throws Exception {
        var pair = rig.rc();
        Side b = pair.b();
        request(
                rig,
                Capability.ATOMICS,
                batch -> batch.fetchAdd(1, b.at(0), b.rkey(), 1)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
        hadOrRefused(rig, Capability.ATOMICS, () -> {
            pair.a()
                    .post(
                            "CMP_SWAP",
                            batch -> batch.compareSwap(1, b.at(0), b.rkey(), 1, 2)
                                    .sge(pair.a().memory, 0, 8)
                                    .signaled());
            pair.a().ok(1);
        });
    }

    public static void writeWithImmediate(Rig rig) throws Exception {
        var pair = rig.rc();
        Side b = pair.b();
        b.receive(9, 0, 8);
        request(
                rig,
                Capability.IMMEDIATE_DATA,
                batch -> batch.writeWithImmediate(1, b.at(0), b.rkey(), 7)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void sendWithImmediate(Rig rig) throws Exception {
        var pair = rig.rc();
        pair.b().receive(9, 0, 8);
        request(
                rig,
                Capability.SEND_WITH_IMMEDIATE,
                batch ->
                        batch.sendWithImmediate(1, 7).sge(pair.a().memory, 0, 8).signaled(),
                pair.a());
    }

    public static void sendWithInvalidate(Rig rig) throws Exception {
        var pair = rig.rc();
        pair.b().receive(9, 0, 8);
        int key = rig.has(Capability.SEND_WITH_INVALIDATE) && rig.has(Capability.MEMORY_WINDOW_TYPE_2)
                ? Windows.bound(pair.b(), 2).rkey()
                : pair.b().rkey();
        request(
                rig,
                Capability.SEND_WITH_INVALIDATE,
                batch -> batch.sendWithInvalidate(1, key)
                        .sge(pair.a().memory, 0, 8)
                        .signaled(),
                pair.a());
    }

    public static void localInvalidate(Rig rig) throws Exception {
        var pair = rig.rc();
        int key = rig.has(Capability.LOCAL_INVALIDATE) && rig.has(Capability.MEMORY_WINDOW_TYPE_2)
                ? Windows.bound(pair.a(), 2).rkey()
                : pair.a().rkey();
        request(
                rig,
                Capability.LOCAL_INVALIDATE,
                batch -> batch.localInvalidate(1, key).signaled(),
                pair.a());
    }

    public static void windowsOfTypeOne(Rig rig) throws Exception {
        hadOrRefused(
                rig,
                Capability.MEMORY_WINDOW_TYPE_1,
                () -> rig.own(rig.side().domain.allocateWindow(1)));
    }

    public static void windowsOfTypeTwo(Rig rig) throws Exception {
        hadOrRefused(
                rig,
                Capability.MEMORY_WINDOW_TYPE_2,
                () -> rig.own(rig.side().domain.allocateWindow(2)));
    }

    public static void flush(Rig rig) throws Exception {
        extension(rig, Capability.FLUSH);
    }

    public static void atomicWrite(Rig rig) throws Exception {
        extension(rig, Capability.ATOMIC_WRITE);
    }

    private static void extension(Rig rig, Capability extension) throws Exception {
        Side side = rig.side();
        hadOrRefused(
                rig,
                extension,
                () -> rig.own(side.domain.createQueuePair(QueuePairOptions.rc(side.cq)
                        .withSizes(rig.wire(QpType.RC).sizes())
                        .withExtensions(Set.of(extension)))));
    }

    public static void multicast(Rig rig) throws Exception {
        Side side = rig.side();
        QpType type = rig.has(Capability.UD) ? QpType.UD : QpType.RC;
        var qp = rig.own(side.domain.createQueuePair(
                QueuePairOptions.of(type, side.cq).withSizes(rig.wire(type).sizes())));
        hadOrRefused(rig, Capability.MULTICAST, () -> qp.attachMulticast(Gid.parse("239.77.3.1")));
    }

    public static void resizingACompletionQueue(Rig rig) throws Exception {
        var cq = rig.own(rig.a().createCompletionQueue(16));
        hadOrRefused(rig, Capability.RESIZE_CQ, () -> cq.resize(32));
    }

    public static void timeStampsOfCompletions(Rig rig) throws Exception {
        hadOrRefused(rig, Capability.COMPLETION_TIMESTAMPS, () -> {
            var cq = rig.own(rig.a().createTimestampedCompletionQueue(16, Optional.empty()));
            long mask = rig.attributes().timestampMask();
            long half = mask >>> 1; // of the way round
            Expect.that("a mask of its clock", mask != 0);
            if (!rig.has(Capability.ENDPOINTS)) {
                return; // the connection manager makes queue pairs here, with another queue
            }
            Side a = rig.side(rig.a());
            Side b = rig.side(rig.b());
            var wiring = rig.wire(QpType.RC);
            a.use(a.domain.createQueuePair(QueuePairOptions.rc(cq).withSizes(wiring.sizes())));
            b.use(b.domain.createQueuePair(wiring.options(b)));
            wiring.byEndpoints(a.qp(), b.qp());
            var wc = new WorkCompletion();
            long before = 0;
            for (int i = 0; i < 3; i++) {
                a.write(i, 0, 8, b, 0);
                Expect.that("a completion", cq.await(wc, rig.patience()));
                Expect.that("success", wc.ok());
                Expect.that("a time stamp", wc.timestamp() != 0);
                Expect.that(
                        "not before the last",
                        i == 0 || Long.compareUnsigned(wc.timestamp() - before & mask, half) <= 0);
                before = wc.timestamp();
            }
        });
    }

    public static void registeringAnew(Rig rig) throws Exception {
        Side side = rig.side();
        hadOrRefused(rig, Capability.REREGISTER, () -> side.memory.reregister(side.domain, Access.local()));
    }

    public static void addressesFromZero(Rig rig) throws Exception {
        registers(
                rig,
                Capability.ZERO_BASED,
                (side, segment) -> side.domain.register(
                        segment, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.ZERO_BASED)));
    }

    public static void addressesOfChoice(Rig rig) throws Exception {
        registers(
                rig,
                Capability.IOVA,
                (side, segment) ->
                        side.domain.register(segment, 0x1000_0000L + segment.address() % 4096, Access.remoteAll()));
    }

    public static void pagingOnDemand(Rig rig) throws Exception {
        registers(
                rig,
                Capability.ON_DEMAND_PAGING,
                (side, segment) -> side.domain.register(segment, Set.of(Access.LOCAL_WRITE, Access.ON_DEMAND)));
    }

    /// Not every host has a dma-buf; a device that registers them says that this is none.
    public static void memoryOfAnotherDevice(Rig rig) throws Exception {
        Side side = rig.side();
        Expect.Action use = () -> side.domain.registerDmaBuf(Integer.MAX_VALUE, 0, 4096, 0, Access.local());
        if (rig.has(Capability.DMA_BUF)) {
            Expect.thrown("a descriptor that is none", IllegalArgumentException.class, use);
        } else {
            hadOrRefused(rig, Capability.DMA_BUF, use);
        }
    }

    private static void registers(
            Rig rig, Capability capability, java.util.function.BiFunction<Side, MemorySegment, MemoryRegion> how)
            throws Exception {
        Side side = rig.side();
        Arena arena = rig.own(Arena.ofShared());
        MemorySegment segment = arena.allocate(4096, 4096);
        hadOrRefused(rig, capability, () -> rig.own(how.apply(side, segment)));
    }

    public static void draining(Rig rig) throws Exception {
        var pair = rig.rc();
        hadOrRefused(rig, Capability.SQ_DRAIN, () -> pair.a().qp().modify(new Transition.ToSqd(false)));
    }

    public static void connectingByEndpoints(Rig rig) throws Exception {
        Side a = rig.side(rig.a());
        Side b = rig.side(rig.b());
        var wiring = rig.wire(QpType.RC);
        var first = rig.own(a.domain.createQueuePair(wiring.options(a)));
        var second = rig.own(b.domain.createQueuePair(wiring.options(b)));
        hadOrRefused(rig, Capability.ENDPOINTS, () -> wiring.byEndpoints(first, second));
        if (rig.has(Capability.ENDPOINTS)) {
            Expect.equal("state", QpState.RTS, first.state());
            return;
        }
        first.modify(new Transition.ToInit(Access.remoteAll()));
        Expect.thrown(
                "to RTR by hand",
                verbena.verbs.VerbsException.class,
                () -> first.modify(new QpModification().state(QpState.RTR)));
    }

    public static void connectingByAddressAndPort(Rig rig) throws Exception {
        hadOrRefused(rig, Capability.CONNECTION_MANAGER, () -> rig.own(EventChannel.open(rig.a())));
    }
}
