package verbena.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.demo.DemoVerdict.Sleeps;

/// The demo says what its figures say.
class DemoVerdictTest {
    @Test
    void whatIsSlowerIsCalledSlowerWithThePartThatIsToBlame() {
        assertThat(new DemoVerdict("rocev2@127.0.0.1", 2, 0.234, 0.71, 0.4, 0.14, new Sleeps(0.3, 2.04, 0.98)).lines())
                .containsExactly(
                        "WRITE moves less than the TCP socket, 0.23 x; 71 % of the processor time of both ends was the"
                                + " kernel's.",
                        "  Each packet of at most 4 KiB passes the kernel by itself, where TCP hands over 64 KiB at a"
                                + " time;",
                        "  and each has a checksum by the processor. A card does both without the kernel.",
                        "A polled message is slower than the TCP socket's, 0.40 x; threads slept 0.30 times for it.",
                        "  Both ends poll without a pause, and need a core each; 2 can be used here.",
                        "An awaited message is slower than the TCP socket's, 0.14 x; threads slept 2.0 times for it.",
                        "  For a message of the socket they slept 0.98 times.",
                        "  The kernel wakes an application after each sleep, and Verbena's engine as well.");
    }

    @Test
    void whatIsFasterNeedsNoExcuse() {
        assertThat(new DemoVerdict("rocev2", 2, 1.3, 0.5, 6.7, 1.02, new Sleeps(0.001, 1, 1)).lines())
                .containsExactly(
                        "WRITE moves more than the TCP socket, 1.3 x; 50 % of the processor time of both ends was the"
                                + " kernel's.",
                        "A polled message is faster than the TCP socket's, 6.7 x; threads slept hardly ever for it.",
                        "An awaited message is as fast as the TCP socket's; threads slept 1.0 times for it.",
                        "  For a message of the socket they slept 1.0 times.");
    }

    @Test
    void nothingIsSaidThatIsNotKnown() {
        assertThat(new DemoVerdict("rxe0", 2, 0.5, null, 2, 0.5, null).lines())
                .containsExactly(
                        "WRITE moves less than the TCP socket, 0.50 x.",
                        "A polled message is faster than the TCP socket's, 2.0 x.",
                        "An awaited message is slower than the TCP socket's, 0.50 x.");
        assertThat(new DemoVerdict("iwarp", 2, 0.5, null, 2, 2, null).lines()).anyMatch(line -> line.contains("CRC"));
    }

    @ParameterizedTest
    @CsvSource({
        "0.00412, 3, 0.00412",
        "0.0996, 3, 0.0996",
        "0.07, 2, 0.070",
        "412.4, 3, 412",
        "12345, 3, '12,345'",
        "0, 2, 0",
        "1, 3, 1.00"
    })
    void noFigureIsRoundedToNothing(double value, int digits, String text) {
        assertThat(DemoVerdict.significant(value, digits)).isEqualTo(text);
    }
}
