package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.wire.Frame;
import verbena.wire.Frames;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.Unwrapped;

/// IBTA 7.7 to 7.9: packets of native links and their checksums.
class NativePacketTest {
    /// The standard's sample of a local packet (IBTA 7.8), without its CRCs: LRH, BTH, RETH, 14 bytes and padding.
    private static final String SAMPLE_LOCAL = """
            7012375c000e17d2 0a20248700 87b1b3000dec2a 01710a1c015d4002 38f27a05 0000000e
            bb884d85fd5cfba4728bc0690ed4 0000
            """;
    /// A global packet with the same message.
    private static final String SAMPLE_GLOBAL = """
            7013375c001817d2 6120000000301b10 00000000000001250000000000000026
            00000000000001170000000000000096 0a20248700 87b1b3000dec2a 01710a1c015d4002 38f27a05 0000000e
            bb884d85fd5cfba4728bc0690ed4 0000
            """;

    /// The same with ones for all that may change on the way.
    private static final String MASKED_GLOBAL = """
            ffffffffffffffff 6fffffff00301bff 00000000000001250000000000000026
            00000000000001170000000000000096 0a202487ff 87b1b3000dec2a 01710a1c015d4002 38f27a05 0000000e
            bb884d85fd5cfba4728bc0690ed4 0000
            """;

    private static final int LINKTYPE_ERF = 197;

    private final NativePacket packets = new NativePacket();

    private static MemorySegment memory(String hex) {
        byte[] bytes = Frames.bytes(hex);
        MemorySegment memory = Arena.ofAuto().allocate(bytes.length);
        return memory.copyFrom(MemorySegment.ofArray(bytes));
    }

    /// Long division of polynomials, bit by bit from the highest power on: as the standard's text has it.
    private static String vcrcByDivision(String hex) {
        int rest = 0xFFFF;
        for (byte each : Frames.bytes(hex)) {
            for (int bit = 0; bit < 8; bit++) {
                int top = rest >>> 15 ^ (each >>> bit & 1);
                rest = (rest << 1 & 0xFFFF) ^ (top == 0 ? 0 : 0x100B);
            }
        }
        int sent = Integer.reverse(~rest) >>> 16;
        return "%02x%02x".formatted(sent & 0xFF, sent >>> 8);
    }

    @Test
    void theVcrcIsThatOfDivisionAtEveryLength() {
        var random = new Random(7);
        for (int length = 0; length < 70; length++) {
            byte[] bytes = new byte[length + 2];
            random.nextBytes(bytes);
            MemorySegment memory = MemorySegment.ofArray(bytes);
            Vcrc.seal(memory, 0, length);
            assertThat(Vcrc.verify(memory, 0, length)).isTrue();
            String hex = Frames.hex(memory);
            assertThat(hex.substring(2 * length)).isEqualTo(vcrcByDivision(hex.substring(0, 2 * length)));
        }
    }

    private static String icrcOfGlobal() {
        var crc = new CRC32();
        crc.update(Frames.bytes(MASKED_GLOBAL));
        return "%08x".formatted(Integer.reverseBytes((int) crc.getValue()));
    }

    @Test
    void theSampleOfTheStandardHasItsIcrcAndAGlobalPacketToo() {
        assertThat(sealed(SAMPLE_LOCAL, 7)).endsWith("9625b75a" + vcrcByDivision(SAMPLE_LOCAL + "9625b75a"));
        assertThat(sealed(SAMPLE_GLOBAL, 7)).endsWith(icrcOfGlobal() + vcrcByDivision(SAMPLE_GLOBAL + icrcOfGlobal()));
    }

    /// Reads a packet, damages all CRCs, and writes it again.
    private String sealed(String hex, int lane) {
        MemorySegment memory = memory(hex + "00000000 0000");
        int bytes = (int) memory.byteSize();
        Frame frame = Frames.empty();
        int start = NativePacket.read(memory, 0, bytes, frame);
        assertThat(start).isPositive();
        assertThat(packets.verify(memory, NativePacket.buffer(memory), 0, bytes))
                .isFalse();
        MemorySegment.copy(memory, start, frame.slot, frame.start, frame.length);
        packets.write(frame, lane);
        int before = NativePacket.headerBytes(frame);
        assertThat(before).isEqualTo(start);
        MemorySegment written = frame.slot.asSlice((long) frame.start - before, bytes);
        assertThat(packets.verify(frame.slot, frame.buffer, frame.start - before, bytes))
                .isTrue();
        return Frames.hex(written);
    }

    @Test
    void aSwitchMayChangeTheLaneAndNothingElse() {
        String hex = sealed(SAMPLE_LOCAL, 7);
        MemorySegment memory = memory(hex);
        int bytes = (int) memory.byteSize();
        for (int bit = 0; bit < (bytes - Vcrc.BYTES) * 8; bit++) {
            MemorySegment damaged = memory(hex);
            flip(damaged, bit);
            assertThat(packets.verify(damaged, NativePacket.buffer(damaged), 0, bytes))
                    .isFalse();
            Vcrc.seal(damaged, 0, bytes - Vcrc.BYTES);
            boolean isVariant = (bit >>> 3 == 0 && (bit & 7) >= 4) || bit >>> 3 == Lrh.BYTES + 4;
            assertThat(packets.verify(damaged, NativePacket.buffer(damaged), 0, bytes))
                    .as("bit %d", bit)
                    .isEqualTo(isVariant);
        }
    }

    private static void flip(MemorySegment memory, int bit) {
        int at = bit >>> 3;
        byte before = memory.get(ValueLayout.JAVA_BYTE, at);
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << (bit & 7)));
    }

    @Test
    void aLocalPacketHasLidsForAddresses() {
        MemorySegment memory = memory(SAMPLE_LOCAL + "00000000 0000");
        Frame frame = Frames.empty();
        assertThat(NativePacket.read(memory, 0, (int) memory.byteSize(), frame)).isEqualTo(Lrh.BYTES);
        assertThat(frame.sourceHigh).isZero();
        assertThat(frame.sourceLow).isEqualTo(0x17D2);
        assertThat(frame.destinationLow).isEqualTo(0x375C);
        assertThat(frame.local.destinationLid).isEqualTo(0x375C);
        assertThat(frame.serviceLevel).isEqualTo(1);
        assertThat(frame.length).isEqualTo(48);
    }

    @Test
    void anyBytesAreReadOrRefused() {
        var random = new Random(8);
        Frame frame = Frames.empty();
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = Frames.bytes(round % 2 == 0 ? SAMPLE_LOCAL : SAMPLE_GLOBAL);
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            int length = random.nextInt(bytes.length + 1);
            MemorySegment memory = MemorySegment.ofArray(bytes).asSlice(0, length);
            int start = NativePacket.read(memory, 0, length, frame);
            if (start >= 0) {
                assertThat(start + frame.length + Vcrc.BYTES).isEqualTo(length);
            } else {
                assertThat(start).isIn(NativePacket.MALFORMED, NativePacket.FOREIGN);
            }
        }
    }

    @Test
    void aFlowControlPacketIsTakenApartAndBuilt() {
        MemorySegment packet = Arena.ofAuto().allocate(FlowControl.BYTES);
        FlowControl.write(packet, 0, FlowControl.INIT, 0x1ABC, 3, 0xDEF);
        assertThat(Frames.hex(packet)).isEqualTo("1abc3def" + vcrcByDivision("1abc3def"));
        assertThat(FlowControl.operand(packet, 0)).isEqualTo(FlowControl.INIT);
        assertThat(FlowControl.totalBlocksSent(packet, 0)).isEqualTo(0xABC);
        assertThat(FlowControl.virtualLane(packet, 0)).isEqualTo(3);
        assertThat(FlowControl.creditLimit(packet, 0)).isEqualTo(0xDEF);
        for (int bit = 0; bit < FlowControl.BYTES * 8; bit++) {
            assertThat(FlowControl.verify(packet, 0)).isTrue();
            flip(packet, bit);
            assertThat(FlowControl.verify(packet, 0)).isFalse();
            flip(packet, bit);
        }
    }

    @Test
    void blocksAreRoundedUp() {
        assertThat(List.of(1, 64, 65, 4 * 64)).extracting(FlowControl::blocks).containsExactly(1, 1, 2, 4);
    }

    /// The judge that we have not written. Not every version of it knows LINKTYPE_INFINIBAND in files, but all know
    /// records of type ERF with the same bytes.
    @Test
    void anIndependentDecoderReadsTheCapture(@TempDir Path folder) throws Exception {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":", -1)).anyMatch(p -> Files.isExecutable(Path.of(p, "tshark"))),
                "tshark is not installed");
        Path file = folder.resolve("ib.pcapng");
        try (var capture = CaptureWriter.pcap(Files.newOutputStream(file), LINKTYPE_ERF)) {
            capture.write(1, erf(sealed(SAMPLE_LOCAL, 14)));
            capture.write(2, erf(sealed(SAMPLE_GLOBAL, 3)));
        }
        assertThat(tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error"))
                .isBlank();
        assertThat(tshark(
                        file,
                        "-T",
                        "fields",
                        "-e",
                        "infiniband.lrh.vl",
                        "-e",
                        "infiniband.lrh.dlid",
                        "-e",
                        "infiniband.lrh.slid",
                        "-e",
                        "infiniband.grh.paylen",
                        "-e",
                        "infiniband.bth.destqp",
                        "-e",
                        "infiniband.reth.dmalen",
                        "-e",
                        "infiniband.variant.crc"))
                .isEqualTo("""
                        0x0e\t14172\t6098\t\t0x87b1b3\t14\t0x%s
                        0x03\t14172\t6098\t48\t0x87b1b3\t14\t0x%s
                        """.formatted(
                                vcrcByDivision("e0" + SAMPLE_LOCAL.strip().substring(2) + "9625b75a"),
                                vcrcByDivision("30" + SAMPLE_GLOBAL.strip().substring(2) + icrcOfGlobal())));
    }

    /// Time, type 21, flags, lengths of record and packet, no losses.
    private static MemorySegment erf(String hex) {
        int bytes = Frames.bytes(hex).length;
        return memory("0000000000000000 1504 %04x 0000 %04x".formatted(bytes + 16, bytes) + hex);
    }

    @Test
    void aCapturedPacketIsTakenOutAndPutBack() {
        for (String sample : List.of(SAMPLE_LOCAL, SAMPLE_GLOBAL)) {
            String hex = sealed(sample, 5);
            Frame frame = Frames.empty();
            Unwrapped unwrapped = new Encapsulation().unwrap(LinkType.INFINIBAND, memory(hex), frame);
            assertThat(frame.icrcValid).isTrue();
            assertThat(frame.length).isEqualTo(48);
            MemorySegment out = Arena.ofAuto().allocate(hex.length());
            int bytes = Encapsulation.wrap(frame, ((Unwrapped.Roce) unwrapped).envelope(), out);
            assertThat(Frames.hex(out.asSlice(0, bytes))).isEqualTo(hex);
            assertThat(new Encapsulation().unwrap(LinkType.INFINIBAND, memory(hex.substring(0, 80)), frame))
                    .isInstanceOf(Unwrapped.Other.class);
        }
    }

    private static String tshark(Path file, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("tshark", "-r", file.toString()));
        command.addAll(List.of(arguments));
        Process tshark = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String out = new String(tshark.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tshark.waitFor()).isZero();
        return out;
    }
}
