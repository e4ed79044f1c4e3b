package verbena.nic.goal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.AckTimeout;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;

/// Goals F1 and F2 with real processes: the peer is killed at random moments under load, and returns. Each
/// outstanding request completes exactly once, idle connections notice, and traffic goes on.
class KilledPeerTest {
    private static final int OUTSTANDING = 64;
    private static final int IDLE = 4;
    private static final int WARM_UP = GoalRun.size(300, 1_000);
    private static final ConnectionParameters WATCHFUL = ConnectionParameters.defaults()
            .withKeepAlive(Duration.ofMillis(100))
            .withRetries(AckTimeout.atLeast(Duration.ofMillis(60)), 4, 7);
    /// There is no listener while the peer is away: short attempts find the new one soon after it starts.
    private static final Duration ATTEMPT = Duration.ofMillis(100);

    private final Random random = new Random(GoalRun.seed());
    // In microseconds.
    private final List<Long> noticed = new ArrayList<>();
    /// When the last request under load had completed.
    private final List<Long> ended = new ArrayList<>();

    private final List<Long> resumed = new ArrayList<>();
    private long requests;
    private long failed;

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    @Timeout(3_600)
    void nothingIsLostOrDoneTwiceWhenThePeerIsKilledAndTrafficGoesOn(String kind) throws Exception {
        assumeTrue(Kinds.isHere(kind), "no " + kind + " here");
        long start = System.nanoTime();
        int kills = GoalRun.size(3, 500);
        InetAddress address = LoopbackAddress.find(4_791);
        PeerProcess next = new PeerProcess(kind, address);
        try (Context device = Device.named(kind).open();
                ExecutorService threads = Executors.newCachedThreadPool()) {
            for (int i = 0; i < kills; i++) {
                try (PeerProcess peer = next) {
                    next = new PeerProcess(kind, address); // it starts while the current one works
                    live(peer, device, address, threads);
                }
            }
        } finally {
            next.close();
        }
        GoalRun.report(
                "F1",
                start,
                "%d kills over %s, %d idle connections noticed after %s; the last request under load completed after %s"
                        .formatted(kills, kind, noticed.size(), millis(noticed), millis(ended)));
        GoalRun.report(
                "F2",
                start,
                "%d kills over %s, %,d requests completed once, %,d of them with an error; full traffic after %s"
                        .formatted(kills, kind, requests, failed, millis(resumed)));
        // The goals are 500 and 250 ms; these bounds leave room for a machine with other work.
        assertThat(percentile(noticed, 99)).isLessThan(10_000_000);
        assertThat(percentile(resumed, 99)).isLessThan(10_000_000);
        if (kind.equals("shm")) {
            // No keep-alive and no retry is waited for: those take 300 ms. The goal is 10 ms.
            assertThat(percentile(noticed, 50)).isLessThan(200_000);
            assertThat(percentile(ended, 50)).isLessThan(200_000);
        }
    }

    /// The span of some microseconds.
    private static String millis(List<Long> micros) {
        return String.format(
                Locale.ROOT,
                "%.1f to %.1f ms, p50 %.1f, p99 %.1f",
                percentile(micros, 0) / 1e3,
                percentile(micros, 100) / 1e3,
                percentile(micros, 50) / 1e3,
                percentile(micros, 99) / 1e3);
    }

    /// One life of the peer.
    private void live(PeerProcess peer, Context device, InetAddress address, ExecutorService threads)
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        var options = ConnectionOptions.defaults()
                .withDevice(device)
                .withParameters(_ -> WATCHFUL)
                .withDepth(128, 128)
                .withConnectTimeout(ATTEMPT);
        var to = new InetSocketAddress(address, PeerProcess.PORT);
        Future<Long> back = threads.submit(() -> {
            peer.listen();
            return System.nanoTime();
        });
        var idle = new ArrayList<Future<Long>>();
        try (Connection connection = reconnect(to, options)) {
            var load = new Load(connection, PeerProcess.greeted(connection));
            load.run(OUTSTANDING);
            resumed.add(TimeUnit.NANOSECONDS.toMicros(Math.max(0, System.nanoTime() - back.get(10, TimeUnit.SECONDS))));
            for (int i = 0; i < IDLE; i++) {
                Connection quiet = reconnect(to, options);
                PeerProcess.greeted(quiet);
                idle.add(threads.submit(() -> endOf(quiet)));
            }
            load.run(WARM_UP + random.nextInt(2 * WARM_UP));
            long killed = System.nanoTime();
            peer.kill();
            load.runToTheEnd();
            ended.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - killed));
            requests += load.posted;
            failed += load.failed;
            for (Future<Long> each : idle) {
                noticed.add(TimeUnit.NANOSECONDS.toMicros(each.get(20, TimeUnit.SECONDS) - killed));
            }
        }
        peer.awaitEnd();
    }

    private static Connection reconnect(InetSocketAddress to, ConnectionOptions options) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try {
                return Connection.connect(to, options);
            } catch (ConnectionException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
    }

    /// Waits for a message that never comes; returns when the connection ended.
    private static Long endOf(Connection quiet) throws InterruptedException {
        try (quiet) {
            MemoryRegion memory = quiet.allocate(64);
            quiet.receive(memory.slice(0, 64));
            throw new AssertionError("something came");
        } catch (ConnectionException e) {
            return System.nanoTime();
        }
    }

    private static long percentile(List<Long> values, int percent) {
        long[] sorted = values.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
    }

    /// Requests of all kinds, and their results.
    private static final class Load {
        private final Connection connection;
        private final QueuePair queuePair;
        private final RemoteMemory remote;
        private final MemoryRegion local;
        private final WorkCompletion done = new WorkCompletion();
        /// How often the request of each wrId has completed, by its place in the ring.
        private final boolean[] outstanding = new boolean[OUTSTANDING];
        private int inFlight;
        private long posted;
        private long failed;

        Load(Connection connection, RemoteMemory remote) {
            this.connection = connection;
            this.queuePair = connection.queuePair();
            this.remote = remote;
            this.local = connection.allocate(PeerProcess.MEMORY_BYTES);
        }

        /// Keeps the queue full until this many more requests have succeeded.
        void run(int count) throws InterruptedException {
            for (int i = 0; i < count; i++) {
                fill();
                assertThat(take()).as(() -> done.toString()).isTrue();
            }
        }

        /// Keeps the queue full until a request fails, then waits for all.
        void runToTheEnd() throws InterruptedException {
            do {
                fill();
            } while (take());
            while (inFlight > 0) {
                assertThat(take()).as("no success after a failure").isFalse();
            }
            assertThat(connection.queuePair().options().sendCq().poll(done))
                    .as("more completions than requests")
                    .isFalse();
        }

        private void fill() {
            for (int place = 0; place < OUTSTANDING && inFlight < OUTSTANDING; place++) {
                if (!outstanding[place]) {
                    outstanding[place] = true;
                    inFlight++;
                    post(place);
                    posted++;
                }
            }
        }

        private void post(int place) {
            long at = place * 64L;
            switch ((int) (posted % 3)) {
                case 0 -> queuePair.postWrite(place, local.slice(at, 64), remote.slice(at, 64));
                case 1 -> queuePair.postRead(place, remote.slice(at, 64), local.slice(at, 64));
                default -> queuePair.postFetchAdd(place, remote.slice(at), 1, local.slice(at, 8));
            }
        }

        /// Takes the next completion; returns whether it is a success.
        private boolean take() throws InterruptedException {
            assertThat(connection.queuePair().options().sendCq().await(done, Duration.ofSeconds(20)))
                    .as("a hang, with %d outstanding", inFlight)
                    .isTrue();
            int place = (int) done.wrId();
            assertThat(outstanding[place]).as("completed once: " + done).isTrue();
            outstanding[place] = false;
            inFlight--;
            if (!done.ok()) {
                failed++;
            }
            return done.ok();
        }
    }
}
