package verbena.transport.congestion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/// The reaction point of DCQCN by the equations of its paper (Zhu et al., SIGCOMM 2015, 3.1).
class DcqcnTest {
    private static final double LINE = 40e9;
    private static final double STEP = DcqcnOptions.PAPER.aiRate();
    private static final long PERIOD = 55_000;

    private final Dcqcn sender = new Dcqcn(DcqcnOptions.PAPER, LINE, 1_000);

    @Test
    void aSenderBeginsWithTheRateOfItsLine() {
        assertThat(sender.bitsPerSecond(0)).isEqualTo(LINE);
        sender.sent(1_000_000_000, 5);
        assertThat(sender.bitsPerSecond(1_000_000_000)).isEqualTo(LINE);
    }

    @Test
    void theFirstNotificationHalvesTheRate() {
        sender.notified(1_000);
        assertThat(sender.bitsPerSecond(1_000)).isEqualTo(LINE / 2);
    }

    @Test
    void aNotificationRaisesTheEstimateByGAndSilenceLowersIt() {
        double g = DcqcnOptions.PAPER.gd();
        sender.notified(0);
        assertThat(sender.alpha(0)).isEqualTo(1);
        assertThat(sender.alpha(PERIOD - 1)).isEqualTo(1);
        assertThat(sender.alpha(PERIOD)).isEqualTo(1 - g);
        assertThat(sender.alpha(3 * PERIOD)).isCloseTo(Math.pow(1 - g, 3), within(1e-12));
        double before = sender.alpha(3 * PERIOD);
        sender.notified(3 * PERIOD);
        assertThat(sender.alpha(3 * PERIOD)).isCloseTo((1 - g) * before + g, within(1e-12));
    }

    @Test
    void aNotificationBeforeTheMonitorPeriodIsOverCutsNothingMore() {
        sender.notified(0);
        sender.notified(DcqcnOptions.PAPER.monitorNanos() - 1);
        assertThat(sender.bitsPerSecond(DcqcnOptions.PAPER.monitorNanos())).isEqualTo(LINE / 2);
        sender.notified(DcqcnOptions.PAPER.monitorNanos());
        assertThat(sender.bitsPerSecond(DcqcnOptions.PAPER.monitorNanos())).isCloseTo(LINE / 4, within(LINE / 1_000));
    }

    @Test
    void fiveRisesGoHalfTheWayBackEach() {
        sender.notified(0);
        double rate = LINE / 2;
        for (int i = 1; i <= 5; i++) {
            rate = (LINE + rate) / 2;
            assertThat(sender.bitsPerSecond(i * PERIOD)).isCloseTo(rate, within(1.0));
        }
    }

    @Test
    void laterRisesRaiseTheTarget() {
        sender.notified(0);
        sender.notified(100_000); // below the line, so that there is something to raise
        double target = sender.bitsPerSecond(100_000) / (1 - sender.alpha(100_000) / 2);
        double fifth = sender.bitsPerSecond(100_000 + 5 * PERIOD);
        double sixth = sender.bitsPerSecond(100_000 + 6 * PERIOD);
        assertThat(sixth - fifth).isGreaterThan(STEP / 2 - 1).isLessThan(target);
        double hundredth = sender.bitsPerSecond(100_000 + 100 * PERIOD);
        double next = sender.bitsPerSecond(100_000 + 101 * PERIOD);
        assertThat(next - hundredth).isCloseTo(STEP, within(1.0));
    }

    @Test
    void manyRisesByTimeAndByBytesGrowFast() {
        sender.notified(0);
        sender.notified(100_000);
        long now = 100_000;
        for (int i = 1; i <= 6; i++) {
            now += PERIOD;
            sender.sent((int) DcqcnOptions.PAPER.byteReset(), now);
        }
        double before = sender.bitsPerSecond(now);
        sender.sent((int) DcqcnOptions.PAPER.byteReset(), now);
        assertThat(sender.bitsPerSecond(now) - before).isGreaterThan(STEP);
    }

    @Test
    void noCutGoesBelowTheLeastRate() {
        for (int i = 0; i < 1_000; i++) {
            sender.notified(i * 50_000L);
        }
        assertThat(sender.bitsPerSecond(1_000 * 50_000L)).isGreaterThanOrEqualTo(DcqcnOptions.PAPER.minRate());
    }

    @Test
    void aSenderThatIsLeftInPeaceComesBackToItsLine() {
        sender.notified(0);
        sender.notified(50_000);
        assertThat(sender.bitsPerSecond(10_000_000_000L)).isEqualTo(LINE);
        assertThat(sender.alpha(100_000_000_000L)).isZero();
    }

    @Test
    void theRateDoesNotDependOnHowOftenItIsAskedFor() {
        var other = new Dcqcn(DcqcnOptions.PAPER, LINE, 1_000);
        sender.notified(0);
        other.notified(0);
        for (long now = 0; now < 2_000_000; now += 777) {
            double rate = sender.bitsPerSecond(now);
            assertThat(rate).isPositive();
        }
        assertThat(other.bitsPerSecond(2_000_000)).isEqualTo(sender.bitsPerSecond(2_000_000));
        assertThat(other.alpha(2_000_000)).isEqualTo(sender.alpha(2_000_000));
    }

    @Test
    void optionsThatMeanNothingAreRefusedByName() {
        assertThatThrownBy(() -> DcqcnOptions.PAPER.rises(0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("timeResetNanos: 0 is");
        assertThat(DcqcnOptions.PAPER.forLink(100e9).aiRate()).isEqualTo(100e6);
    }
}
