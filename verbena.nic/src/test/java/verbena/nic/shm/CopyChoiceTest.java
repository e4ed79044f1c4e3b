package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CopyChoiceTest {
    private final CopyChoice choice = new CopyChoice();
    private long ordinary = 100;
    private long past = 100;

    /// Makes copies of 64 KiB; returns how many of them passed the caches.
    private int copies(int count) {
        int passed = 0;
        for (int i = 0; i < count; i++) {
            boolean isTimed = choice.begin();
            boolean isPast = choice.isPast();
            passed += isPast ? 1 : 0;
            if (isTimed) {
                choice.timed(64 << 10, isPast ? past : ordinary);
            }
        }
        return passed;
    }

    @Test
    void atFirstCopiesAreOrdinary() {
        assertThat(copies(CopyChoice.PAUSE_MIN + CopyChoice.SAMPLES)).isZero();
        assertThat(copies(CopyChoice.SAMPLES)).isEqualTo(CopyChoice.SAMPLES);
        assertThat(copies(CopyChoice.PAUSE_MIN)).isZero();
    }

    @Test
    void copiesPassTheCachesWhereThatIsMuchFaster() {
        ordinary = 160;
        int compared = copies(CopyChoice.PAUSE_MIN + 2 * CopyChoice.SAMPLES);
        assertThat(compared).isEqualTo(CopyChoice.SAMPLES);
        assertThat(copies(CopyChoice.PAUSE_MIN)).isEqualTo(CopyChoice.PAUSE_MIN);
    }

    /// The peer reads from memory then, which is slower.
    @Test
    void aLittleFasterIsNotEnough() {
        ordinary = 140;
        int _ = copies(10_000);
        assertThat(choice.isPast()).isFalse();
    }

    @Test
    void itChangesItsMind() {
        ordinary = 300;
        int _ = copies(1_000);
        assertThat(choice.isPast()).isTrue();
        ordinary = 20;
        int _ = copies(2 * CopyChoice.PAUSE_MAX);
        assertThat(choice.isPast()).isFalse();
    }

    @Test
    void comparisonsThatChangeNothingBecomeRare() {
        int _ = copies(100_000);
        assertThat(copies(100_000)).isLessThan(100_000 / 500);
    }

    /// A copy that was interrupted is slow in either way.
    @Test
    void oneSlowCopyDecidesNothing() {
        past = 90;
        int _ = copies(CopyChoice.PAUSE_MIN);
        for (int i = 0; i < 2 * CopyChoice.SAMPLES; i++) {
            assertThat(choice.begin()).isTrue();
            choice.timed(64 << 10, i == 1 ? 1_000_000 : 100);
        }
        assertThat(copies(CopyChoice.PAUSE_MIN)).isZero();
    }
}
