package verbena.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/// How long a process took to become fast, from rates that no process had.
class RampUpTest {
    private final RampUp rampUp = new RampUp();

    @Test
    void itIsFastWithTheFirstRoundThatHasNineTenthsOfTheRateInTheEnd() {
        add(5, 20, 40, 89, 91, 80, 120, 100, 100, 100, 100, 30);
        assertThat(rampUp.millis()).isEqualTo(500);
        assertThat(rampUp.words())
                .isEqualTo("0.50 s after the process began; the rate is that at the end of the warm-up");
    }

    @Test
    void ratesThatStillGrowAreComparedWithTheLast() {
        add(10, 20, 30, 40, 50);
        assertThat(rampUp.millis()).isEqualTo(300);
    }

    @Test
    void oneRoundIsEnough() {
        add(7);
        assertThat(rampUp.millis()).isEqualTo(100);
    }

    @Test
    void withoutARoundThereIsNoAnswer() {
        assertThatThrownBy(rampUp::millis)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("there was no round");
    }

    private void add(double... rates) {
        long millis = 0;
        for (double rate : rates) {
            millis += 100;
            rampUp.add(millis, rate);
        }
    }
}
