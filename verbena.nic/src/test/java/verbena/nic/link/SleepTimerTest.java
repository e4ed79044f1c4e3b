package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.SleepTimer;

class SleepTimerTest {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;

    private boolean isSet;
    private long setNanos;
    private int settings;
    private int ended;

    /// A sleep of `timeout` at most that a message ends after `nanos`, unless the timer ends it earlier.
    private long sleep(long now, long timeout, long nanos) {
        if (!SleepTimer.serves(isSet, setNanos - now, timeout)) {
            settings++;
            isSet = true;
            setNanos = now + timeout;
        }
        if (setNanos - now >= nanos) {
            return now + nanos;
        }
        ended++;
        isSet = false;
        return setNanos;
    }

    /// A message every 20 µs, and a deadline that is always 1 ms away.
    @Test
    void anExchangeSetsItSeldomAndIsNeverEndedByIt() {
        long now = -5 * MS; // a monotonic clock may begin anywhere
        for (int i = 0; i < 10_000; i++) {
            now = sleep(now, MS, 20 * US);
        }
        assertThat(ended).isZero();
        assertThat(settings).isLessThan(300);
    }

    @Test
    void aSleepEndsInTime() {
        long late = 0;
        long now = 0;
        for (int i = 1; i < 10_000; i++) {
            long timeout = 1 + i * 7_919L % (3 * MS);
            long before = now;
            now = sleep(now, timeout, 1_000 * MS);
            late = Math.max(late, now - before - timeout);
        }
        assertThat(late).isBetween(0L, SleepTimer.LATE_NANOS);
    }

    @Test
    void aTimeMuchNearerThanTheOneThatIsSetIsSet() {
        sleep(0, 5_000 * MS, 20 * US);
        sleep(20 * US, MS, 20 * US);
        assertThat(settings).isEqualTo(2);
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "timerfd(2)")
    void theKernelTellsWhenTheTimeIsOver() {
        try (Arena arena = Arena.ofConfined()) {
            var timer = new SleepTimer(new LinuxSockets(arena), arena);
            try {
                var pollfd = arena.allocate(LinuxAbi.Pollfd.BYTES, 8);
                pollfd.set(JAVA_INT, LinuxAbi.Pollfd.FD, timer.fd());
                pollfd.set(JAVA_SHORT, LinuxAbi.Pollfd.EVENTS, (short) LinuxAbi.POLLIN);
                long start = System.nanoTime();
                timer.set(start, 2 * MS);
                assertThat(LinuxSockets.poll(pollfd, 1, MemorySegment.NULL)).isEqualTo(1);
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(2 * MS);
                timer.clear();
                var nothing = arena.allocate(LinuxAbi.Timespec.BYTES, 8);
                assertThat(LinuxSockets.poll(pollfd, 1, nothing)).isZero();
            } finally {
                timer.close();
            }
        }
    }
}
