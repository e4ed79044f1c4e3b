package verbena.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.wire.Frames;
import verbena.wire.Golden;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Field;
import verbena.wire.mad.Mad;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.Encapsulation;

/// The messages of the connection manager, with those that two Linux kernels said to each other (IBTA 12.6.5,
/// 12.6.6, 12.6.7, 12.6.8, 12.6.9, 12.6.10, 12.6.11, 12.8.1, 12.8.2, 12.11.1, 12.11.2).
class CmMessagesTest {
    static List<Path> captures() throws IOException {
        return Golden.captures("cm-");
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everyMessageIsTakenApartAndRebuiltByteForByte(Path capture) throws IOException {
        List<MemorySegment> mads = mads(capture);
        assertThat(mads).isNotEmpty();
        MemorySegment rebuilt = Arena.ofAuto().allocate(Mad.BYTES);
        for (MemorySegment mad : mads) {
            CmMessage message = Objects.requireNonNull(CmMessage.read(mad));
            rebuilt.fill((byte) 0x5A);
            message.write(rebuilt);
            assertThat(Frames.hex(rebuilt)).as(message.toString()).isEqualTo(Frames.hex(mad));
        }
    }

    @Test
    void aConnectionIsMadeAndEnded() throws IOException {
        List<CmMessage> said = messages("cm-rping");
        assertThat(said.stream().map(message -> message.getClass().getSimpleName()))
                .containsExactly("Req", "Rep", "Rtu", "Dreq", "Drep");
        var req = (Req) said.get(0);
        assertThat(req.serviceId()).isEqualTo(IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7174));
        assertThat(req.transportType()).isEqualTo(Req.RC);
        assertThat(req.pathMtu()).isEqualTo(5);
        assertThat(req.maxCmRetries()).isEqualTo(15);
        assertThat(req.pkey()).isEqualTo(0xFFFF);
        assertThat(req.primary().localLid()).isEqualTo(0xFFFF);
        assertThat(req.primary().localGidLow()).isEqualTo(0xFFFF_0A4D_000BL);
        assertThat(req.primary().remoteGidLow()).isEqualTo(0xFFFF_0A4D_000CL);
        assertThat(req.primary().hopLimit()).isEqualTo(64);
        assertThat(req.primary().ackTimeout()).isEqualTo(19);
        assertThat(req.alternate()).isEqualTo(CmPath.NONE);
        IpCmHeader header = Objects.requireNonNull(IpCmHeader.read(req.privateData()));
        assertThat(header.isIpv4()).isTrue();
        assertThat(header.sourceLow()).isEqualTo(0xFFFF_0A4D_000BL);
        assertThat(header.destinationLow()).isEqualTo(0xFFFF_0A4D_000CL);
        assertThat(header.before(req.privateData().from(IpCmHeader.BYTES))).isEqualTo(req.privateData());

        var rep = (Rep) said.get(1);
        assertThat(rep.remoteCommId()).isEqualTo(req.localCommId());
        assertThat(rep.transactionId()).isEqualTo(req.transactionId());
        var dreq = (Dreq) said.get(3);
        assertThat(List.of(req.localQpn(), rep.localQpn())).contains(dreq.remoteQpn());
    }

    @Test
    void aRefusalSaysWhy() throws IOException {
        var nobody = (Rej) messages("cm-reject-no-listener").get(1);
        assertThat(RejectReason.of(nobody.reason())).isEqualTo(RejectReason.INVALID_SERVICE_ID);
        var no = (Rej) messages("cm-reject-by-app").get(1);
        assertThat(RejectReason.of(no.reason())).isEqualTo(RejectReason.CONSUMER_REJECT);
        assertThat(new String(no.privateData().bytes(), java.nio.charset.StandardCharsets.US_ASCII))
                .startsWith("no thanks\0");
        assertThat(RejectReason.of(34)).isNull();
        assertThat(RejectReason.of(-1)).isNull();
        assertThat(RejectReason.of(36)).isNull();
    }

    /// LAP and APR, of which Linux sends none: byte for byte as their tables have them (IBTA 12.8.1, 12.8.2).
    @Test
    void messagesAboutAnotherPathLieAsTheStandardHasThem() {
        var path = new CmPath(
                0x0102,
                0x0304,
                0x1111_1111_1111_1111L,
                0x2222_2222_2222_2222L,
                0x3333_3333_3333_3333L,
                0x4444_4444_4444_4444L,
                0xABCDE,
                0x15,
                0x66,
                0x77,
                0x8,
                true,
                0x12);
        var lap = new Lap(9, 0x0A0B_0C0D, 0x0E0F_1011, 0x12_3456, 0x13, path, PrivateData.of((byte) 0x99));
        isLaidOut(lap, 0x19, """
                0a0b0c0d 0e0f1011 00000000 12345698 00000000 01020304
                1111111111111111 2222222222222222 3333333333333333 4444444444444444
                abcde066 77158890 99
                """);
        var apr = new Apr(
                9, 0x0A0B_0C0D, 0x0E0F_1011, 1, Apr.INVALID_LID, PrivateData.of((byte) 0x55), PrivateData.of((byte)
                        0x99));
        isLaidOut(apr, 0x1A, "0a0b0c0d 0e0f1011 01070000 55" + "00".repeat(71) + "99");
    }

    private static void isLaidOut(CmMessage message, int attribute, String body) {
        MemorySegment mad = Arena.ofAuto().allocate(Mad.BYTES).fill((byte) 0x5A);
        message.write(mad);
        String expected = body.replaceAll("\\s", "");
        String written = Frames.hex(mad.asSlice(Mad.HEADER_BYTES, Mad.BYTES - Mad.HEADER_BYTES));
        assertThat(Mad.attributeId(mad)).isEqualTo(attribute);
        assertThat(written).isEqualTo(expected + "00".repeat(Mad.BYTES - Mad.HEADER_BYTES - expected.length() / 2));
        MemorySegment again = Arena.ofAuto().allocate(Mad.BYTES);
        Objects.requireNonNull(CmMessage.read(mad)).write(again);
        assertThat(again.mismatch(mad)).isEqualTo(-1);
    }

    /// Each field lies where the standard's table has it: all ones in it, and only there.
    @ParameterizedTest
    @CsvSource({
        "0, 0, 32, 0, 3",
        "35, 0, 8, 35, 35",
        "43, 5, 2, 43, 43",
        "88, 0, 20, 88, 90",
        "91, 2, 6, 91, 91",
        "56, 0, 64, 56, 63"
    })
    void aFieldTouchesNoOther(int octet, int bit, int bits, int first, int last) {
        var field = new Field(octet, bit, bits);
        MemorySegment zeroes = Arena.ofAuto().allocate(232);
        field.put(zeroes, -1);
        int set = 0;
        for (int i = 0; i < 232; i++) {
            int value = zeroes.get(java.lang.foreign.ValueLayout.JAVA_BYTE, i) & 0xFF;
            set += Integer.bitCount(value);
            assertThat(value == 0 || (i >= first && i <= last)).isTrue();
        }
        assertThat(set).isEqualTo(bits);
        MemorySegment ones = Arena.ofAuto().allocate(232).fill((byte) -1);
        field.put(ones, 0);
        assertThat(field.get(ones)).isZero();
        field.put(ones, -1);
        assertThat(ones.mismatch(Arena.ofAuto().allocate(232).fill((byte) -1))).isEqualTo(-1);
    }

    @Test
    void whateverArrivesIsAMessageOrNone() {
        var random = new Random(7);
        MemorySegment mad = Arena.ofAuto().allocate(Mad.BYTES);
        MemorySegment again = Arena.ofAuto().allocate(Mad.BYTES);
        int known = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] junk = new byte[Mad.BYTES];
            random.nextBytes(junk);
            if (random.nextInt(4) != 0) {
                junk[0] = 1;
                junk[1] = Mad.CLASS_CM;
                junk[2] = Mad.CM_VERSION;
                junk[3] = Mad.METHOD_SEND;
                junk[16] = 0;
                junk[17] = (byte) (0x0E + random.nextInt(14));
            }
            mad.copyFrom(MemorySegment.ofArray(junk));
            CmMessage message = CmMessage.read(mad);
            if (message != null) {
                known++;
                message.write(again);
                assertThat(CmMessage.read(again)).isEqualTo(message);
            }
        }
        assertThat(known).isGreaterThan(5_000);
    }

    @Test
    void privateDataHaveTheirLimits() {
        var rtu = new Rtu(1, 2, 3, PrivateData.of(new byte[Rtu.PRIVATE_DATA_BYTES + 1]));
        assertThatThrownBy(() -> rtu.write(Arena.ofAuto().allocate(Mad.BYTES)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("private data: at most 224 bytes fit, got 225");
        assertThat(IpCmHeader.read(PrivateData.of(new byte[35]))).isNull();
        assertThat(IpCmHeader.read(PrivateData.of(new byte[36]))).isNull();
        assertThat(PrivateData.of((byte) 1).from(5)).isEqualTo(PrivateData.NONE);
    }

    private static List<CmMessage> messages(String capture) throws IOException {
        var messages = new ArrayList<CmMessage>();
        for (MemorySegment mad : mads(Golden.root().resolve("golden/" + capture + ".pcap"))) {
            messages.add(Objects.requireNonNull(CmMessage.read(mad)));
        }
        return messages;
    }

    private static List<MemorySegment> mads(Path capture) throws IOException {
        var mads = new ArrayList<MemorySegment>();
        var encapsulation = new Encapsulation();
        try (var reader = CaptureReader.open(capture)) {
            for (var packet = reader.next(); packet != null; packet = reader.next()) {
                var frame = Frames.empty();
                encapsulation.unwrap(packet.linkType(), packet.bytes(), frame);
                if (frame.length > 0 && Bth.destinationQp(frame.slot, frame.start) == Mad.QPN) {
                    assertThat(Packet.payloadBytes(frame, Opcode.UD_SEND_ONLY)).isEqualTo(Mad.BYTES);
                    mads.add(frame.slot.asSlice(Packet.payloadOffset(frame, Opcode.UD_SEND_ONLY), Mad.BYTES));
                }
            }
        }
        return mads;
    }
}
