package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.VerbsException;

/// Closing: in which order, while something is under way, and what is refused afterwards.
public final class Lifecycle {
    private Lifecycle() {}

    public static void aContextStaysOpenForWhatWasMadeOfIt(Fixture fixture) {
        Context context = fixture.own(fixture.device().open());
        var domain = context.allocateProtectionDomain();
        var cq = context.createCompletionQueue(16);
        var channel = context.createCompletionChannel();
        var refused = Expect.thrown("close", InUseException.class, context::close);
        Expect.equal(
                "objects that it names: " + refused.children(),
                3,
                refused.children().size());
        Expect.that("it is open", !context.isClosed());
        domain.close();
        cq.close();
        Expect.thrown("close", InUseException.class, context::close);
        channel.close();
        context.close();
        context.close();
        Expect.that("it is closed", context.isClosed());
    }

    public static void aClosedContextMakesNothing(Fixture fixture) {
        Context context = fixture.device().open();
        context.close();
        Expect.thrown("a domain", InvalidStateException.class, context::allocateProtectionDomain, "closed");
        Expect.thrown("a queue", InvalidStateException.class, () -> context.createCompletionQueue(16), "closed");
        Expect.thrown("a channel", InvalidStateException.class, context::createCompletionChannel, "closed");
        Expect.thrown(
                "an event", InvalidStateException.class, () -> context.awaitAsyncEvent(fixture.timeout()), "closed");
    }

    public static void closingAContextWakesWhoWaitsForEvents(Fixture fixture) throws Exception {
        Context context = fixture.own(fixture.device().open());
        var told = new AtomicReference<Throwable>();
        var done = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            try {
                context.awaitAsyncEvent(fixture.timeout());
            } catch (Throwable e) {
                told.set(e);
            }
            done.countDown();
        });
        context.close();
        Expect.that("the waiter is woken", done.await(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
        Expect.that("by InvalidStateException: " + told.get(), told.get() instanceof InvalidStateException);
    }

    public static void closingARegionUnderWritesEndsThemWithAStatus(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        MemoryRegion region = fixture.own(pair.b().domain.allocate(64 * 1024, Access.remoteAll()));
        pair.a().post("32 READs of 32 KiB", batch -> {
            for (int i = 0; i < 32; i++) {
                batch.read(i, region.address(), region.rkey())
                        .sge(pair.a().memory, 0, 32 * 1024)
                        .signaled();
            }
        });
        region.close();
        boolean refused = false;
        for (int i = 0; i < 32; i++) {
            var completion = pair.a().take();
            Expect.equal("request", (long) i, completion.wrId());
            refused |= completion instanceof verbena.verbs.Completion.Failure;
        }
        fixture.tell(refused ? "some were refused" : "all were answered before it was closed");
        Expect.thrown(
                "its segment is the region's no more",
                RuntimeException.class,
                () -> pair.b().qp().postReceive(1, region.slice(0, 8)));
    }

    public static void closingAQueuePairUnderTrafficIsSafe(Fixture fixture) throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            Pair pair = fixture.rc();
            pair.a().post("32 WRITEs of 16 KiB, silent but the last", batch -> {
                for (int i = 0; i < 32; i++) {
                    batch.write(i, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 16 * 1024);
                    if (i == 31) {
                        batch.signaled();
                    }
                }
            });
            (round % 2 == 0 ? pair.a() : pair.b()).qp().close();
            pair.close();
        }
        Pair again = fixture.rc(); // the device works on
        again.a().write(1, 0, 8, again.b(), 0);
        again.a().ok(1);
    }

    public static void allIsGivenBack(Fixture fixture) throws InterruptedException {
        for (int round = 0; round < 5; round++) {
            Context context = fixture.own(fixture.device().open());
            var domain = context.allocateProtectionDomain();
            var channel = context.createCompletionChannel();
            var cq = context.createCompletionQueue(CompletionQueueOptions.of(64).withChannel(channel));
            var regions = new ArrayList<MemoryRegion>();
            for (int i = 0; i < 10; i++) {
                regions.add(domain.allocate(10_000, Access.remoteRead()));
            }
            var qp = domain.createQueuePair(verbena.verbs.QueuePairOptions.rc(cq)
                    .withSizes(new verbena.verbs.QueuePairOptions.Sizes(16, 16, 1, 1, 0)));
            qp.close();
            regions.forEach(MemoryRegion::close);
            cq.close();
            channel.close();
            domain.close();
            context.close();
        }
    }

    public static void everythingIsClosedOnceAndTwiceIsHarmless(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var window = fixture.has(Capability.MEMORY_WINDOW_TYPE_1)
                ? pair.a().domain.allocateWindow(MemoryWindow.Type.TYPE_1)
                : null;
        var shared = fixture.has(Capability.SRQ) ? pair.a().domain.createSharedReceiveQueue(4, 1) : null;
        for (int i = 0; i < 2; i++) {
            if (window != null) {
                window.close();
                Expect.that("the window is closed", window.isClosed());
            }
            if (shared != null) {
                shared.close();
                Expect.that("the shared queue is closed", shared.isClosed());
            }
            pair.a().qp().close();
            Expect.that("the queue pair is closed", pair.a().qp().isClosed());
            pair.a().memory.close();
            Expect.that("the region is closed", pair.a().memory.isClosed());
        }
    }

    public static void threadsMayCloseTheSameThing(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        for (int round = 0; round < 20; round++) {
            MemoryRegion region = end.domain.allocate(4096, Access.local());
            var failure = new AtomicReference<Throwable>();
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        region.close();
                        Expect.that("it is closed for the thread that has closed it", region.isClosed());
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Expect.that("no thread fails: " + failure.get(), failure.get() == null);
            Expect.that("it is closed", region.isClosed());
        }
    }

    @Needs(Capability.ENDPOINTS)
    public static void aThreadThatPostsIsToldWhenItsQueuePairIsClosed(Fixture fixture) throws Exception {
        Pair pair = fixture.rc();
        var told = new AtomicReference<Throwable>();
        var posting = new CountDownLatch(1);
        Thread poster = Thread.ofPlatform().start(() -> {
            try {
                while (true) {
                    try {
                        pair.a().qp().postReceive(1, pair.a().memory.slice(0, 8));
                    } catch (verbena.verbs.ResourceLimitException e) {
                        Thread.onSpinWait(); // full: until it is closed
                    }
                    posting.countDown();
                }
            } catch (VerbsException e) {
                told.set(e);
            }
        });
        posting.await();
        pair.a().qp().close();
        poster.join(fixture.timeout().toMillis());
        Expect.that("it ended by InvalidStateException: " + told.get(), told.get() instanceof InvalidStateException);
    }
}
