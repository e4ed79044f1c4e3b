package verbena.tools.kit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LegibleTest {
    @ParameterizedTest
    @CsvSource({"-0.04, 0.0 us", "-0.0, 0.0 us", "-0.05, -0.1 us", "0.04, 0.0 us", "-10, -10.0 us"})
    void aFigureIsNeverNegativeZero(double value, String expected) {
        assertThat(Legible.figure("%.1f us", value)).isEqualTo(expected);
    }
}
