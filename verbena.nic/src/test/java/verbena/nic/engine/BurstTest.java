package verbena.nic.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The doorbells that may wait for others, in virtual time.
class BurstTest {
    private static final long ME = 7;
    private static final long ANOTHER = 8;

    private final Burst burst = new Burst();
    /// A monotonic clock may begin anywhere.
    private long now = -3 * Tuning.PAUSE_NANOS_MAX;

    private boolean waits(long thread) {
        return burst.mayWait(thread, 1, 8, now);
    }

    @Test
    void theFirstDoorbellLeavesAtOnceAndThoseBehindItWait() {
        assertThat(waits(ME)).isFalse();
        assertThat(waits(ME)).isTrue();
        assertThat(waits(ME)).isTrue();
    }

    @Test
    void aThreadThatPollsBeginsAnew() {
        assertThat(waits(ME)).isFalse();
        burst.end(ME);
        assertThat(waits(ME)).isFalse();
        assertThat(waits(ME)).isTrue();
    }

    @Test
    void whatAnotherThreadPostsLeavesAtOnce() {
        assertThat(waits(ME)).isFalse();
        assertThat(waits(ANOTHER)).isFalse();
        burst.end(ME); // not its burst
        assertThat(waits(ANOTHER)).isTrue();
    }

    @Test
    void noMoreRequestsWaitThanMakeALongRow() {
        assertThat(waits(ME)).isFalse();
        assertThat(burst.mayWait(ME, Tuning.BURST_REQUESTS_MAX, 8, now)).isTrue();
        assertThat(waits(ME)).as("together with the waiting ones").isFalse();
        assertThat(burst.mayWait(ME, Tuning.BURST_REQUESTS_MAX + 1, 8, now)).isFalse();
    }

    @Test
    void largeMessagesLeaveAtOnce() {
        assertThat(waits(ME)).isFalse();
        assertThat(burst.mayWait(ME, 1, Tuning.BURST_BYTES_MAX, now)).isTrue();
        assertThat(burst.mayWait(ME, 1, 1, now)).isFalse();
        assertThat(burst.mayWait(ME, 1, Tuning.BURST_BYTES_MAX + 1, now)).isFalse();
    }

    @Test
    void doorbellsThatRingSlowlyLeaveOneByOne() {
        for (int i = 0; i < 5; i++) {
            assertThat(waits(ME)).isFalse();
            now += Tuning.BURST_NANOS_MAX;
        }
        assertThat(burst.isOver(now)).isTrue();
    }

    @Test
    void afterAForgottenDoorbellNoneWaitsForAWhile() {
        assertThat(waits(ME)).isFalse();
        assertThat(waits(ME)).isTrue();
        assertThat(burst.isForgotten(now + Tuning.BURST_FORGOTTEN_NANOS - 1)).isFalse();
        now += Tuning.BURST_FORGOTTEN_NANOS;
        assertThat(burst.isForgotten(now)).isTrue();
        assertThat(pause()).isBetween(Tuning.PAUSE_NANOS_MIN, Tuning.PAUSE_NANOS_MIN + Tuning.BURST_NANOS_MAX);
    }

    /// How long no doorbell waits from now on.
    private long pause() {
        long start = now;
        while (!burst.mayWait(ME, 1, 8, now)) {
            now += Tuning.BURST_NANOS_MAX / 3;
        }
        return now - start;
    }

    private void forgets() {
        assertThat(waits(ME)).isFalse();
        assertThat(waits(ME)).isTrue();
        now += Tuning.BURST_FORGOTTEN_NANOS;
        assertThat(burst.isForgotten(now)).isTrue();
        long pause = pause();
        burst.end(ME); // polls at last
        assertThat(pause).isGreaterThanOrEqualTo(Tuning.PAUSE_NANOS_MIN);
    }

    @Test
    void aThreadThatPostsAndComputesForgetsSeldom() {
        long start = now;
        int forgotten = 0;
        while (now - start < 100 * Tuning.PAUSE_NANOS_MAX) {
            forgets();
            forgotten++;
        }
        assertThat(forgotten).isBetween(90, 110);
    }

    @Test
    void aThreadThatLosesItsProcessorNowAndThenIsForgiven() {
        for (int i = 0; i < 50; i++) {
            long start = now;
            forgets();
            assertThat(now - start).as("once more").isLessThan(3 * Tuning.PAUSE_NANOS_MIN);
            for (int good = 0; good < 100; good++) {
                assertThat(waits(ME)).isFalse();
                assertThat(waits(ME)).isTrue();
                burst.end(ME);
            }
        }
    }
}
