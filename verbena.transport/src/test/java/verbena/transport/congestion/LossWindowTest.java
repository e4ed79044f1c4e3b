package verbena.transport.congestion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// How large the window is that losses leave (decision 06).
class LossWindowTest {
    private static final long ROUND_TRIP_NANOS = 200_000;

    @Test
    void lossesThatAreRepairedOneByOneLeaveTwiceThePacketsBetweenTwoOfThem() {
        assertThat(meanLimit(0.05, true)).isCloseTo(40, within(10.0));
        assertThat(meanLimit(0.02, true)).isCloseTo(100, within(20.0));
        assertThat(meanLimit(0.005, true)).isGreaterThan(120);
    }

    @Test
    void lossesThatOneGoesBackForLeaveTheLeast() {
        assertThat(meanLimit(0.05, false)).isLessThan(6);
    }

    @Test
    void halfAWindowLostMakesItAQuarterSmaller() {
        var window = full();
        for (int i = 0; i < 64; i++) {
            window.repaired(1, ROUND_TRIP_NANOS);
        }
        assertThat(window.limit()).isEqualTo(96);
        for (int i = 0; i < 1_000; i++) {
            window.repaired(1, ROUND_TRIP_NANOS);
        }
        assertThat(window.limit()).isEqualTo(LossWindow.PACKETS_MIN);
    }

    private static LossWindow full() {
        var window = new LossWindow(PeerWindow.PACKETS_MAX);
        for (int i = 0; i < PeerWindow.PACKETS_MAX; i++) {
            window.answered(1, PeerWindow.PACKETS_MAX);
        }
        assertThat(window.limit()).isEqualTo(PeerWindow.PACKETS_MAX);
        return window;
    }

    private static double meanLimit(double loss, boolean isRepaired) {
        var random = new SplittableRandom(1);
        var window = full();
        int trips = 20_000;
        double sum = 0;
        for (int trip = 0; trip < trips; trip++) {
            long now = trip * ROUND_TRIP_NANOS;
            int limit = window.limit();
            for (int i = 0; i < limit; i++) {
                if (random.nextDouble() >= loss) {
                    window.answered(1, limit);
                } else if (isRepaired) {
                    window.repaired(now, ROUND_TRIP_NANOS);
                } else {
                    window.lost(now, ROUND_TRIP_NANOS);
                }
            }
            sum += limit;
        }
        return sum / trips;
    }
}
