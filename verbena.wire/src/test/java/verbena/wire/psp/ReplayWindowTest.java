package verbena.wire.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.wire.psp.PspVerdict.ACCEPTED;
import static verbena.wire.psp.PspVerdict.OLD;
import static verbena.wire.psp.PspVerdict.REPEATED;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayWindowTest {
    private final ReplayWindow window = new ReplayWindow();

    private PspVerdict offer(long iv) {
        PspVerdict verdict = window.check(iv);
        if (verdict == ACCEPTED) {
            window.accept(iv);
        }
        return verdict;
    }

    @Test
    void anIvIsAcceptedOnceInAnyOrder() {
        assertThat(offer(5)).isEqualTo(ACCEPTED);
        assertThat(offer(3)).isEqualTo(ACCEPTED);
        assertThat(offer(4)).isEqualTo(ACCEPTED);
        assertThat(offer(3)).isEqualTo(REPEATED);
        assertThat(offer(5)).isEqualTo(REPEATED);
        assertThat(offer(6)).isEqualTo(ACCEPTED);
        assertThat(offer(6)).isEqualTo(REPEATED);
    }

    @Test
    void askingChangesNothing() {
        assertThat(window.check(7)).isEqualTo(ACCEPTED);
        assertThat(window.check(7)).isEqualTo(ACCEPTED);
        window.accept(7);
        assertThat(window.check(100_000)).isEqualTo(ACCEPTED);
        assertThat(window.check(6)).isEqualTo(ACCEPTED);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 63, 64, 1_000_000, Long.MAX_VALUE, -1, -64, -1_000})
    void theWindowEndsAtItsWidthWhereverItIs(long newest) {
        assertThat(offer(newest)).isEqualTo(ACCEPTED);
        assertThat(offer(newest - ReplayWindow.WIDTH + 1)).isEqualTo(ACCEPTED);
        assertThat(offer(newest - ReplayWindow.WIDTH)).isEqualTo(OLD);
        assertThat(offer(newest + ReplayWindow.WIDTH)).isEqualTo(ACCEPTED);
        assertThat(offer(newest)).isEqualTo(OLD);
        assertThat(offer(newest + 1)).isEqualTo(ACCEPTED);
        assertThat(offer(newest + 1)).isEqualTo(REPEATED);
    }

    @Test
    void aLeapOfAnyLengthForgetsNothingThatIsInTheWindow() {
        for (long leap = 1; leap < 1L << 62; leap = leap * 3 + 1) {
            var leaping = new ReplayWindow();
            long first = -leap / 2;
            leaping.accept(first);
            leaping.accept(first + leap);
            assertThat(leaping.check(first + leap)).isEqualTo(REPEATED);
            assertThat(leaping.check(first)).isEqualTo(leap < ReplayWindow.WIDTH ? REPEATED : OLD);
            assertThat(leaping.check(first + leap - 1)).isEqualTo(leap == 1 ? REPEATED : ACCEPTED);
        }
    }

    /// Without a gap there are no bits; the first gap makes them, at any time and on both sides of it.
    @Test
    void aGapAfterAnyNumberOfIvsForgetsNothing() {
        for (int run : new int[] {1, 2, 63, 64, 65, 1_983, 1_984, 1_985, 2_048, 5_000}) {
            var window = new ReplayWindow();
            long from = -2_500;
            for (long iv = from; iv < from + run; iv++) {
                assertThat(window.check(iv)).isEqualTo(ACCEPTED);
                window.accept(iv);
            }
            long newest = from + run - 1;
            assertThat(window.check(from)).isEqualTo(run <= ReplayWindow.WIDTH ? REPEATED : OLD);
            assertThat(window.check(newest + 2)).isEqualTo(ACCEPTED);
            window.accept(newest + 2);
            assertThat(window.check(newest + 1)).isEqualTo(ACCEPTED);
            assertThat(window.check(newest + 2)).isEqualTo(REPEATED);
            for (long iv = Math.max(from, newest + 3 - ReplayWindow.WIDTH); iv <= newest; iv++) {
                assertThat(window.check(iv)).isEqualTo(REPEATED);
            }
            if (run < ReplayWindow.WIDTH - 3) {
                assertThat(window.check(from - 1)).isEqualTo(ACCEPTED);
                window.accept(from - 1);
                assertThat(window.check(from - 1)).isEqualTo(REPEATED);
            }
        }
    }

    /// The IVs wander over 0, so the modulus is in it.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void itSaysWhatASetOfAllIvsSays(long seed) {
        var random = new Random(seed);
        Set<Long> came = new HashSet<>();
        long newest = -20_000;
        assertThat(offer(newest)).isEqualTo(ACCEPTED);
        came.add(newest);
        for (int i = 0; i < 100_000; i++) {
            long iv = newest + random.nextInt(random.nextInt(50) == 0 ? 3_000 : 3) - random.nextInt(2_200);
            PspVerdict expected = newest - iv >= ReplayWindow.WIDTH ? OLD : came.contains(iv) ? REPEATED : ACCEPTED;
            assertThat(offer(iv)).as("%d after %d", iv, newest).isEqualTo(expected);
            if (expected == ACCEPTED) {
                came.add(iv);
                newest = Math.max(newest, iv);
            }
        }
        assertThat(newest).isPositive();
    }
}
