package verbena.stream.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.stream.protocol.StreamMessage.Hello;
import verbena.verbs.cm.PrivateData;

/// What rsockets say to each other, byte for byte: `struct rs_conn_data` and immediate data of librdmacm.
class StreamMessageTest {
    private static final Hello HELLO = new Hello(
            false, 384, 1, 0x1122_3344_5566_7788L, 0xA1A2_A3A4, 2, 0x7FFF_0000_1000L, 0xB1B2_B3B4, 0x8_0000, 0);

    /// Version 1, flags, credits, mappings; the list of targets; the first buffer.
    private static final byte[] BYTES = HexFormat.of().parseHex("""
        01 02 0180 000000 01
        1122334455667788 a1a2a3a4 00000002
        00007fff00001000 b1b2b3b4 00080000
        """.replaceAll("\\s", ""));

    @Test
    void helloIsWritten() {
        assertThat(HELLO.privateData().bytes()).isEqualTo(BYTES);
    }

    @Test
    void helloIsReadWithTheZeroesThatTheWirePutsBehindIt() {
        assertThat(Hello.parse(PrivateData.of(Arrays.copyOf(BYTES, 196)))).contains(HELLO);
    }

    @Test
    void theProtocolOfTheProgramIsTheLastByteThatRsocketsReserve() {
        Hello other = HELLO.withProtocol(0xFE);
        assertThat(other.privateData().bytes()[6]).isEqualTo((byte) 0xFE);
        assertThat(Hello.parse(other.privateData())).contains(other);
    }

    @Test
    void aHelloCutShortIsNone() {
        for (int length = 0; length < BYTES.length; length++) {
            assertThat(Hello.parse(PrivateData.of(Arrays.copyOf(BYTES, length))))
                    .as("%d bytes", length)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 2", "20, 0", "20, 0xff", "36, 0xff"}) // version; targets: too many; bytes of the buffer: negative
    void aHelloThatCannotBeIsNone(int at, String value) {
        byte[] wrong = BYTES.clone();
        if (value.equals("0")) {
            Arrays.fill(wrong, at, at + 4, (byte) 0);
        } else {
            wrong[at] = (byte) (int) Integer.decode(value);
        }
        assertThat(Hello.parse(PrivateData.of(wrong))).isEmpty();
    }

    @Test
    void aMessageIsThreeBitsOfKindAndTheRestValue() {
        int message = StreamMessage.of(StreamMessage.CONTROL, StreamMessage.SHUTDOWN);
        assertThat(message).isEqualTo(0xE000_0002);
        assertThat(StreamMessage.kind(message)).isEqualTo(StreamMessage.CONTROL);
        assertThat(StreamMessage.value(message)).isEqualTo(StreamMessage.SHUTDOWN);
        assertThat(StreamMessage.of(StreamMessage.CREDITS, 0x180)).isEqualTo(0x8000_0180);
        assertThat(StreamMessage.of(StreamMessage.DATA, 65_536)).isEqualTo(65_536);
    }

    /// A count has 8 bits.
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "128, 128", "256, 256", "300, 256", "513, 512", "32767, 32512"})
    void manyMappingsAreRoundedDown(int wanted, int told) {
        assertThat(StreamMessage.unscale(StreamMessage.scale(wanted))).isEqualTo(told);
    }
}
