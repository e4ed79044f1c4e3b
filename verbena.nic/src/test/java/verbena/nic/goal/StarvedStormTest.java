package verbena.nic.goal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.nic.link.LoopbackAddress;

/// Goals F1 and F4 within a host: messages over `shm` without packets, and over `rocev2`. Two processes send each
/// other messages, and have too few processors. One or the other gets none for several ACK timeouts, again and
/// again. Each message comes once, in order, with its bytes, none is completed that has not come, and no connection
/// ends.
@Timeout(7_200)
class StarvedStormTest {
    private static final Duration ACK_TIMEOUT = Duration.ofMillis(10);
    private static final int PAUSE_MILLIS_MAX = 60;
    /// One pause in so many is as long as all retries together, and longer.
    private static final int LONG_PAUSES = 20;

    private static final int LONG_PAUSE_MILLIS = 500;

    private final Random random = new Random(GoalRun.seed());

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void processesWithoutAProcessorLoseAndDoubleNoMessageAndEndNoConnection(String kind) throws Exception {
        assumeTrue(Kinds.isHere(kind), "no " + kind + " here");
        long start = System.nanoTime();
        int pauses = GoalRun.size(20, 20_000);
        InetAddress address = LoopbackAddress.find(4_791);
        try (var one = new StormProcess(kind, address, 0, ACK_TIMEOUT);
                var other = new StormProcess(kind, address, Integer.parseInt(one.hear()), ACK_TIMEOUT)) {
            assertThat(one.hear()).isEqualTo("connected");
            assertThat(other.hear()).isEqualTo("connected");
            for (int i = 0; i < pauses; i++) {
                Process paused = (random.nextBoolean() ? one : other).process();
                signal("STOP", paused);
                waitFor(
                        i % LONG_PAUSES == LONG_PAUSES - 1 ? LONG_PAUSE_MILLIS : random.nextInt(PAUSE_MILLIS_MAX),
                        paused);
                signal("CONT", paused);
                waitFor(random.nextInt(PAUSE_MILLIS_MAX), paused);
            }
            one.goOn();
            other.goOn();
            long sentByOne = Long.parseLong(one.hear().substring("sent ".length()));
            long sentByOther = Long.parseLong(other.hear().substring("sent ".length()));
            one.goOn();
            other.goOn();
            assertThat(other.hear()).isEqualTo("received " + sentByOne + " mistakes 0 ended 0");
            assertThat(one.hear()).isEqualTo("received " + sentByOther + " mistakes 0 ended 0");
            assertThat(Math.min(sentByOne, sentByOther)).as("messages").isGreaterThan(100);
            GoalRun.report(
                    "F4",
                    start,
                    "%,d messages over %s between two processes, %d pauses of one of them: each came once and in order"
                            .formatted(sentByOne + sentByOther, kind, pauses));
        }
    }

    private static void waitFor(int millis, Process process) throws InterruptedException {
        assertThat(process.waitFor(millis, TimeUnit.MILLISECONDS))
                .as("a process of the storm has ended")
                .isFalse();
    }

    /// By kill(1): only to processes that this test has started.
    private static void signal(String name, Process process) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertThat(kill.waitFor()).as("kill -%s", name).isZero();
    }
}
