package verbena.conformance.cases;

import java.util.EnumSet;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.AckTimeout;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.Completion;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.RnrTimer;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Receives that several queue pairs take from (ibv_create_srq(3)).
@Needs(Capability.SRQ)
public final class SharedQueues {
    private SharedQueues() {}

    private record Setup(SharedReceiveQueue queue, TestEnd b, Pair first, Pair second) {}

    /// Makes two connections whose queue pairs of `b` share a queue of eight receives.
    private static Setup setup(Fixture fixture) throws InterruptedException {
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        SharedReceiveQueue queue = fixture.own(b.domain.createSharedReceiveQueue(8, 2));
        var wiring = fixture.wire(QpType.RC).shared(queue);
        Pair first = wiring.between(a, b);
        return new Setup(queue, b, first, wiring.between(a, b));
    }

    private static void receive(Setup setup, long wrId, long offset, int length) {
        setup.b.fixture.tell("a shared receive wr " + wrId);
        setup.queue.postReceive(wrId, setup.b.memory.slice(offset, length));
    }

    public static void aQueueKnowsItsSizes(Fixture fixture) {
        TestEnd end = fixture.end();
        SharedReceiveQueue queue = fixture.own(end.domain.createSharedReceiveQueue(10, 2));
        Expect.atLeast("maxWr", 10, queue.maxWr());
        Expect.atLeast("maxSge", 2, queue.maxSge());
        Expect.that("its domain", queue.protectionDomain() == end.domain);
        Expect.equal("limit", 0, queue.limit());
    }

    public static void sizesThatTheDeviceDoesNotHaveAreRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        int wr = fixture.attributes().queues().maxSrqWr();
        int sge = fixture.attributes().queues().maxSrqSge();
        var refused = Expect.thrown(
                "maxSrqWr + 1", ResourceLimitException.class, () -> end.domain.createSharedReceiveQueue(wr + 1, 1));
        Expect.equal("resource", "maxSrqWr", refused.resource());
        Expect.thrown(
                "maxSrqSge + 1", ResourceLimitException.class, () -> end.domain.createSharedReceiveQueue(1, sge + 1));
        Expect.thrown("0 receives", IllegalArgumentException.class, () -> end.domain.createSharedReceiveQueue(0, 1));
    }

    public static void whoeverIsSentToTakesTheOldestReceive(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        for (int i = 0; i < 4; i++) {
            receive(setup, i, 1000L * i, 1000);
        }
        Pair[] order = {setup.second, setup.first, setup.second, setup.second};
        for (int i = 0; i < order.length; i++) {
            order[i].a().send(10 + i, 5000, 100 + i);
            order[i].a().ok(10 + i);
            var received = (Completion.Success) setup.b.take(setup.b.cq);
            Expect.equal("receive", (long) i, received.wrId());
            Expect.equal("opcode", WcOpcode.RECV, received.opcode());
            Expect.equal("queue pair", order[i].b().qp().qpn(), received.qpn());
            Expect.equal("bytes", 100L + i, received.byteLength());
            Expect.bytes("message", order[i].a().bytes(5000, 100 + i), setup.b.bytes(1000L * i, 100 + i));
        }
    }

    public static void aMessageWaitsForASharedReceive(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        setup.first.a().send(1, 0, 100);
        setup.second.b().context.awaitAsyncEvent(java.time.Duration.ofMillis(10));
        receive(setup, 5, 0, 100);
        setup.first.a().ok(1);
        Expect.equal("receive", 5L, setup.b.take(setup.b.cq).wrId());
    }

    @Needs(Capability.ENDPOINTS)
    public static void anEmptyQueueIsNotReady(Fixture fixture) throws InterruptedException {
        TestEnd b = fixture.end(fixture.b());
        SharedReceiveQueue queue = fixture.own(b.domain.createSharedReceiveQueue(4, 1));
        Pair pair = fixture.wire(QpType.RC)
                .shared(queue)
                .retries(new AckTimeout(14), 7, 1)
                .minRnrTimer(new RnrTimer(1))
                .between(fixture.end(fixture.a()), b);
        pair.a().send(1, 0, 8);
        pair.a().fails(1, WcStatus.RNR_RETRY_EXC_ERR);
    }

    public static void asManyReceivesAsWereAskedForFitIn(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        int most = setup.queue.maxWr();
        for (int i = 0; i < most; i++) {
            receive(setup, i, 0, 8);
        }
        var refused = Expect.thrown("one more", ResourceLimitException.class, () -> receive(setup, 99, 0, 8));
        Expect.equal("limit that it names", (long) most, refused.limit());
        setup.first.a().send(1, 0, 8);
        setup.first.a().ok(1);
        setup.b.take(setup.b.cq);
        receive(setup, 100, 0, 8);
    }

    public static void moreEntriesThanWereAskedForAreRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        SharedReceiveQueue queue = fixture.own(end.domain.createSharedReceiveQueue(4, 1));
        int most = queue.maxSge();
        Expect.thrown(most + 1 + " entries", IllegalArgumentException.class, () -> {
            try (var batch = queue.receiveBatch()) {
                batch.receive(1);
                for (int i = 0; i <= most; i++) {
                    batch.sge(end.memory, i, 1);
                }
                batch.submit();
            }
        });
    }

    public static void aQueuePairWithASharedQueueHasNoneOfItsOwn(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        Expect.thrown(
                "a receive of its own",
                InvalidStateException.class,
                () -> setup.first.b().qp().receiveBatch());
        Expect.that(
                "query names the shared one",
                setup.first.b().qp().query().options().sharedReceiveQueue().orElseThrow() == setup.queue);
    }

    public static void aMessageIsScatteredOverEntries(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        try (var batch = setup.queue.receiveBatch()) {
            batch.receive(1).sge(setup.b.memory, 0, 30).sge(setup.b.memory, 1000, 100);
            Expect.equal("handed over", 1, batch.submit());
        }
        setup.first.a().send(2, 5000, 90);
        setup.first.a().ok(2);
        setup.b.take(setup.b.cq);
        Expect.bytes("first piece", setup.first.a().bytes(5000, 30), setup.b.bytes(0, 30));
        Expect.bytes("second piece", setup.first.a().bytes(5030, 60), setup.b.bytes(1000, 60));
    }

    public static void theLimitIsToldOnceWhenItIsCrossed(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        for (int i = 0; i < 6; i++) {
            receive(setup, i, 0, 8);
        }
        setup.queue.armLimit(5);
        Expect.equal("limit", 5, setup.queue.limit());
        Expect.that("no event yet", setup.b.context.pollAsyncEvent().isEmpty());
        for (int i = 0; i < 3; i++) {
            setup.first.a().send(10 + i, 0, 8);
            setup.first.a().ok(10 + i);
            setup.b.take(setup.b.cq);
        }
        var event = fixture.event(setup.b.context, EnumSet.of(AsyncEvent.Type.SRQ_LIMIT_REACHED));
        Expect.that(
                "its queue",
                event instanceof AsyncEvent.SharedReceiveQueueEvent(var type, var queue) && queue == setup.queue);
        Expect.equal("limit afterwards", 0, setup.queue.limit());
        setup.first.a().send(20, 0, 8);
        setup.first.a().ok(20);
        setup.b.take(setup.b.cq);
        Expect.that("no second event", setup.b.context.pollAsyncEvent().isEmpty());
    }

    public static void aLimitOfZeroDisarms(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        for (int i = 0; i < 3; i++) {
            receive(setup, i, 0, 8);
        }
        setup.queue.armLimit(2);
        setup.queue.armLimit(0);
        for (int i = 0; i < 3; i++) {
            setup.first.a().send(10 + i, 0, 8);
            setup.first.a().ok(10 + i);
            setup.b.take(setup.b.cq);
        }
        Expect.that("no event", setup.b.context.pollAsyncEvent().isEmpty());
    }

    public static void aLimitOverTheQueuesSizeIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        SharedReceiveQueue queue = fixture.own(end.domain.createSharedReceiveQueue(4, 1));
        int most = queue.maxWr();
        Expect.thrown("limit " + (most + 1), IllegalArgumentException.class, () -> queue.armLimit(most + 1), "limit");
        Expect.thrown("limit -1", IllegalArgumentException.class, () -> queue.armLimit(-1), "limit");
    }

    /// Checks IBTA 10.3.1: a queue pair that goes to ERR takes no more receives, and reports that.
    public static void aQueuePairInErrorSaysThatItTakesNoMore(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        receive(setup, 1, 0, 100);
        setup.first.b().qp().modify(new Transition.ToError());
        var event = fixture.event(setup.b.context, EnumSet.of(AsyncEvent.Type.QP_LAST_WQE_REACHED));
        Expect.that(
                "its queue pair",
                event instanceof AsyncEvent.QueuePairEvent(var type, var qp)
                        && qp == setup.first.b().qp());
        setup.second.a().send(2, 0, 50); // the receive is still there, for the other
        setup.second.a().ok(2);
        Expect.equal("receive", 1L, setup.b.take(setup.b.cq).wrId());
    }

    public static void aMessageLongerThanASharedReceiveFailsAtBothEnds(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        receive(setup, 1, 0, 50);
        setup.first.a().send(2, 0, 51);
        var failure = setup.b.take(setup.b.cq);
        Expect.that(
                "LOC_LEN_ERR of wr 1: " + failure,
                failure instanceof Completion.Failure its && its.status() == WcStatus.LOC_LEN_ERR && its.wrId() == 1);
        setup.first.a().refused(2, WcStatus.REM_INV_REQ_ERR);
        receive(setup, 3, 0, 50);
        setup.second.a().send(4, 0, 10); // the other connection goes on
        setup.second.a().ok(4);
        Expect.equal("receive", 3L, setup.b.take(setup.b.cq).wrId());
    }

    public static void aQueueStaysOpenForItsQueuePairs(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        Expect.thrown("close", InUseException.class, setup.queue::close);
        setup.first.b().close();
        setup.second.b().close();
        setup.queue.close();
        Expect.that("it is closed", setup.queue.isClosed());
        Expect.thrown("a receive", InvalidStateException.class, setup.queue::receiveBatch, "closed");
        Expect.thrown("a limit", InvalidStateException.class, () -> setup.queue.armLimit(1), "closed");
    }

    public static void closingAQueuePairLeavesTheReceivesToOthers(Fixture fixture) throws InterruptedException {
        Setup setup = setup(fixture);
        receive(setup, 1, 0, 100);
        receive(setup, 2, 0, 100);
        setup.first.close();
        for (int i = 1; i <= 2; i++) {
            setup.second.a().send(10 + i, 0, 50);
            setup.second.a().ok(10 + i);
            Expect.equal("receive", (long) i, setup.b.take(setup.b.cq).wrId());
        }
    }

    public static void aQueueOfAnotherContextIsRefused(Fixture fixture) {
        TestEnd end = fixture.end();
        var elsewhere = fixture.b();
        if (elsewhere.equals(fixture.a())) {
            return; // a device that opens once has no other context
        }
        var other = fixture.own(elsewhere.allocateProtectionDomain());
        SharedReceiveQueue queue = fixture.own(other.createSharedReceiveQueue(4, 1));
        var options = fixture.wire(QpType.RC).options(end).withSharedReceiveQueue(queue);
        Expect.thrown(
                "a queue pair with it", IllegalArgumentException.class, () -> end.domain.createQueuePair(options));
    }

    @Needs(Capability.UD)
    public static void datagramsTakeSharedReceives(Fixture fixture) throws InterruptedException {
        TestEnd b = fixture.end(fixture.b());
        SharedReceiveQueue queue = fixture.own(b.domain.createSharedReceiveQueue(8, 1));
        Pair pair = fixture.wire(QpType.UD).shared(queue).between(fixture.end(fixture.a()), b);
        queue.postReceive(1, b.memory.slice(0, 200));
        Datagrams.send(pair, 2, 0, 100);
        pair.a().ok(2);
        b.received(1, 140);
        Expect.bytes("datagram", pair.a().bytes(0, 100), b.bytes(40, 100));
    }
}
