package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.wire.Frame;
import verbena.wire.Frames;

class PacketTest {
    private static final int RANDOM_PACKETS = 1_000_000;

    /// IBTA 9.1, 9.7.4.1.6.
    @ParameterizedTest
    @CsvSource(textBlock = """
            # what follows the opcode is BTH, headers, payload, pad, ICRC
            OK,             0400ffff0000005e8000a100 0000001d
            OK,             0410ffff0000005e8000a100 11223300 0000001d
            OK,             1100ffff0000005f0000a100 34000000 1d1a855f
            OK,             0600ffff0000005f0000a100 0000000000000000 00000000 00000000 11223344 00000000
            OK,             8100ffff4000011800000000 00000000 00000000 00000000 00000000 82fd002a
            TOO_SHORT,      0400ffff0000005e8000a100 000000
            TOO_SHORT,      04
            BAD_VERSION,    0401ffff0000005e8000a100 0000001d
            BAD_VERSION,    1f01ffff0000005e8000a100 0000001d
            UNKNOWN_OPCODE, 1f00ffff0000005e8000a100 0000001d
            UNKNOWN_OPCODE, ff00ffff0000005e8000a100 0000001d
            BAD_LENGTH,     1100ffff0000005f0000a100 1d1a855f
            BAD_LENGTH,     0400ffff0000005e8000a100 11 0000001d
            BAD_LENGTH,     0430ffff0000005e8000a100 0000001d
            BAD_LENGTH,     1400ffff0000005a8000a100 00000000 6c82dd37
            BAD_PAD,        1110ffff0000005f0000a100 34000000 00000000 1d1a855f
            BAD_PAYLOAD,    1100ffff0000005f0000a100 34000000 00000000 1d1a855f
            BAD_PAYLOAD,    0c00ffff0000005f0000a100 0000000000000000 00000000 00000000 11223344 00000000
            BAD_PAYLOAD,    8100ffff4000011800000000 82fd002a
            """)
    void theShapeOfAPacketIsJudged(Malformed verdict, String packet) {
        assertThat(Packet.check(Frames.of(packet))).isEqualTo(verdict);
    }

    @Test
    void aPacketLargerThanAFrameIsTooLong() {
        Frame frame = Frames.of("0400ffff0000005e8000a100 0000001d");
        frame.length = Frame.PACKET_MAX;
        assertThat(Packet.check(frame)).isEqualTo(Malformed.OK);
        frame.length = Frame.PACKET_MAX + 4;
        assertThat(Packet.check(frame)).isEqualTo(Malformed.TOO_LONG);
    }

    @Test
    void payloadLiesBetweenHeadersAndPad() {
        Frame frame =
                Frames.of("0b10ffff000000548000a100 0000000036311100 0000003d 00000003 11223344 aabbcc00 00000000");
        Opcode opcode = Packet.opcode(frame);
        assertThat(opcode).isEqualTo(Opcode.RC_WRITE_ONLY_IMMEDIATE);
        assertThat(Packet.payloadBytes(frame, opcode)).isEqualTo(3);
        MemorySegment payload = frame.slot.asSlice(Packet.payloadOffset(frame, opcode), 3);
        assertThat(Frames.hex(payload)).isEqualTo("aabbcc");
        assertThat(Packet.length(opcode, 3)).isEqualTo(frame.length);
    }

    @Test
    void padFillsTheLastWord() {
        assertThat(new int[] {Packet.padCount(0), Packet.padCount(1), Packet.padCount(2), Packet.padCount(3)})
                .containsExactly(0, 3, 2, 1);
        assertThat(Packet.padCount(4)).isZero();
    }

    /// Whatever arrives: a declared verdict, and after OK every getter of the opcode's headers stays inside the
    /// packet.
    @Test
    void aMillionRandomPacketsOnlyDrawDeclaredVerdicts() {
        var random = new Random(42);
        Frame frame = Frames.empty();
        byte[] bytes = new byte[96];
        Map<Malformed, Integer> verdicts = new EnumMap<>(Malformed.class);
        for (int i = 0; i < RANDOM_PACKETS; i++) {
            random.nextBytes(bytes);
            if ((i & 1) == 0) {
                bytes[1] &= (byte) 0xF0; // half of them with the right version
            }
            MemorySegment.copy(bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, bytes.length);
            frame.length = random.nextInt(bytes.length + 1);
            Malformed verdict = Packet.check(frame);
            verdicts.merge(verdict, 1, Integer::sum);
            if (verdict == Malformed.OK) {
                Opcode opcode = Packet.opcode(frame);
                assert opcode.headerBytes() + Packet.payloadBytes(frame, opcode) <= frame.length - Packet.ICRC_BYTES;
                assert Packet.payloadBytes(frame, opcode) >= 0;
            }
        }
        assertThat(verdicts)
                .containsOnlyKeys(
                        Malformed.OK,
                        Malformed.TOO_SHORT,
                        Malformed.BAD_VERSION,
                        Malformed.UNKNOWN_OPCODE,
                        Malformed.BAD_LENGTH,
                        Malformed.BAD_PAD,
                        Malformed.BAD_PAYLOAD);
        assertThat(verdicts.get(Malformed.OK)).isGreaterThan(10_000);
    }
}
