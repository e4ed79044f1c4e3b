package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Waiting, closing and failing with the engine's own threads, over UDP on loopback.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LifecycleTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final EndpointOptions FEW_RETRIES =
            EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 2, 7);

    private final Context a = Device.named("rocev2").open();
    private final Context b = Device.named("rocev2").open();
    private final List<VerbsObject> made = new ArrayList<>();
    private final ProtectionDomain domainA = made(a.allocateProtectionDomain());
    private final ProtectionDomain domainB = made(b.allocateProtectionDomain());
    private final MemoryRegion memoryA = made(domainA.allocate(1 << 16, Access.remoteAll()));
    private final MemoryRegion memoryB = made(domainB.allocate(1 << 16, Access.remoteAll()));
    private final WorkCompletion wc = new WorkCompletion();

    private <T extends VerbsObject> T made(T object) {
        made.add(object);
        return object;
    }

    @AfterEach
    void close() {
        made.reversed().forEach(VerbsObject::close);
        a.close();
        b.close();
    }

    private record Connection(CompletionQueue cqA, CompletionQueue cqB, QueuePair qpA, QueuePair qpB) {
        void close() {
            qpA.close();
            qpB.close();
            cqA.close();
            cqB.close();
        }
    }

    private Connection connection(EndpointOptions options, Optional<CompletionChannel> channelB) {
        CompletionQueue cqA = a.createCompletionQueue(512);
        CompletionQueue cqB = b.createCompletionQueue(new CompletionQueueOptions(512, channelB, false));
        QueuePair qpA = domainA.createQueuePair(QueuePairOptions.rc(cqA));
        QueuePair qpB = domainB.createQueuePair(QueuePairOptions.rc(cqB));
        qpA.connect(qpB.endpoint(), options);
        qpB.connect(qpA.endpoint(), options);
        return new Connection(cqA, cqB, qpA, qpB);
    }

    private Connection connection() {
        Connection c = connection(EndpointOptions.defaults(), Optional.empty());
        made(c.cqA);
        made(c.cqB);
        made(c.qpA);
        made(c.qpB);
        return c;
    }

    private void write(QueuePair qp, long wrId) {
        qp.postWrite(wrId, memoryA.slice(0, 8), memoryB.remote());
    }

    // ---- waiting

    @Test
    void aSleeperIsWokenByAPacket() throws Exception {
        Connection c = connection();
        for (int i = 0; i < 200; i++) {
            c.qpB.postReceive(i, memoryB.slice(0, 64));
            // The first thread sleeps long enough that only the device's own thread drives it.
            var waiting = new AtomicReference<Throwable>();
            var wcB = new WorkCompletion();
            Thread sleeper = Thread.ofPlatform().start(() -> {
                try {
                    assertThat(c.cqB.await(wcB, SOON)).isTrue();
                } catch (Throwable t) {
                    waiting.set(t);
                }
            });
            c.qpA.postSend(i, memoryA.slice(0, 8));
            sleeper.join();
            assertThat(waiting.get()).isNull();
            assertThat(wcB.wrId()).isEqualTo(i);
            assertThat(c.cqA.await(wc, SOON)).isTrue();
        }
    }

    @Test
    void aPeerIsServedWhileNoThreadPolls() throws InterruptedException {
        Connection c = connection();
        // b's application polls without pause, so that its engine's thread stays away, and then stops suddenly.
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 3_000; i++) {
                c.cqB.poll(wc);
            }
            write(c.qpA, round);
            assertThat(c.cqA.await(wc, SOON)).isTrue();
            assertThat(wc.ok()).isTrue();
        }
    }

    @Test
    void manyVirtualThreadsWaitAtOnce() throws Exception {
        int threads = 100;
        var all = new ArrayList<Connection>();
        for (int i = 0; i < threads; i++) {
            all.add(connection());
        }
        var waiting = new CountDownLatch(threads);
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            var results = new ArrayList<java.util.concurrent.Future<Boolean>>();
            for (Connection c : all) {
                c.qpB.postReceive(1, memoryB.slice(0, 64));
                results.add(executor.submit(() -> {
                    waiting.countDown();
                    return c.cqB.await(new WorkCompletion(), SOON);
                }));
            }
            // All have started although each of them waits: none holds its carrier thread.
            waiting.await();
            for (Connection c : all) {
                c.qpA.postSend(2, memoryA.slice(0, 8));
            }
            for (var result : results) {
                assertThat(result.get()).isTrue();
            }
        }
    }

    @Test
    void aChannelWakesAThreadThatArmsPollsAndWaits() throws Exception {
        CompletionChannel channel = made(b.createCompletionChannel());
        Connection c = connection(EndpointOptions.defaults(), Optional.of(channel));
        int messages = 2_000;
        var failed = new AtomicReference<Throwable>();
        for (int i = 0; i < 100; i++) {
            c.qpB.postReceive(i, memoryB.slice(0, 64));
        }
        Thread receiver = Thread.ofPlatform().start(() -> {
            try {
                var own = new WorkCompletion();
                int received = 0;
                c.cqB.arm();
                while (received < messages) {
                    assertThat(channel.await(SOON)).as("after " + received).contains(c.cqB);
                    // Arm first and poll then: a completion between the two notifies.
                    c.cqB.arm();
                    while (c.cqB.poll(own)) {
                        assertThat(own.ok()).isTrue();
                        c.qpB.postReceive(received++, memoryB.slice(0, 64));
                    }
                }
            } catch (Throwable t) {
                failed.set(t);
            }
        });
        for (int i = 0; i < messages && failed.get() == null; i++) {
            c.qpA.postSend(i, memoryA.slice(0, 8));
            assertThat(c.cqA.await(wc, SOON)).isTrue();
        }
        receiver.join();
        assertThat(failed.get()).isNull();
        c.close();
    }

    @Test
    void anIdleDeviceCostsNoProcessorTime() throws InterruptedException {
        Connection c = connection();
        write(c.qpA, 1);
        assertThat(c.cqA.await(wc, SOON)).isTrue();
        var threads = ManagementFactory.getThreadMXBean();
        // Deadlines of completed requests may still pass once.
        a.awaitAsyncEvent(Duration.ofMillis(200));
        var engines = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("verbena-"))
                .toList();
        assertThat(engines).hasSizeGreaterThanOrEqualTo(2);
        long before = 0;
        for (Thread engine : engines) {
            before += threads.getThreadCpuTime(engine.threadId());
        }
        a.awaitAsyncEvent(Duration.ofMillis(500));
        long after = 0;
        for (Thread engine : engines) {
            after += threads.getThreadCpuTime(engine.threadId());
        }
        assertThat(after - before).isLessThan(25_000_000);
    }

    @Test
    void closingWakesWaitingThreads() throws Exception {
        CompletionQueue cq = a.createCompletionQueue(1);
        CompletionChannel channel = a.createCompletionChannel();
        var thrown = new AtomicReference<Throwable>();
        var second = new AtomicReference<Throwable>();
        Thread onQueue = Thread.ofVirtual().start(() -> {
            try {
                cq.await(new WorkCompletion(), SOON);
            } catch (InvalidStateException | InterruptedException e) {
                thrown.set(e);
            }
        });
        Thread onChannel = Thread.ofPlatform().start(() -> {
            try {
                channel.await(SOON);
            } catch (InvalidStateException | InterruptedException e) {
                second.set(e);
            }
        });
        cq.close();
        channel.close();
        onQueue.join();
        onChannel.join();
        assertThat(thrown.get()).isInstanceOf(InvalidStateException.class);
        assertThat(second.get()).isInstanceOf(InvalidStateException.class);
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        CompletionQueue cq = made(a.createCompletionQueue(1));
        var thrown = new AtomicReference<Throwable>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                cq.await(new WorkCompletion(), SOON);
            } catch (InterruptedException e) {
                thrown.set(e);
            }
        });
        waiter.interrupt();
        waiter.join();
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    }

    // ---- failing

    @Test
    void aPeerThatIsGoneEndsARequestByItsRetries() throws InterruptedException {
        Connection c = connection(FEW_RETRIES, Optional.empty());
        c.qpB.close();
        write(c.qpA, 1);
        assertThat(c.cqA.await(wc, SOON)).isTrue();
        assertThat(wc.status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
        assertThat(wc.cause()).isNotEmpty();
        c.close();
    }

    @Test
    void arenasMayBeClosedWhileTheDeviceUsesThem() throws InterruptedException {
        for (int i = 0; i < 30; i++) {
            Connection c = connection(FEW_RETRIES, Optional.empty());
            MemoryRegion big = domainB.allocate(1 << 20, Access.remoteAll());
            MemoryRegion region;
            try (Arena arena = Arena.ofShared()) {
                region = domainA.register(arena.allocate(1 << 20), Access.local());
                c.qpA.postWrite(1, region.slice(0, 1 << 20), big.remote());
            }
            assertThat(c.cqA.await(wc, SOON)).isTrue();
            assertThat(wc.status()).isIn(WcStatus.LOC_PROT_ERR, WcStatus.SUCCESS);
            region.close();
            big.close();
            c.close();
        }
    }

    // ---- closing

    @Test
    void closingWithWorkInFlightIsSafe() {
        for (int i = 0; i < 200; i++) {
            Connection c = connection(FEW_RETRIES, Optional.empty());
            try (SendBatch batch = c.qpA.sendBatch()) {
                for (int k = 0; k < 100; k++) {
                    batch.write(k, memoryB.address(), memoryB.rkey()).sge(memoryA, 0, 1 << 16);
                }
                batch.submit();
            }
            c.close();
        }
    }

    @Test
    void contextsCloseAtOnceAndFreeTheirAddress() {
        for (int i = 0; i < 50; i++) {
            Context context = Device.named("rocev2").open();
            String address = context.gids(1).getFirst().gid().toString();
            context.close();
            Context again = Device.named("rocev2@" + address).open();
            again.close();
            again.close();
            assertThatThrownBy(again::pollAsyncEvent).isInstanceOf(InvalidStateException.class);
        }
    }

    /// Destroying races with posting, polling, waiting and arriving packets: only the declared exceptions occur,
    /// and every thread ends.
    @Test
    void destroyingRacesWithEverything() throws InterruptedException {
        var over = new AtomicBoolean();
        var failed = new AtomicReference<Throwable>();
        var current = new AtomicReference<>(connection(FEW_RETRIES, Optional.empty()));
        var workers = new ArrayList<Thread>();
        for (int t = 0; t < 4; t++) {
            int kind = t;
            workers.add(Thread.ofPlatform().start(() -> {
                var own = new WorkCompletion();
                while (!over.get() && failed.get() == null) {
                    Connection c = current.get();
                    try {
                        switch (kind) {
                            case 0 -> c.qpA.postWrite(1, memoryA.slice(0, 4_096), memoryB.remote());
                            case 1 -> c.qpB.postReceive(1, memoryB.slice(0, 64));
                            case 2 -> c.cqA.poll(own);
                            default -> c.cqB.await(own, Duration.ofMillis(1));
                        }
                    } catch (InvalidStateException | ResourceLimitException e) {
                        Thread.onSpinWait(); // the queue pair is closed, broken, or full
                    } catch (Throwable e) {
                        failed.compareAndSet(null, e);
                    }
                }
            }));
        }
        long end = System.nanoTime() + GoalRun.size(1_500, 10_000) * 1_000_000L;
        int cycles = 0;
        while (System.nanoTime() < end && failed.get() == null) {
            Connection old = current.getAndSet(connection(FEW_RETRIES, Optional.empty()));
            if (ThreadLocalRandom.current().nextBoolean()) {
                old.qpB.modify(new verbena.verbs.Transition.ToError());
            }
            old.close();
            cycles++;
        }
        over.set(true);
        for (Thread worker : workers) {
            worker.join();
        }
        current.get().close();
        assertThat(failed.get()).isNull();
        assertThat(cycles).isGreaterThan(20);
    }
}
