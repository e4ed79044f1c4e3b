package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WorkCompletion;

/// Any thread may post, poll, make and close.
public final class Concurrency {
    private static final int THREADS = 4;

    private Concurrency() {}

    /// Runs it on several threads at once; the first failure is thrown.
    private static void together(int threads, Callable<Void> work) throws Exception {
        var start = new CountDownLatch(1);
        try (var pool = Executors.newFixedThreadPool(threads)) {
            var all = new ArrayList<Future<Void>>();
            for (int i = 0; i < threads; i++) {
                all.add(pool.submit(() -> {
                    start.await();
                    return work.call();
                }));
            }
            start.countDown();
            for (Future<Void> each : all) {
                each.get(4 * Fixture.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    public static void threadsPostToOneQueuePair(Fixture fixture) throws Exception {
        Pair pair = fixture.wire(QpType.RC).cq(4096).connect();
        int each = 300;
        var next = new AtomicInteger();
        var done = ConcurrentHashMap.<Long>newKeySet();
        together(THREADS, () -> {
            var wc = new WorkCompletion();
            for (int i = 0; i < each; i++) {
                long wrId = next.getAndIncrement();
                boolean posted = false;
                while (!posted) {
                    try {
                        pair.a()
                                .qp()
                                .postWrite(
                                        wrId,
                                        pair.a().memory.slice(0, 64),
                                        pair.b().memory.remote());
                        posted = true;
                    } catch (ResourceLimitException e) {
                        if (pair.a().cq.await(wc, fixture.timeout())) {
                            Expect.that("success: " + wc, wc.ok());
                            Expect.that("wr " + wc.wrId() + " completes once", done.add(wc.wrId()));
                        }
                    }
                }
            }
            return null;
        });
        var wc = new WorkCompletion();
        while (done.size() < THREADS * each) {
            Expect.that("the rest completes", pair.a().cq.await(wc, fixture.timeout()));
            Expect.that("success: " + wc, wc.ok());
            Expect.that("wr " + wc.wrId() + " completes once", done.add(wc.wrId()));
        }
        pair.a().silent();
    }

    public static void threadsPollOneQueue(Fixture fixture) throws Exception {
        Pair pair = fixture.wire(QpType.RC).cq(1024).connect();
        int messages = 1000;
        var seen = ConcurrentHashMap.<Long>newKeySet();
        var taken = new AtomicInteger();
        Thread poster = Thread.ofPlatform().start(() -> {
            int posted = 0;
            while (posted < messages) {
                try {
                    pair.a()
                            .qp()
                            .postWrite(
                                    posted,
                                    pair.a().memory.slice(0, 64),
                                    pair.b().memory.remote());
                    posted++;
                } catch (ResourceLimitException e) {
                    Thread.onSpinWait();
                }
            }
        });
        together(THREADS, () -> {
            var wc = new WorkCompletion();
            while (taken.get() < messages) {
                if (pair.a().cq.await(wc, java.time.Duration.ofMillis(50))) {
                    taken.incrementAndGet();
                    Expect.that("success: " + wc, wc.ok());
                    Expect.that("wr " + wc.wrId() + " is given out once", seen.add(wc.wrId()));
                }
            }
            return null;
        });
        poster.join();
        Expect.equal("completions", messages, seen.size());
    }

    public static void threadsMakeAndCloseObjects(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        together(THREADS, () -> {
            for (int i = 0; i < 40; i++) {
                var domain = end.context.allocateProtectionDomain();
                var cq = end.context.createCompletionQueue(16);
                var region = domain.allocate(4096, Access.remoteAll());
                var qp = domain.createQueuePair(verbena.verbs.QueuePairOptions.rc(cq)
                        .withSizes(new verbena.verbs.QueuePairOptions.Sizes(4, 4, 1, 1, 0)));
                qp.close();
                region.close();
                cq.close();
                domain.close();
            }
            return null;
        });
    }

    public static void aHundredQueuePairsMoveManySmallWrites(Fixture fixture) throws InterruptedException {
        int pairs = Math.min(100, fixture.attributes().queues().maxQp() / 4);
        int rounds = 20;
        int burst = 8;
        TestEnd a = fixture.wire(QpType.RC)
                .cq(Math.min(4096, fixture.attributes().queues().maxCqe()))
                .connect()
                .a();
        TestEnd b = fixture.end(fixture.b());
        var all = new ArrayList<Pair>();
        for (int i = 0; i < pairs; i++) {
            all.add(fixture.wire(QpType.RC).depth(16, 1).between(a, b));
        }
        for (int round = 0; round < rounds; round++) {
            for (int p = 0; p < pairs; p++) {
                int at = p;
                try (var batch = all.get(p).a().qp().sendBatch()) {
                    for (int i = 0; i < burst; i++) {
                        batch.write(at, b.at(64L * at), b.rkey()).sge(a.memory, 64L * at, 32);
                    }
                    batch.signaled().submit();
                }
            }
            int[] completions = new int[pairs];
            var wc = new WorkCompletion();
            for (int i = 0; i < pairs; i++) {
                Expect.that("a completion comes", a.cq.await(wc, fixture.timeout()));
                Expect.that("success: " + wc, wc.ok());
                Expect.equal("completions of pair " + wc.wrId(), 1, ++completions[(int) wc.wrId()]);
            }
        }
        for (int p = 0; p < pairs; p++) {
            int at = p;
            b.until(
                    "what pair " + p + " wrote has arrived",
                    () -> java.util.Arrays.equals(a.bytes(64L * at, 32), b.bytes(64L * at, 32)));
        }
    }

    @Needs(Capability.RDMA_READ)
    public static void bothEndsReadEachOtherFromManyThreads(Fixture fixture) throws Exception {
        Pair pair = fixture.rc();
        var turn = new AtomicInteger();
        together(2, () -> {
            TestEnd from = turn.getAndIncrement() == 0 ? pair.a() : pair.b();
            TestEnd to = from == pair.a() ? pair.b() : pair.a();
            for (int i = 0; i < 200; i++) {
                from.read(i, TestEnd.MEMORY_BYTES / 2, 3000, to, 0);
                from.ok(i);
            }
            return null;
        });
        Expect.bytes("what a read", pair.b().bytes(0, 3000), pair.a().bytes(TestEnd.MEMORY_BYTES / 2, 3000));
        Expect.bytes("what b read", pair.a().bytes(0, 3000), pair.b().bytes(TestEnd.MEMORY_BYTES / 2, 3000));
    }

    public static void virtualThreadsWaitWithoutHoldingUpOthers(Fixture fixture) throws Exception {
        Pair pair = fixture.rc();
        int waiters = 50;
        var taken = new CountDownLatch(waiters);
        for (int i = 0; i < waiters; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    if (pair.b().cq.await(new WorkCompletion(), fixture.timeout())) {
                        taken.countDown();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        for (int i = 0; i < waiters; i++) {
            pair.b().receive(i, 0, 8);
            pair.a().send(i, 0, 8);
            pair.a().ok(i);
        }
        Expect.that("every waiter has one", taken.await(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
    }
}
