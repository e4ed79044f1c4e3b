package verbena.nic.goal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
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
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;

/// Goal F4 with real processes. One of them, or both, is stopped at random moments under load and resumed
/// later, or pauses for garbage collections. No byte is wrong, each request completes once, and a connection
/// survives or ends as its timeouts say.
@Timeout(3_600)
class PausedPeerTest {
    private static final long PAUSE_MILLIS_MIN = 100;
    /// The fewest requests around a pause.
    private static final int REQUESTS_MIN = GoalRun.size(50, 200);

    /// Retries of the connections that end.
    private static final int RETRIES = 4;
    private static final Duration KEEP_ALIVE = Duration.ofMillis(100);
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofMillis(60));

    /// Less than the time that a process without a processor is waited for, and much more than the timeouts say.
    private static final Duration WAITED_FOR = Duration.ofSeconds(3);

    private final Random random = new Random(GoalRun.seed());

    @BeforeAll
    static void processesCanBeStopped() {
        assumeTrue(!System.getProperty("os.name").startsWith("Windows"), "no SIGSTOP here");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aProcessThatIsStoppedUnderLoadGoesOnAndNothingIsLostOrChanged(String kind) throws Exception {
        assumeTrue(Kinds.isHere(kind), "no " + kind + " here");
        long start = System.nanoTime();
        int pauses = GoalRun.size(kind.equals("shm") ? 3 : 8, 200);
        long pauseMillisMax = GoalRun.size(kind.equals("shm") ? 500 : 2_000, 10_000);
        InetAddress address = LoopbackAddress.find(4_791);
        long paused = 0;
        long longest = 0;
        try (var server = new PeerProcess(kind, address)) {
            server.listen();
            // The timeouts allow for a stopped peer: 8 times 1.07 s by default, 8 times 2.1 s in the long run.
            try (var load = new LoadProcess(
                    kind, address, Duration.ofMillis(500), Duration.ofMillis(pauseMillisMax / 5 + 400), 7, false)) {
                for (int i = 0; i < pauses; i++) {
                    load.begin(REQUESTS_MIN + random.nextInt(5 * REQUESTS_MIN));
                    long millis = (long) (PAUSE_MILLIS_MIN
                            * Math.pow((double) pauseMillisMax / PAUSE_MILLIS_MIN, random.nextDouble()));
                    List<Process> stopped = switch (random.nextInt(5)) {
                        case 0, 1 -> List.of(server.process());
                        case 2, 3 -> List.of(load.process());
                        default -> List.of(server.process(), load.process());
                    };
                    for (Process each : stopped) {
                        signal("STOP", each);
                    }
                    assertThat(stopped.getFirst().waitFor(millis, TimeUnit.MILLISECONDS))
                            .as("a stopped process has ended")
                            .isFalse();
                    for (Process each : stopped) {
                        signal("CONT", each);
                    }
                    load.awaitDone();
                    paused += millis;
                    longest = Math.max(longest, millis);
                }
                long requests = load.finish();
                GoalRun.report(
                        "F4",
                        start,
                        ("%d pauses of either end or both under load over %s, %d ms in all, the longest %d ms: %,d"
                                        + " requests completed once, every byte right")
                                .formatted(pauses, kind, paused, longest, requests));
            }
        }
    }

    @Test
    void collectionsOfGarbageAtOneEndChangeNothing() throws Exception {
        long start = System.nanoTime();
        InetAddress address = LoopbackAddress.find(4_791);
        try (var server = new PeerProcess("rocev2", address)) {
            server.listen();
            try (var load =
                    new LoadProcess("rocev2", address, Duration.ofMillis(500), Duration.ofSeconds(1), 7, true)) {
                load.begin(GoalRun.size(750, 300_000));
                load.awaitDone();
                GoalRun.report(
                        "F4",
                        start,
                        "%,d requests from a process that collects garbage all the time: completed once, every byte right"
                                .formatted(load.finish()));
            }
        }
    }

    /// A process that gets no processor is not dead (decision 08): it is waited for much longer than the timeouts of
    /// the connection say, and not for ever.
    @Test
    void aStoppedProcessOfThisHostIsWaitedForButNotForEver() throws Exception {
        ConnectionParameters impatient =
                ConnectionParameters.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(16)), 2, 7);
        InetAddress address = LoopbackAddress.find(4_791);
        try (var server = new PeerProcess("rocev2", address);
                Context device = Device.named("rocev2").open()) {
            server.listen();
            var options = ConnectionOptions.defaults().withDevice(device).withParameters(_ -> impatient);
            try (Connection connection =
                    Connection.connect(new InetSocketAddress(address, PeerProcess.PORT), options)) {
                RemoteMemory memory = PeerProcess.greeted(connection);
                long before = System.nanoTime();
                signal("STOP", server.process());
                awaitFailure(connection, memory);
                assertThat(System.nanoTime() - before).isGreaterThan(WAITED_FOR.toNanos());
            }
        }
    }

    /// The peer is stopped for longer than the connection's timeouts: the connection ends, and the test checks
    /// when. The portable link does not see what its peer has not read, as if it were on another host.
    @Test
    void aConnectionToAStoppedProcessEndsAsItsTimesSay() throws Exception {
        long start = System.nanoTime();
        int rounds = GoalRun.size(5, 100);
        InetAddress address = LoopbackAddress.find(4_791);
        ConnectionParameters watchful =
                ConnectionParameters.defaults().withKeepAlive(KEEP_ALIVE).withRetries(ACK_TIMEOUT, RETRIES, 7);
        long silence = ACK_TIMEOUT.duration().multipliedBy(RETRIES + 1).toNanos();
        // The keep-alive probe leaves up to a sixteenth later, and possibly right after the stop.
        long idleMost = silence + KEEP_ALIVE.toNanos() * 17 / 16;
        var busyTook = new ArrayList<Long>();
        var idleTook = new ArrayList<Long>();
        try (var lateness = new Lateness();
                var server = new PeerProcess("rocev2", address);
                Context device = Device.named("rocev2,link=portable").open()) {
            server.listen();
            var options = ConnectionOptions.defaults().withDevice(device).withParameters(_ -> watchful);
            var to = new InetSocketAddress(address, PeerProcess.PORT);
            for (int i = 0; i < rounds; i++) {
                boolean isBusy = i % 2 == 0;
                try (Connection connection = Connection.connect(to, options)) {
                    RemoteMemory memory = PeerProcess.greeted(connection);
                    long _ = lateness.takeWorstNanos();
                    long starvedBefore = Lateness.nanosWithoutProcessor();
                    long before = System.nanoTime();
                    signal("STOP", server.process());
                    long stopped = System.nanoTime();
                    if (isBusy) {
                        awaitFailure(connection, memory);
                    } else {
                        awaitEnd(connection);
                    }
                    long ended = System.nanoTime();
                    signal("CONT", server.process());

                    // Six timers run out one after the other, and each thread that waits for one may run late. This
                    // thread waits for most, and has worked hard before.
                    long starved = Lateness.nanosWithoutProcessor() - starvedBefore;
                    long allowance = TimeUnit.MILLISECONDS.toNanos(20)
                            + Math.max(starved, (RETRIES + 2) * lateness.takeWorstNanos());
                    assertThat(ended - before)
                            .as("nanoseconds, at least, " + (isBusy ? "under load" : "idle"))
                            .isGreaterThan(silence * 8 / 10);
                    assertThat(ended - stopped)
                            .as("nanoseconds, at most, " + (isBusy ? "under load" : "idle"))
                            .isLessThan((isBusy ? silence : idleMost) * 12 / 10 + allowance);
                    (isBusy ? busyTook : idleTook).add(TimeUnit.NANOSECONDS.toMillis(ended - stopped));
                }
            }
        }
        GoalRun.report(
                "F4",
                start,
                "a connection to a stopped process ended after %s ms under load (%d configured) and %s ms idle (%d to %d)"
                        .formatted(
                                busyTook,
                                TimeUnit.NANOSECONDS.toMillis(silence),
                                idleTook,
                                TimeUnit.NANOSECONDS.toMillis(silence),
                                TimeUnit.NANOSECONDS.toMillis(idleMost)));
    }

    /// WRITEs until a request fails.
    private static void awaitFailure(Connection connection, RemoteMemory memory) throws InterruptedException {
        MemoryRegion local = connection.allocate(64);
        var wc = new WorkCompletion();
        do {
            connection.queuePair().postWrite(1, local.slice(0, 64), memory);
            assertThat(connection.queuePair().options().sendCq().await(wc, Duration.ofSeconds(20)))
                    .as("a hang")
                    .isTrue();
        } while (wc.ok());
        // Where this process had no processor meanwhile, a keep-alive has ended the connection first.
        assertThat(wc.status()).isIn(WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
    }

    /// Waits for a message that never comes; returns when the connection ended.
    private static void awaitEnd(Connection connection) throws InterruptedException {
        try {
            connection.receive(connection.allocate(64).slice(0, 64));
            throw new AssertionError("something came");
        } catch (ConnectionException _) {
            // Expected.
        }
    }

    /// By kill(1): only to processes that this test has started.
    private static void signal(String name, Process process) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertThat(kill.waitFor()).as("kill -%s", name).isZero();
    }
}
