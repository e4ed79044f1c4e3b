package verbena.conformance.cases;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;

/// The end of requests: order, capacity, waiting.
public final class CompletionQueues {
    private CompletionQueues() {}

    public static void aQueueHoldsAtLeastWhatWasAskedFor(Fixture fixture) {
        for (int entries : new int[] {1, 2, 15, 16, 17, 1000}) {
            if (entries <= fixture.attributes().queues().maxCqe()) {
                CompletionQueue cq = fixture.own(fixture.a().createCompletionQueue(entries));
                Expect.atLeast("capacity", entries, cq.capacity());
                Expect.that("no channel", cq.channel().isEmpty());
                Expect.that("its context", cq.context() == fixture.a());
            }
        }
    }

    public static void aQueueOfNothingIsRefused(Fixture fixture) {
        for (int entries : new int[] {0, -1}) {
            Expect.thrown(
                    entries + " entries",
                    IllegalArgumentException.class,
                    () -> fixture.a().createCompletionQueue(entries));
        }
    }

    public static void aQueueLargerThanTheDeviceHasIsRefused(Fixture fixture) {
        int most = fixture.attributes().queues().maxCqe();
        if (most < Integer.MAX_VALUE) {
            var refused = Expect.thrown(
                    "maxCqe + 1",
                    ResourceLimitException.class,
                    () -> fixture.a().createCompletionQueue(most + 1));
            Expect.equal("resource", "maxCqe", refused.resource());
            Expect.equal("limit", (long) most, refused.limit());
        }
    }

    public static void anEmptyQueueGivesNothingAndLeavesTheCompletionAlone(Fixture fixture)
            throws InterruptedException {
        CompletionQueue cq = fixture.own(fixture.a().createCompletionQueue(16));
        var wc = new WorkCompletion();
        String before = wc.toString();
        Expect.that("poll finds nothing", !cq.poll(wc));
        Expect.equal("poll of many finds", 0, cq.poll(new WorkCompletion[] {wc, wc}));
        Expect.that("a wait of no time finds nothing", !cq.await(wc, Duration.ZERO));
        Expect.that("a short wait finds nothing", !cq.await(wc, Duration.ofMillis(5)));
        Expect.equal("completion", before, wc.toString());
    }

    public static void severalCompletionsArePolledAtOnceInOrder(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        pair.a().post("11 WRITEs", batch -> {
            for (int i = 0; i < 11; i++) {
                batch.write(i, pair.b().at(0), pair.b().rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled();
            }
        });
        var many = new WorkCompletion[4];
        for (int i = 0; i < many.length; i++) {
            many[i] = new WorkCompletion();
        }
        var next = new int[] {0};
        pair.a().until("eleven are polled", () -> {
            int n = pair.a().cq.poll(many);
            for (int i = 0; i < n; i++) {
                Expect.equal("wr", (long) next[0]++, many[i].wrId());
            }
            return next[0] == 11;
        });
    }

    public static void sendsAndReceivesMayEndInTwoQueues(Fixture fixture) throws InterruptedException {
        if (!fixture.has(Capability.ENDPOINTS)) {
            fixture.tell("the connection manager makes queue pairs here: with one queue");
            return;
        }
        TestEnd a = fixture.end(fixture.a());
        TestEnd b = fixture.end(fixture.b());
        CompletionQueue receives = fixture.own(fixture.b().createCompletionQueue(16));
        var wiring = fixture.wire(QpType.RC);
        a.use(a.domain.createQueuePair(wiring.options(a)));
        b.use(b.domain.createQueuePair(wiring.options(b).withReceiveCq(receives)));
        wiring.byEndpoints(a.qp(), b.qp());
        b.receive(1, 0, 100);
        a.send(2, 0, 10);
        a.ok(2);
        Expect.equal("receive's", 1L, b.take(receives).wrId());
        b.write(3, 0, 8, a, 0);
        b.ok(3);
        var wc = new WorkCompletion();
        Expect.that("nothing more among receives", !receives.poll(wc));
    }

    public static void completionsOfSeveralQueuePairsKeepTheirNumbers(Fixture fixture) throws InterruptedException {
        Pair first = fixture.rc();
        Pair second = fixture.wire(QpType.RC).between(first.a(), first.b());
        for (int i = 0; i < 10; i++) {
            first.a().write(1, 0, 8, first.b(), 0);
            second.a().write(2, 0, 8, second.b(), 0);
        }
        int ofFirst = 0;
        for (int i = 0; i < 20; i++) {
            var done = first.a().take();
            boolean isFirst = done.qpn() == first.a().qp().qpn();
            Expect.equal("request of queue pair " + done.qpn(), isFirst ? 1L : 2L, done.wrId());
            ofFirst += isFirst ? 1 : 0;
        }
        Expect.equal("of the first", 10, ofFirst);
    }

    public static void aWaiterIsWokenByACompletion(Fixture fixture) throws Exception {
        Pair pair = fixture.rc();
        var waiting = waiter(pair.b().cq);
        pair.b().receive(5, 0, 8);
        pair.a().send(1, 0, 8);
        Expect.equal("taken by the waiter", 5L, waiting.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
    }

    private static CompletableFuture<Long> waiter(CompletionQueue cq) {
        var result = new CompletableFuture<Long>();
        Thread.ofVirtual().start(() -> {
            try {
                var wc = new WorkCompletion();
                result.complete(cq.await(wc, Fixture.TIMEOUT) ? wc.wrId() : -1);
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    public static void closingWakesAWaiter(Fixture fixture) throws Exception {
        CompletionQueue cq = fixture.own(fixture.a().createCompletionQueue(16));
        var waiting = waiter(cq);
        cq.close();
        var failure = Expect.thrown(
                "the waiter",
                java.util.concurrent.ExecutionException.class,
                () -> waiting.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
        Expect.that(
                "it is told by InvalidStateException: " + failure.getCause(),
                failure.getCause() instanceof InvalidStateException);
    }

    public static void aClosedQueueIsRefused(Fixture fixture) {
        CompletionQueue cq = fixture.a().createCompletionQueue(16);
        cq.close();
        cq.close(); // says nothing the second time
        Expect.that("it is closed", cq.isClosed());
        TestEnd end = fixture.end();
        var options = fixture.wire(QpType.RC).options(end).withReceiveCq(cq);
        Expect.thrown("poll", InvalidStateException.class, () -> cq.poll(new WorkCompletion()), "closed");
        Expect.thrown(
                "a queue pair with it",
                InvalidStateException.class,
                () -> end.domain.createQueuePair(options),
                "closed");
        Expect.thrown("arm", InvalidStateException.class, () -> cq.arm(), "closed");
    }

    public static void aQueueStaysOpenForItsQueuePairs(Fixture fixture) {
        TestEnd end = fixture.end();
        var qp = fixture.own(end.domain.createQueuePair(fixture.wire(QpType.RC).options(end)));
        Expect.thrown("close", InUseException.class, end.cq::close);
        Expect.that("it is open", !end.cq.isClosed());
        qp.close();
        end.cq.close();
    }

    @Needs(Capability.RESIZE_CQ)
    public static void resizingKeepsWhatIsInIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).cq(16).connect();
        pair.a().post("9 WRITEs", batch -> {
            for (int i = 0; i < 9; i++) {
                batch.write(i, pair.b().at(0), pair.b().rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled();
            }
        });
        pair.a().ok(0);
        pair.a().read(9, 64, 8, pair.b(), 0);
        pair.a().ok(1);
        pair.a().cq.resize(200);
        Expect.atLeast("capacity", 200, pair.a().cq.capacity());
        for (int i = 2; i < 10; i++) {
            pair.a().ok(i);
        }
        pair.a().cq.resize(1);
        pair.a().write(11, 0, 8, pair.b(), 0);
        pair.a().ok(11);
    }

    /// Resizes a queue while some threads wait in the kernel or spin and completions come.
    @Needs(Capability.RESIZE_CQ)
    public static void aQueueIsResizedWhileThreadsAwait(Fixture fixture) throws Exception {
        Pair pair = fixture.wire(QpType.RC).cq(256).connect();
        int writes = 400;
        var taken = new AtomicInteger();
        var waiters = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < 3; i++) {
            waiters.add(CompletableFuture.runAsync(
                    () -> {
                        var wc = new WorkCompletion();
                        try {
                            while (taken.get() < writes) {
                                if (pair.a().cq.await(wc, Duration.ofMillis(5))) {
                                    Expect.that("success: " + wc, wc.ok());
                                    taken.incrementAndGet();
                                }
                            }
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    each -> Thread.ofPlatform().daemon().start(each)));
        }
        for (int i = 0; i < writes; i++) {
            int before = i - 32; // so that nothing overflows, and a queue of 64 holds what is outstanding
            pair.a().until("earlier ones are taken", () -> taken.get() >= before);
            pair.a()
                    .qp()
                    .postWrite(i, pair.a().memory.slice(0, 8), pair.b().memory.remote());
            pair.a().cq.resize(i % 2 == 0 ? 64 : 256);
        }
        for (var waiter : waiters) {
            waiter.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS);
        }
        Expect.equal("completions", writes, taken.get());
    }

    @Needs(Capability.RESIZE_CQ)
    public static void resizingBelowWhatIsInItIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 40; i++) {
            pair.b().receive(i, 0, 8);
        }
        pair.b().qp().modify(new verbena.verbs.Transition.ToError());
        pair.b().flushed(0); // so that the others are there, or about to be
        pair.b().flushed(1);
        pair.b().until("what was asked for is refused", () -> {
            try {
                pair.b().cq.resize(1);
                return false;
            } catch (ResourceLimitException e) {
                return true;
            }
        });
        for (int i = 2; i < 40; i++) {
            pair.b().flushed(i);
        }
    }

    @Needs(Capability.RESIZE_CQ)
    public static void resizingToNothingOrTooMuchIsRefused(Fixture fixture) {
        CompletionQueue cq = fixture.own(fixture.a().createCompletionQueue(16));
        Expect.thrown("to 0", IllegalArgumentException.class, () -> cq.resize(0));
        int most = fixture.attributes().queues().maxCqe();
        if (most < Integer.MAX_VALUE) {
            Expect.thrown("to maxCqe + 1", ResourceLimitException.class, () -> cq.resize(most + 1));
        }
        Expect.atLeast("capacity", 16, cq.capacity());
    }

    /// Checks IBTA C11-39: an overflow is an error of the queue, and of the queue pairs that use it.
    public static void anOverflowIsToldAndEndsItsQueuePairs(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).cq(4).depth(256, 256).connect();
        int entries = pair.a().cq.capacity();
        int posted = 0;
        while (posted <= entries + 64 && pair.a().qp().state() == QpState.RTS) {
            int from = posted;
            int most = Math.min(64, pair.a().qp().query().options().maxSendWr());
            try {
                pair.a().post(most + " WRITEs", batch -> {
                    for (int i = 0; i < most; i++) {
                        batch.write(from + i, pair.b().at(0), pair.b().rkey())
                                .sge(pair.a().memory, 0, 8)
                                .signaled();
                    }
                });
                posted += most;
            } catch (ResourceLimitException | InvalidStateException e) {
                fixture.tell("no more: " + e.getMessage());
                break;
            }
        }
        var event = fixture.event(fixture.a(), EnumSet.of(AsyncEvent.Type.CQ_ERR));
        Expect.that(
                "its queue", event instanceof AsyncEvent.CompletionQueueEvent(var type, var cq) && cq == pair.a().cq);
        pair.a().isBroken();
    }

    public static void whoeverPollsSeesWhatWasReceived(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 200; i++) {
            pair.a().word(0, i);
            pair.b().receive(1, 64, 8);
            pair.a().send(2, 0, 8);
            pair.b().received(1, 8);
            Expect.equal("message", (long) i, pair.b().word(64));
            pair.a().ok(2);
        }
    }
}
