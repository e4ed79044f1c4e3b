package verbena.abi.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.abi.rsocket.DatagramMessage.Introduction;

/// What rsockets of datagrams say to each other, byte for byte: `struct ds_header` and `struct ds_udp_header` of
/// librdmacm.
class DatagramMessageTest {
    @ParameterizedTest
    @CsvSource({
        "192.0.2.7, 04 08 1c06 c0000207",
        "2001:db8::7, 06 18 1c06 00000000 20010db8000000000000000000000007",
    })
    void aNameIsWrittenAndRead(String host, String wanted) throws UnknownHostException {
        byte[] bytes = HexFormat.of().parseHex(wanted.replace(" ", ""));
        var name = new InetSocketAddress(InetAddress.getByName(host), 7174);
        assertThat(DatagramMessage.nameBytes(name.getAddress())).isEqualTo(bytes.length);

        var memory = MemorySegment.ofArray(new byte[bytes.length + 10]).fill((byte) 0x55);
        DatagramMessage.putName(name, memory, 5);
        assertThat(memory.asSlice(5, bytes.length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(bytes);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 4)).isEqualTo((byte) 0x55);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 5 + bytes.length)).isEqualTo((byte) 0x55);

        assertThat(DatagramMessage.name(memory, 5, bytes.length)).contains(name);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(DatagramMessage.name(memory, 5, length)).isEmpty();
        }
        memory.set(ValueLayout.JAVA_BYTE, 6, (byte) 9); // a length that none has
        assertThat(DatagramMessage.name(memory, 5, bytes.length)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "true, 192.0.2.7, 55555555 04 00 10 00 00012345 c0000207",
        "false, 2001:db8::7, 55555555 06 07 1c 00 00012345 20010db8000000000000000000000007",
    })
    void anIntroductionIsWrittenAndRead(boolean hasData, String host, String wanted) throws UnknownHostException {
        byte[] bytes = HexFormat.of().parseHex(wanted.replace(" ", ""));
        var it = new Introduction(hasData, 0x12345, InetAddress.getByName(host));
        ByteBuffer buffer = ByteBuffer.allocate(bytes.length + 3);
        it.put(buffer);
        assertThat(buffer.position()).isEqualTo(bytes.length).isEqualTo(it.bytes());
        assertThat(ByteBuffer.wrap(buffer.array(), 0, bytes.length)).isEqualTo(ByteBuffer.wrap(bytes));

        buffer.rewind();
        assertThat(Introduction.take(buffer)).contains(it);
        assertThat(buffer.remaining()).as("the datagram behind it").isEqualTo(3);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(Introduction.take(ByteBuffer.wrap(bytes, 0, length))).isEmpty();
        }
    }

    @Test
    void whatIsNoIntroductionIsNone() {
        assertThat(Introduction.take(ByteBuffer.allocate(100))).isEmpty();
        byte[] ofAnotherVersion = HexFormat.of().parseHex("55555555050010000001234500000000");
        assertThat(Introduction.take(ByteBuffer.wrap(ofAnotherVersion))).isEmpty();
        for (String qpn : new String[] {"00000000", "00000001", "00ffffff"}) { // of no queue pair for datagrams
            byte[] wrong = HexFormat.of().parseHex("5555555504001000" + qpn + "c0000207");
            assertThat(Introduction.take(ByteBuffer.wrap(wrong))).as(qpn).isEmpty();
        }
    }
}
