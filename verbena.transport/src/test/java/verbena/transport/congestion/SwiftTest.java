package verbena.transport.congestion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/// A window by delay (Kumar et al., SIGCOMM 2020, algorithm 1).
class SwiftTest {
    private static final SwiftOptions OPTIONS = new SwiftOptions(20_000, 0, 1, 0.8, 0.5);

    private final Swift sender = new Swift(OPTIONS, 64, 1_000);

    @Test
    void aSenderBeginsWithTheWholeWindow() {
        assertThat(sender.limit()).isEqualTo(64);
        assertThat(sender.bitsPerSecond(0)).isInfinite();
    }

    @Test
    void aLongRoundTripCutsInProportionToWhatIsTooMuch() {
        sender.roundTrip(40_000, 1_000_000); // half of it is too much
        assertThat(sender.window()).isCloseTo(64 * (1 - 0.8 / 2), within(1e-9));
    }

    @Test
    void aCutTakesNoMoreThanItsShareAndComesOnceInARoundTrip() {
        sender.roundTrip(10_000_000, 100_000_000);
        assertThat(sender.window()).isEqualTo(32);
        sender.roundTrip(10_000_000, 109_999_999);
        assertThat(sender.window()).isEqualTo(32);
        sender.roundTrip(10_000_000, 110_000_000);
        assertThat(sender.window()).isEqualTo(16);
    }

    @Test
    void aWindowThatIsAnsweredInTimeGrowsByOnePacket() {
        sender.roundTrip(10_000_000, 100_000_000);
        sender.roundTrip(10_000, 200_000_000);
        for (int i = 0; i < 32; i++) {
            sender.answered(1, 32);
        }
        assertThat(sender.window()).isCloseTo(33, within(0.05));
    }

    @Test
    void aWindowOfLessThanOnePacketIsAPause() {
        for (int i = 1; i <= 10; i++) {
            sender.roundTrip(1_000_000, i * 10_000_000L);
        }
        assertThat(sender.window()).isLessThan(1);
        assertThat(sender.limit()).isEqualTo(1);
        assertThat(sender.bitsPerSecond(0)).isCloseTo(sender.window() * 8_000 * 1_000, within(1.0));
    }

    @Test
    void aLossCutsByTheGreatestShare() {
        sender.lost(5, 0);
        assertThat(sender.window()).isEqualTo(32);
    }

    @Test
    void theTargetIsLongerForASmallWindow() {
        var crowd = new Swift(new SwiftOptions(20_000, 16_000, 1, 0.8, 0.5), 16, 1_000);
        crowd.roundTrip(24_001, 0); // 20 us and a quarter of 16 us
        assertThat(crowd.window()).isLessThan(16).isGreaterThan(15.9);
    }

    @Test
    void optionsThatMeanNothingAreRefusedByName() {
        assertThatThrownBy(() -> new SwiftOptions(0, 0, 1, 0.8, 0.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("targetNanos");
        assertThatThrownBy(() -> new SwiftOptions(1, 0, 1, 0.8, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cutMax");
    }
}
