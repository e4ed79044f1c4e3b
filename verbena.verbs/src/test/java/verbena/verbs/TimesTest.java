package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Durations in five bits: RNR timers (IBTA table 46) and local ACK timeouts (IBTA 9.7.6.1.3).
class TimesTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
            # code, ms
            0,  655.36
            1,  .01
            2,  .02
            5,  .06
            8,  .16
            12, .64
            16, 2.56
            19, 7.68
            20, 10.24
            25, 61.44
            30, 327.68
            31, 491.52
            """)
    void anRnrCodeStandsForItsEntryInTheTable(int code, double milliseconds) {
        assertThat(new RnrTimer(code).nanos()).isEqualTo(Math.round(milliseconds * 1e6));
        assertThat(RnrTimer.atLeast(new RnrTimer(code).duration()).code()).isEqualTo(code);
    }

    @Test
    void rnrCodesGrowAndTheLongestIsZero() {
        for (int code = 2; code < 32; code++) {
            assertThat(new RnrTimer(code).nanos()).isGreaterThan(new RnrTimer(code - 1).nanos());
        }
        assertThat(new RnrTimer(0).nanos()).isGreaterThan(new RnrTimer(31).nanos());
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            PT0S,         1
            PT0.000001S,  1
            PT0.0000101S, 2
            PT0.010241S,  21
            PT0.5S,       0
            PT0.65536S,   0
            """)
    void aDurationBecomesTheNextRnrCodeThatIsNotShorter(Duration duration, int code) {
        assertThat(RnrTimer.atLeast(duration).code()).isEqualTo(code);
    }

    @Test
    void whatNoRnrCodeCanSayIsRefused() {
        assertThatThrownBy(() -> RnrTimer.atLeast(Duration.ofMillis(656)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("655.36 ms");
        assertThatThrownBy(() -> RnrTimer.atLeast(Duration.ofDays(200_000)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RnrTimer.atLeast(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            # code, ns
            0,  0
            1,  8192
            14, 67108864
            17, 536870912
            18, 1073741824
            31, 8796093022208
            """)
    void anAckTimeoutDoublesWithEachCode(int code, long nanos) {
        assertThat(new AckTimeout(code).duration().toNanos()).isEqualTo(nanos);
        assertThat(new AckTimeout(code).duration()).isEqualTo(Duration.ofNanos(nanos));
        if (code > 0) {
            assertThat(AckTimeout.atLeast(Duration.ofNanos(nanos)).code()).isEqualTo(code);
        }
    }

    @Test
    void aDurationBecomesTheNextAckTimeoutThatIsNotShorter() {
        assertThat(AckTimeout.atLeast(Duration.ZERO).code()).isEqualTo(1);
        assertThat(AckTimeout.atLeast(Duration.ofNanos(1)).code()).isEqualTo(1);
        assertThat(AckTimeout.atLeast(Duration.ofNanos(8193)).code()).isEqualTo(2);
        assertThat(AckTimeout.atLeast(Duration.ofMillis(68)).code()).isEqualTo(15);
    }

    @Test
    void whatNoAckTimeoutCanSayIsRefused() {
        assertThatThrownBy(() -> AckTimeout.atLeast(Duration.ofHours(3))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AckTimeout.atLeast(Duration.ofDays(200_000)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AckTimeout.atLeast(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new AckTimeout(32)).isInstanceOf(IllegalArgumentException.class);
    }
}
