package verbena.nic.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PatienceTest {
    private final Patience patience = new Patience();

    private void yields(int times, long tookNanos) {
        for (int i = 0; i < times; i++) {
            patience.yielded(tookNanos);
        }
    }

    @Test
    void isLongAtFirst() {
        assertThat(patience.nanos()).isEqualTo(Tuning.YIELD_AFTER_NANOS_MAX);
    }

    /// The peer polls on the same processor: it runs, answers, and yields in its turn.
    @Test
    void becomesShortWhileAnotherThreadThatPollsHasTheSameProcessor() {
        yields(3, 8_000);
        assertThat(patience.nanos()).isEqualTo(Tuning.YIELD_AFTER_NANOS_MAX / 8);
        yields(10, 8_000);
        assertThat(patience.nanos()).isEqualTo(Tuning.YIELD_AFTER_NANOS_MIN);
    }

    @Test
    void becomesLongAgainWhenNobodyElseWantsTheProcessor() {
        yields(10, 8_000);
        yields(2, 500);
        assertThat(patience.nanos()).isEqualTo(4 * Tuning.YIELD_AFTER_NANOS_MIN);
        yields(10, 500);
        assertThat(patience.nanos()).isEqualTo(Tuning.YIELD_AFTER_NANOS_MAX);
    }

    /// Otherwise each look would cost a time slice.
    @Test
    void isLongAtOnceWhenAYieldHasCostATimeSlice() {
        yields(10, 8_000);
        yields(1, 4_000_000);
        assertThat(patience.nanos()).isEqualTo(Tuning.YIELD_AFTER_NANOS_MAX);
    }
}
