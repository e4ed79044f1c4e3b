package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PsnWindowTest {
    @Test
    void whatHasComeWithoutAGapIsBelowTheBase() {
        var window = new PsnWindow();
        assertThat(window.add(0)).isTrue();
        assertThat(window.add(2)).isTrue();
        assertThat(window.add(2)).isFalse();
        window.advance();
        assertThat(window.base()).isEqualTo(1);
        assertThat(window.has(1)).isFalse();
        assertThat(window.has(2)).isTrue();
        assertThat(window.end()).isEqualTo(3);
    }

    @Test
    void aWindowHoldsWhatASetHolds() {
        var random = new Random(3);
        var window = new PsnWindow();
        var come = new TreeSet<Long>();
        for (int i = 0; i < 50_000; i++) {
            long psn = window.base() + random.nextInt(110);
            assertThat(window.add(psn)).isEqualTo(come.add(psn));
            window.advance();
            long base = 0;
            while (come.contains(base)) {
                base++;
            }
            if (i % 1_000 == 0) {
                assertThat(window.base()).isEqualTo(base);
            }
            if (base > 2_000) {
                break;
            }
        }
        for (long psn = window.base(); psn < window.base() + 110; psn++) {
            assertThat(window.has(psn)).isEqualTo(come.contains(psn));
        }
    }

    @Test
    void aWindowGrowsAndKeepsWhatHasCome() {
        var window = new PsnWindow();
        for (long psn = 1; psn < 10_000; psn += 3) {
            window.add(psn);
        }
        for (long psn = 0; psn < 10_000; psn++) {
            assertThat(window.has(psn)).isEqualTo(psn % 3 == 1);
        }
        window.add(0);
        window.advance();
        assertThat(window.base()).isEqualTo(2);
        assertThat(window.bits(3)).as("4, 7 and so on").isEqualTo(0x2492492492492492L);
    }

    @Test
    void bitsTellAnotherWindowWhatHasCome() {
        var window = new PsnWindow();
        for (long psn : new long[] {1, 5, 64, 100}) {
            window.add(psn);
        }
        var other = new PsnWindow();
        other.addAll(1, window.bits(1));
        other.addAll(65, window.bits(65));
        for (long psn = 0; psn < 150; psn++) {
            assertThat(other.has(psn)).isEqualTo(window.has(psn));
        }
    }
}
