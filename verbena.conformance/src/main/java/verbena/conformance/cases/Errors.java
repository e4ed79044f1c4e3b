package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.Completion;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;

/// Requests of a reliable connection that fail: the status at either end, what becomes of what is behind them, and
/// that memory is as it was (IBTA 9.9, 10.10.3).
@Needs(Capability.RC)
public final class Errors {
    private Errors() {}

    // ---- the peer's memory

    private static void isRefused(
            Fixture fixture, String what, long addressFromStart, int rkeyChange, int length, boolean read)
            throws InterruptedException {
        Pair pair = fixture.rc();
        fixture.tell(what);
        byte[] before = pair.b().bytes(0, TestEnd.MEMORY_BYTES);
        byte[] own = pair.a().bytes(0, TestEnd.MEMORY_BYTES);
        long address = pair.b().at(0) + addressFromStart;
        int rkey = pair.b().rkey() ^ rkeyChange;
        if (read) {
            pair.a()
                    .qp()
                    .postRead(
                            1,
                            new RemoteMemory(address, rkey, length),
                            pair.a().memory.slice(0, length));
            pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
        } else {
            pair.a().qp().postWrite(1, pair.a().memory.slice(0, length), new RemoteMemory(address, rkey, length));
            pair.a().refused(1, WcStatus.REM_ACCESS_ERR);
        }
        pair.a().isBroken();
        Expect.bytes(what + ": memory of b", before, pair.b().bytes(0, TestEnd.MEMORY_BYTES));
        Expect.bytes(what + ": memory of a", own, pair.a().bytes(0, TestEnd.MEMORY_BYTES));
        pair.close();
    }

    public static void aReadByAKeyThatNobodyGaveIsRefused(Fixture fixture) throws InterruptedException {
        isRefused(fixture, "another low byte", 0, 0x5A, 8, true);
        isRefused(fixture, "another high byte", 0, 0x5A00_0000, 8, true);
    }

    public static void aWriteByAKeyThatNobodyGaveIsRefused(Fixture fixture) throws InterruptedException {
        isRefused(fixture, "another low byte", 0, 0x5A, 8, false);
        isRefused(fixture, "another high byte", 0, 0x5A00_0000, 8, false);
    }

    public static void aReadOutsideTheRegionIsRefused(Fixture fixture) throws InterruptedException {
        isRefused(fixture, "before it", -1, 0, 8, true);
        isRefused(fixture, "over its end", TestEnd.MEMORY_BYTES - 7, 0, 8, true);
        isRefused(fixture, "behind it", TestEnd.MEMORY_BYTES, 0, 1, true);
        isRefused(fixture, "far away", Long.MIN_VALUE, 0, 8, true);
    }

    public static void aWriteOutsideTheRegionIsRefused(Fixture fixture) throws InterruptedException {
        isRefused(fixture, "before it", -1, 0, 8, false);
        isRefused(fixture, "over its end", TestEnd.MEMORY_BYTES - 7, 0, 8, false);
        isRefused(fixture, "behind it", TestEnd.MEMORY_BYTES, 0, 1, false);
    }

    // ---- rights: of the region, and of the queue pair

    private enum Request {
        READ(Access.REMOTE_READ),
        WRITE(Access.REMOTE_WRITE),
        FETCH_ADD(Access.REMOTE_ATOMIC),
        COMPARE_SWAP(Access.REMOTE_ATOMIC);

        private final Access right;

        Request(Access right) {
            this.right = right;
        }

        void post(Pair pair, long address, int rkey) {
            var memory = pair.a().memory;
            switch (this) {
                case READ -> pair.a().qp().postRead(1, new RemoteMemory(address, rkey, 8), memory.slice(0, 8));
                case WRITE -> pair.a().qp().postWrite(1, memory.slice(0, 8), new RemoteMemory(address, rkey, 8));
                case FETCH_ADD ->
                    pair.a().qp().postFetchAdd(1, new RemoteMemory(address, rkey, Long.BYTES), 1, memory.slice(0, 8));
                case COMPARE_SWAP ->
                    pair.a()
                            .qp()
                            .postCompareSwap(1, new RemoteMemory(address, rkey, Long.BYTES), 1, 2, memory.slice(0, 8));
            }
        }
    }

    private static Set<Access> rights(int bits) {
        var rights = EnumSet.of(Access.LOCAL_WRITE);
        int bit = 1;
        for (Access each : new Access[] {Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC}) {
            if ((bits & bit) != 0) {
                rights.add(each);
            }
            bit <<= 1;
        }
        return rights;
    }

    /// Posts one request and checks how it ends, with all rights at one place and some at the other.
    private static void goes(Fixture fixture, Request request, Set<Access> ofRegion, Set<Access> ofQueuePair)
            throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).access(ofQueuePair).connect();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(64, ofRegion));
        fixture.tell(request + ", region " + ofRegion + ", queue pair " + ofQueuePair);
        request.post(pair, region.address(), region.rkey());
        boolean allowed = ofRegion.contains(request.right) && ofQueuePair.contains(request.right);
        // IBTA 9.7.4.1: what the queue pair does not enable is an invalid request. iWARP has one code for both.
        WcStatus refusal = ofQueuePair.contains(request.right) || !fixture.isAcknowledged()
                ? WcStatus.REM_ACCESS_ERR
                : WcStatus.REM_INV_REQ_ERR;
        if (allowed) {
            pair.a().ok(1);
        } else if (request == Request.WRITE) {
            pair.a().refused(1, refusal);
        } else {
            pair.a().fails(1, refusal);
        }
        pair.close();
    }

    private static void regionDecides(Fixture fixture, Request request) throws InterruptedException {
        for (int bits = 0; bits < 8; bits++) {
            goes(fixture, request, rights(bits), Access.remoteAll());
        }
    }

    private static void queuePairDecides(Fixture fixture, Request request) throws InterruptedException {
        for (int bits = 0; bits < 8; bits++) {
            goes(fixture, request, Access.remoteAll(), rights(bits));
        }
    }

    @Needs(Capability.RDMA_READ)
    public static void aReadNeedsTheRegionsRight(Fixture fixture) throws InterruptedException {
        regionDecides(fixture, Request.READ);
    }

    @Needs(Capability.RDMA_READ)
    public static void aReadNeedsTheQueuePairsRight(Fixture fixture) throws InterruptedException {
        queuePairDecides(fixture, Request.READ);
    }

    public static void aWriteNeedsTheRegionsRight(Fixture fixture) throws InterruptedException {
        regionDecides(fixture, Request.WRITE);
    }

    public static void aWriteNeedsTheQueuePairsRight(Fixture fixture) throws InterruptedException {
        queuePairDecides(fixture, Request.WRITE);
    }

    @Needs(Capability.ATOMICS)
    public static void anAtomicNeedsTheRegionsRight(Fixture fixture) throws InterruptedException {
        regionDecides(fixture, Request.FETCH_ADD);
        regionDecides(fixture, Request.COMPARE_SWAP);
    }

    @Needs(Capability.ATOMICS)
    public static void anAtomicNeedsTheQueuePairsRight(Fixture fixture) throws InterruptedException {
        queuePairDecides(fixture, Request.FETCH_ADD);
        queuePairDecides(fixture, Request.COMPARE_SWAP);
    }

    // ---- one's own memory

    public static void aSendByALocalKeyThatNobodyGaveFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(9, 0, 100);
        pair.a()
                .post(
                        "SEND by a wrong key",
                        batch -> batch.send(1)
                                .sge(pair.a().memory.lkey() ^ 0x5A5A, pair.a().at(0), 8)
                                .signaled());
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
        pair.a().isBroken();
    }

    public static void aSendFromOutsideItsRegionFails(Fixture fixture) throws InterruptedException {
        for (long at : new long[] {-1, TestEnd.MEMORY_BYTES - 7}) {
            Pair pair = fixture.rc();
            pair.b().receive(9, 0, 100);
            pair.a()
                    .post(
                            "SEND from " + at,
                            batch -> batch.send(1)
                                    .sge(pair.a().memory.lkey(), pair.a().at(at), 8)
                                    .signaled());
            pair.a().fails(1, WcStatus.LOC_PROT_ERR);
        }
    }

    @Needs(Capability.RDMA_READ)
    public static void aReadIntoMemoryThatMayNotBeWrittenFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion fixed = fixture.own(pair.a().domain.allocate(64, EnumSet.of(Access.REMOTE_READ)));
        pair.a().qp().postRead(1, pair.b().memory.remote().slice(0, 8), fixed.slice(0, 8));
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
        Expect.bytes("its memory", new byte[8], TestEnd.bytes(fixed, 0, 8));
    }

    public static void aReceiveIntoMemoryThatMayNotBeWrittenFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion fixed = fixture.own(pair.b().domain.allocate(64, EnumSet.of(Access.REMOTE_READ)));
        pair.b().qp().postReceive(9, fixed.slice(0, 64));
        pair.a().send(1, 0, 8);
        pair.b().fails(9, WcStatus.LOC_PROT_ERR);
        pair.a().refused(1, WcStatus.REM_OP_ERR);
        Expect.bytes("its memory", new byte[8], TestEnd.bytes(fixed, 0, 8));
        pair.b().isBroken();
    }

    // ---- receives

    public static void aMessageLongerThanItsReceiveFailsAtBothEnds(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(9, 0, 99);
        pair.a().send(1, 0, 100);
        pair.b().fails(9, WcStatus.LOC_LEN_ERR);
        pair.a().refused(1, WcStatus.REM_INV_REQ_ERR);
        pair.b().isBroken();
    }

    public static void aLongMessageOverflowsItsReceiveInItsLastPacket(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(9, 0, 9999);
        pair.a().send(1, 0, 10_000);
        pair.b().fails(9, WcStatus.LOC_LEN_ERR);
        pair.a().refused(1, WcStatus.REM_INV_REQ_ERR);
    }

    @Needs(Capability.SEND_WITH_INVALIDATE)
    public static void withdrawingAKeyThatNobodyGaveFailsTheReceive(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(9, 0, 100);
        pair.a()
                .post(
                        "SEND with invalidate",
                        batch -> batch.sendWithInvalidate(1, pair.b().rkey() ^ 0x5A5A5A)
                                .sge(pair.a().memory, 0, 8)
                                .signaled());
        // IBTA 9.9.3.1, fault class J: what the sender learns is not said.
        pair.b().fails(9, WcStatus.REM_INV_REQ_ERR);
        pair.b().isBroken();
    }

    @Needs(Capability.LOCAL_INVALIDATE)
    public static void withdrawingAnOwnKeyThatIsNoneFails(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .post(
                        "local invalidate",
                        batch -> batch.localInvalidate(1, pair.a().rkey() ^ 0x5A5A5A)
                                .signaled());
        pair.a().fails(1, WcStatus.MW_BIND_ERR);
    }

    // ---- what is around a failure

    @Needs(Capability.RDMA_READ)
    public static void whatIsBeforeAFailureIsDoneAndWhatIsBehindIsFlushed(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().receive(100, 0, 8);
        pair.a().receive(101, 0, 8);
        byte[] before = pair.b().bytes(64, 8);
        pair.a().post("WRITE, a READ that is refused, READ, WRITE, SEND", batch -> {
            batch.write(1, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 0, 8)
                    .signaled();
            batch.read(2, pair.b().at(0), pair.b().rkey() ^ 0x55)
                    .sge(pair.a().memory, 64, 8)
                    .signaled();
            batch.read(3, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 64, 8)
                    .signaled();
            batch.read(4, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 64, 8); // unsignalled
            batch.read(5, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 64, 8)
                    .signaled();
        });
        var sends = new ArrayList<Completion>();
        var flushed = new java.util.HashSet<Long>();
        for (int i = 0; i < 7; i++) { // sends in their order, and receives anywhere between
            var completion = pair.a().take();
            if (completion.wrId() <= 5 && sends.size() < 2) {
                sends.add(completion);
                continue;
            }
            Expect.that(
                    "flushed: " + completion,
                    completion instanceof Completion.Failure failure && failure.status() == WcStatus.WR_FLUSH_ERR);
            flushed.add(completion.wrId());
        }
        Expect.that(
                "success of wr 1: " + sends, sends.getFirst() instanceof Completion.Success done && done.wrId() == 1);
        Expect.that(
                "failure of wr 2: " + sends,
                sends.getLast() instanceof Completion.Failure failure
                        && failure.wrId() == 2
                        && failure.status() == WcStatus.REM_ACCESS_ERR);
        Expect.equal("flushed", Set.of(3L, 4L, 5L, 100L, 101L), flushed);
        Expect.bytes("what was written before", pair.a().bytes(0, 8), pair.b().bytes(0, 8));
        Expect.bytes("memory of b", before, pair.b().bytes(64, 8));
        pair.a().silent();
    }

    public static void anUnsignalledRequestThatFailsIsToldAllTheSame(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .post(
                        "an unsignalled READ that is refused",
                        batch -> batch.read(1, pair.b().at(0), pair.b().rkey() ^ 0x55)
                                .sge(pair.a().memory, 64, 8));
        pair.a().fails(1, WcStatus.REM_ACCESS_ERR);
    }

    public static void theRefusingQueuePairIsInErrorTooAndItsReceivesAreFlushed(Fixture fixture)
            throws InterruptedException {
        Pair pair = fixture.rc();
        pair.b().receive(1, 0, 8);
        pair.b().receive(2, 0, 8);
        pair.a()
                .qp()
                .postRead(
                        9,
                        new RemoteMemory(pair.b().at(0), pair.b().rkey() ^ 0x55, 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(9, WcStatus.REM_ACCESS_ERR);
        pair.b().flushed(1, 2);
        pair.b().isBroken();
    }

    @Needs(Capability.ENDPOINTS)
    public static void theRefusingSideHearsOfAnAccessErrorByAnEvent(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .qp()
                .postRead(
                        9,
                        new RemoteMemory(pair.b().at(0), pair.b().rkey() ^ 0x55, 8),
                        pair.a().memory.slice(0, 8));
        pair.a().fails(9, WcStatus.REM_ACCESS_ERR);
        var event = fixture.event(pair.b().context, EnumSet.of(AsyncEvent.Type.QP_ACCESS_ERR));
        Expect.that(
                "its queue pair",
                event instanceof AsyncEvent.QueuePairEvent(var type, var qp)
                        && qp == pair.b().qp());
    }

    @Needs(Capability.ENDPOINTS)
    public static void theRefusingSideHearsOfAnInvalidRequestByAnEvent(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).access(Access.local()).connect();
        pair.a().read(9, 0, 8, pair.b(), 0);
        pair.a().fails(9, WcStatus.REM_INV_REQ_ERR);
        fixture.event(pair.b().context, EnumSet.of(AsyncEvent.Type.QP_REQ_ERR));
    }

    public static void aFailureSaysWhyInWords(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a()
                .qp()
                .postRead(
                        9,
                        new RemoteMemory(pair.b().at(0), pair.b().rkey() ^ 0x55, 8),
                        pair.a().memory.slice(0, 8));
        var failure = pair.a().fails(9, WcStatus.REM_ACCESS_ERR);
        Expect.that(
                "the explanation has the status and its meaning",
                failure.explanation().contains("REM_ACCESS_ERR")
                        && failure.explanation().contains(WcStatus.REM_ACCESS_ERR.meaning()));
    }

    public static void aFailureOfOneConnectionLeavesOthersAlone(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair second = fixture.wire(QpType.RC).between(first.a(), first.b());
        first.a()
                .qp()
                .postRead(
                        9,
                        new RemoteMemory(first.b().at(0), first.b().rkey() ^ 0x55, 8),
                        first.a().memory.slice(0, 8));
        first.a().fails(9, WcStatus.REM_ACCESS_ERR);
        second.a().read(1, 0, 100, second.b(), 0);
        second.a().ok(1);
        Expect.equal("state of the other", QpState.RTS, second.a().qp().state());
    }
}
