package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What an AETH says (IBTA 9.7.5.1.1).
class SyndromeTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
            0x1f, ACK,      ACK
            0x00, ACK,      ACK credits 0
            0x20, RNR_NAK,  RNR timer 0
            0x34, RNR_NAK,  RNR timer 20
            0x40, RESERVED, syndrome 0x40
            0x60, NAK,      NAK sequence
            0x61, NAK,      NAK invalid-request
            0x62, NAK,      NAK access
            0x63, NAK,      NAK operational
            0x64, NAK,      NAK invalid-rd-request
            0x65, RESERVED, syndrome 0x65
            0x80, RESERVED, syndrome 0x80
            0xff, RESERVED, syndrome 0xff
            """)
    void aSyndromeHasAKindAndAText(String syndrome, Syndrome.Kind kind, String text) {
        int value = Integer.decode(syndrome);
        assertThat(Syndrome.kind(value)).isEqualTo(kind);
        assertThat(Syndrome.text(value)).isEqualTo(text);
        assertThat(Syndrome.isAck(value)).isEqualTo(kind == Syndrome.Kind.ACK);
        assertThat(Syndrome.isRnrNak(value)).isEqualTo(kind == Syndrome.Kind.RNR_NAK);
        assertThat(Syndrome.isNak(value)).isEqualTo(kind == Syndrome.Kind.NAK);
    }
}
