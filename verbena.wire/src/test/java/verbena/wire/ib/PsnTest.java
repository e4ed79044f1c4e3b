package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// IBTA 9.7.2: 24 bits on a circle.
class PsnTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
            # psn     n        psn + n
            0x000000, 1,       0x000001
            0xffffff, 1,       0x000000
            0xffffff, 2,       0x000001
            0x000000, -1,      0xffffff
            0x000005, -10,     0xfffffb
            0x123456, 0,       0x123456
            0xfffff0, 0x1000,  0x000ff0
            """)
    void addingGoesRoundTheCircle(String psn, String n, String sum) {
        assertThat(Psn.add(Integer.decode(psn), Integer.decode(n))).isEqualTo(Integer.decode(sum));
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            # from    to        distance
            0x000000, 0x000000, 0
            0x000000, 0x000001, 1
            0x000001, 0x000000, -1
            0xffffff, 0x000000, 1
            0x000000, 0xffffff, -1
            0x000000, 0x7fffff, 8388607
            0x000000, 0x800000, -8388608
            0x800000, 0x000000, -8388608
            0xfffffe, 0x000003, 5
            """)
    void distanceIsTheShorterWayRound(String from, String to, int distance) {
        assertThat(Psn.distance(Integer.decode(from), Integer.decode(to))).isEqualTo(distance);
    }

    /// The duplicate region around the expected PSN is `[E - 2^23, E - 1]`, the region ahead `[E + 1, E + 2^23 -
    /// 1]`.
    @Test
    void thePointOppositeCountsAsBefore() {
        for (int expected : new int[] {0, 1, 0x7F_FFFF, 0x80_0000, 0xFF_FFFF}) {
            assertThat(Psn.isBefore(Psn.add(expected, -Psn.HALF), expected)).isTrue();
            assertThat(Psn.isBefore(Psn.previous(expected), expected)).isTrue();
            assertThat(Psn.isBefore(expected, expected)).isFalse();
            assertThat(Psn.isAfter(expected, expected)).isFalse();
            assertThat(Psn.isAfter(Psn.next(expected), expected)).isTrue();
            assertThat(Psn.isAfter(Psn.add(expected, Psn.HALF - 1), expected)).isTrue();
            assertThat(Psn.isAfter(Psn.add(expected, Psn.HALF), expected)).isFalse();
        }
    }

    @Test
    void laterAndEarlierAreThoseOnTheCircle() {
        assertThat(Psn.max(0xFF_FFFF, 2)).isEqualTo(2);
        assertThat(Psn.max(2, 0xFF_FFFF)).isEqualTo(2);
        assertThat(Psn.min(0xFF_FFFF, 2)).isEqualTo(0xFF_FFFF);
        assertThat(Psn.max(7, 7)).isEqualTo(7);
    }

    @Test
    void aRangeMayCrossZero() {
        assertThat(Psn.isWithin(0xFF_FFFF, 0xFF_FFFE, 4)).isTrue();
        assertThat(Psn.isWithin(1, 0xFF_FFFE, 4)).isTrue();
        assertThat(Psn.isWithin(2, 0xFF_FFFE, 4)).isFalse();
        assertThat(Psn.isWithin(0xFF_FFFD, 0xFF_FFFE, 4)).isFalse();
        assertThat(Psn.isWithin(5, 5, 0)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            # bytes     mtu   PSNs
            0,          256,  1
            1,          256,  1
            256,        256,  1
            257,        256,  2
            3000,       1024, 3
            3072,       1024, 3
            2147483648, 256,  8388608
            2147483648, 4096, 524288
            """)
    void aMessageTakesOnePsnPerPacketAndAtLeastOne(long bytes, int mtu, int psns) {
        assertThat(Psn.count(bytes, mtu)).isEqualTo(psns);
    }
}
