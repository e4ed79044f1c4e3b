package verbena.wire.pcap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PcapngBlocksTest {
    private static final MemorySegment BYTES = MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();

    private void start() {
        file.writeBytes(PcapngBlocks.section("Verbena"));
        file.writeBytes(PcapngBlocks.interfaceDescription(LinkType.ETHERNET, "rocev2_eth0", "the first"));
        file.writeBytes(PcapngBlocks.interfaceDescription(LinkType.RAW_IP, "iwarp", "the second"));
    }

    private CaptureReader reader() throws IOException {
        return CaptureReader.of(new ByteArrayInputStream(file.toByteArray()));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 8})
    void whatIsWrittenIsRead(int length) throws IOException {
        start();
        file.writeBytes(PcapngBlocks.packet(
                0,
                1_700_000_000_123_456_789L,
                BYTES,
                length,
                length,
                PcapngBlocks.INBOUND,
                3,
                "dropped: größer als erlaubt"));
        file.writeBytes(PcapngBlocks.packet(1, 5, BYTES, length, length + 9, PcapngBlocks.OUTBOUND, 0, null));
        file.writeBytes(PcapngBlocks.statistics(0, 6, 4, 3));

        try (CaptureReader reader = reader()) {
            CapturedPacket first = reader.next();
            assertThat(first.nanos()).isEqualTo(1_700_000_000_123_456_789L);
            assertThat(first.linkType()).isEqualTo(LinkType.ETHERNET);
            assertThat(first.bytes().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOf(BYTES.toArray(ValueLayout.JAVA_BYTE), length));
            assertThat(first.comment()).isEqualTo("dropped: größer als erlaubt");
            CapturedPacket second = reader.next();
            assertThat(second.linkType()).isEqualTo(LinkType.RAW_IP);
            assertThat(second.comment()).isEmpty();
            assertThat(reader.next()).isNull();
        }
    }

    @Test
    void aBlockThatWasMadeElsewhereGetsItsInterface() throws IOException {
        start();
        byte[] block = PcapngBlocks.packet(0, 77, BYTES, 8, 8, PcapngBlocks.INBOUND, 0, "x");
        assertThat(PcapngBlocks.length(block, 0)).isEqualTo(block.length);
        assertThat(PcapngBlocks.nanos(block, 0)).isEqualTo(77);
        PcapngBlocks.interfaceNumber(block, 0, 1);
        file.writeBytes(block);

        try (CaptureReader reader = reader()) {
            assertThat(reader.next().linkType()).isEqualTo(LinkType.RAW_IP);
        }
    }

    /// Whatever stands where options should be, the packet is read.
    @Test
    void optionsThatAreNoneEndTheComments() throws IOException {
        start();
        byte[] block = PcapngBlocks.packet(0, 77, BYTES, 8, 8, PcapngBlocks.INBOUND, 0, "seen");
        int comment = block.length - 4 - 4 - 8; // before the end of options and the length: code, length, text
        block[comment + 2] = (byte) 0xF0; // longer than the block
        file.writeBytes(block);

        try (CaptureReader reader = reader()) {
            CapturedPacket packet = reader.next();
            assertThat(packet.bytes().byteSize()).isEqualTo(8);
            assertThat(packet.comment()).isEmpty();
        }
    }
}
