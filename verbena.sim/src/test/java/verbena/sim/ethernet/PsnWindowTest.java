package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PsnWindowTest {
    @Test
    void whatHasComeWithoutAGapIsBelowTheBase() {
        var window = new PsnWindow(100);
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
        var window = new PsnWindow(110);
        var come = new TreeSet<Long>();
        for (int i = 0; i < 50_000; i++) {
            long psn = window.base() + random.nextInt(110);
            assertThat(window.isIn(psn)).isTrue();
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
}
