package verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import verbena.wire.Frames;

/// Each header from golden bytes: taken apart, built into junk, and cut short (IBTA 9.3.1, 9.3.2, 9.3.3, 9.3.5,
/// 9.3.5.3, 9.3.6, 9.3.7, 9.5.3).
class HeadersTest {
    /// Of a soft-RoCE WRITE_ONLY_IMMEDIATE, with every flag set by hand.
    private static final String BTH = """
            0b    opcode
            f0    solicited, migrated, pad 3, version 0
            8001  pkey
            c0    fecn, becn
            000054 destination QP
            80    ackreq
            00a100 psn
            """;

    private static final String RETH = """
            0000000036311100 va
            0000003d         rkey
            02000064         len
            """;

    private static final String ATOMIC_ETH = """
            000000003632f200 va
            000043df         rkey
            aabbccddeeff0011 swap
            1122334455667788 compare
            """;

    private static final String GRH = """
            6 02 c0def                       version, traffic class, flow label
            001c 1b 40                       payload length, next header, hop limit
            fe800000000000000200000000000001 source
            00000000000000000000ffff0a4d000c destination
            """;

    @Test
    void aBthIsTakenApart() {
        MemorySegment s = segment(BTH);
        assertThat(Bth.opcode(s, 0)).isEqualTo(0x0B);
        assertThat(Bth.solicited(s, 0)).isTrue();
        assertThat(Bth.migrated(s, 0)).isTrue();
        assertThat(Bth.padCount(s, 0)).isEqualTo(3);
        assertThat(Bth.version(s, 0)).isZero();
        assertThat(Bth.pkey(s, 0)).isEqualTo(0x8001);
        assertThat(Bth.fecn(s, 0)).isTrue();
        assertThat(Bth.becn(s, 0)).isTrue();
        assertThat(Bth.destinationQp(s, 0)).isEqualTo(0x54);
        assertThat(Bth.ackRequest(s, 0)).isTrue();
        assertThat(Bth.psn(s, 0)).isEqualTo(0xA100);
    }

    @Test
    void aBthIsBuiltIntoJunk() {
        assertThat(built(Bth.BYTES, (s, o) -> {
                    Bth.write(s, o, Opcode.RC_WRITE_ONLY_IMMEDIATE, true, 3, 0x8001, 0x54, true, 0xA100);
                    Bth.setMigrated(s, o, true);
                    Bth.setFecn(s, o, true);
                    Bth.setBecn(s, o, true);
                    return o;
                }))
                .isEqualTo(hex(BTH));
    }

    @Test
    void writingABthLeavesNoOldBitBehind() {
        assertThat(built(Bth.BYTES, (s, o) -> {
                    Bth.write(s, o, Opcode.RC_SEND_FIRST, false, 0, 0, 0, false, 0);
                    return o;
                }))
                .isEqualTo("00".repeat(12));
    }

    @Test
    void eachFieldOfABthIsSetAlone() {
        MemorySegment s = segment(BTH);
        Bth.setOpcode(s, 0, 0x1F);
        Bth.setSolicited(s, 0, false);
        Bth.setPadCount(s, 0, 1);
        Bth.setVersion(s, 0, 9);
        Bth.setPkey(s, 0, 0xFFFF);
        Bth.setFecn(s, 0, false);
        Bth.setDestinationQp(s, 0, 0xABCDEF);
        Bth.setAckRequest(s, 0, false);
        Bth.setPsn(s, 0, 0x123456);
        assertThat(Frames.hex(s)).isEqualTo("1f59ffff40abcdef00123456");
    }

    @Test
    void aRethIsTakenApartAndBuilt() {
        MemorySegment s = segment(RETH);
        assertThat(Reth.virtualAddress(s, 0)).isEqualTo(0x36311100);
        assertThat(Reth.rkey(s, 0)).isEqualTo(0x3D);
        assertThat(Reth.dmaLength(s, 0)).isEqualTo(0x02000064);
        assertThat(built(Reth.BYTES, (t, o) -> {
                    Reth.write(t, o, 0x36311100, 0x3D, 0x02000064);
                    return o;
                }))
                .isEqualTo(hex(RETH));
    }

    @Test
    void theLengthOfARethHasNoSign() {
        MemorySegment s = segment("0000000000000000 00000000 ffffffff");
        assertThat(Reth.dmaLength(s, 0)).isEqualTo(0xFFFF_FFFFL);
    }

    @Test
    void anAtomicEthIsTakenApartAndBuilt() {
        MemorySegment s = segment(ATOMIC_ETH);
        assertThat(AtomicEth.virtualAddress(s, 0)).isEqualTo(0x3632F200);
        assertThat(AtomicEth.rkey(s, 0)).isEqualTo(0x43DF);
        assertThat(AtomicEth.swapOrAdd(s, 0)).isEqualTo(0xAABBCCDDEEFF0011L);
        assertThat(AtomicEth.compare(s, 0)).isEqualTo(0x1122334455667788L);
        assertThat(built(AtomicEth.BYTES, (t, o) -> {
                    AtomicEth.write(t, o, 0x3632F200, 0x43DF, 0xAABBCCDDEEFF0011L, 0x1122334455667788L);
                    return o;
                }))
                .isEqualTo(hex(ATOMIC_ETH));
    }

    @Test
    void anAethIsTakenApartAndBuilt() {
        MemorySegment s = segment("62 000002");
        assertThat(Aeth.syndrome(s, 0)).isEqualTo(Syndrome.NAK_REMOTE_ACCESS);
        assertThat(Aeth.msn(s, 0)).isEqualTo(2);
        assertThat(built(Aeth.BYTES, (t, o) -> {
                    Aeth.write(t, o, Syndrome.NAK_REMOTE_ACCESS, 2);
                    return o;
                }))
                .isEqualTo("62000002");
    }

    @Test
    void theShortHeadersAreTakenApartAndBuilt() {
        assertThat(AtomicAckEth.original(segment("1122334455667788"), 0)).isEqualTo(0x1122334455667788L);
        assertThat(ImmDt.immediate(segment("cafebabe"), 0)).isEqualTo(0xCAFEBABE);
        assertThat(Ieth.rkey(segment("080001d6"), 0)).isEqualTo(0x080001D6);
        assertThat(Deth.qkey(segment("80010000 00000001"), 0)).isEqualTo(0x80010000);
        assertThat(Deth.sourceQp(segment("11111111 ff000074"), 0)).isEqualTo(0x74);
        assertThat(XrcEth.srqNumber(segment("ff123456"), 0)).isEqualTo(0x123456);
        assertThat(Rdeth.eeContext(segment("ff123456"), 0)).isEqualTo(0x123456);
        assertThat(Feth.selectivity(segment("00000013"), 0)).isEqualTo(Feth.WHOLE_REGION);
        assertThat(Feth.placement(segment("00000013"), 0)).isEqualTo(Feth.GLOBAL_VISIBILITY | Feth.PERSISTENCE);
        assertThat(built(8, writing((s, o) -> AtomicAckEth.write(s, o, 0x1122334455667788L))))
                .isEqualTo("1122334455667788");
        assertThat(built(4, writing((s, o) -> ImmDt.write(s, o, 0xCAFEBABE)))).isEqualTo("cafebabe");
        assertThat(built(4, writing((s, o) -> Ieth.write(s, o, 0x080001D6)))).isEqualTo("080001d6");
        assertThat(built(8, writing((s, o) -> Deth.write(s, o, 0x11111111, 0x74))))
                .isEqualTo("1111111100000074");
        assertThat(built(4, writing((s, o) -> XrcEth.write(s, o, 0x123456)))).isEqualTo("00123456");
        assertThat(built(4, writing((s, o) -> Rdeth.write(s, o, 0x123456)))).isEqualTo("00123456");
        assertThat(built(4, writing((s, o) -> Feth.write(s, o, 1, 3)))).isEqualTo("00000013");
    }

    @Test
    void aGrhIsTakenApartAndBuilt() {
        MemorySegment s = segment(GRH);
        assertThat(Grh.version(s, 0)).isEqualTo(6);
        assertThat(Grh.trafficClass(s, 0)).isEqualTo(2);
        assertThat(Grh.flowLabel(s, 0)).isEqualTo(0xC0DEF);
        assertThat(Grh.payloadLength(s, 0)).isEqualTo(28);
        assertThat(Grh.nextHeader(s, 0)).isEqualTo(Grh.NEXT_HEADER_BTH);
        assertThat(Grh.hopLimit(s, 0)).isEqualTo(64);
        assertThat(Grh.sourceHigh(s, 0)).isEqualTo(0xFE80_0000_0000_0000L);
        assertThat(Grh.sourceLow(s, 0)).isEqualTo(0x0200_0000_0000_0001L);
        assertThat(Grh.destinationHigh(s, 0)).isZero();
        assertThat(Grh.destinationLow(s, 0)).isEqualTo(0xFFFF_0A4D_000CL);
        assertThat(built(
                        Grh.BYTES,
                        writing((t, o) -> Grh.write(
                                t,
                                o,
                                2,
                                0xC0DEF,
                                28,
                                0x1B,
                                64,
                                0xFE80_0000_0000_0000L,
                                0x0200_0000_0000_0001L,
                                0,
                                0xFFFF_0A4D_000CL))))
                .isEqualTo(hex(GRH));
    }

    /// libibverbs takes the area for IPv4 when the checksum of its second half is right.
    @Test
    void theAreaBeforeADatagramHoldsAnIpv4HeaderWithARightChecksum() {
        String area = built(
                Grh.BYTES,
                writing((s, o) -> Grh.writeIpv4Area(s, o, 2, 100, 64, 0xFFFF_0A4D_000BL, 0xFFFF_0A4D_000CL)));
        assertThat(area).startsWith("00".repeat(20) + "450200640000400040112").endsWith("0a4d000b0a4d000c");
        assertThat(verbena.wire.InternetChecksum.of(segment(area), 20, 20)).isZero();
    }

    @Test
    void anLrhIsTakenApartAndBuilt() {
        MemorySegment s = segment("30 42 0007 0012 0009");
        assertThat(Lrh.virtualLane(s, 0)).isEqualTo(3);
        assertThat(Lrh.version(s, 0)).isZero();
        assertThat(Lrh.serviceLevel(s, 0)).isEqualTo(4);
        assertThat(Lrh.nextHeader(s, 0)).isEqualTo(Lrh.NEXT_BTH);
        assertThat(Lrh.destinationLid(s, 0)).isEqualTo(7);
        assertThat(Lrh.packetLengthWords(s, 0)).isEqualTo(18);
        assertThat(Lrh.sourceLid(s, 0)).isEqualTo(9);
        assertThat(built(Lrh.BYTES, writing((t, o) -> Lrh.write(t, o, 3, 4, Lrh.NEXT_BTH, 7, 18, 9))))
                .isEqualTo("3042000700120009");
    }

    /// A reader of a header needs all of the header's bytes, and none behind them.
    @TestFactory
    List<DynamicTest> aHeaderCutShortAtAnyLengthIsNeverReadBeyondItsEnd() {
        var tests = new ArrayList<DynamicTest>();
        lastFields()
                .forEach((header, read) -> tests.add(DynamicTest.dynamicTest(header.name(), () -> {
                    for (int bytes = 0; bytes < header.bytes(); bytes++) {
                        MemorySegment cut = Arena.ofAuto().allocate(bytes);
                        assertThatThrownBy(() -> read.apply(cut, 0L)).isInstanceOf(IndexOutOfBoundsException.class);
                    }
                    read.apply(Arena.ofAuto().allocate(header.bytes()), 0L);
                })));
        return tests;
    }

    private static Map<Header, BiFunction<MemorySegment, Long, Object>> lastFields() {
        var fields = new LinkedHashMap<Header, BiFunction<MemorySegment, Long, Object>>();
        fields.put(Header.BTH, Bth::psn);
        fields.put(Header.RDETH, Rdeth::eeContext);
        fields.put(Header.DETH, Deth::sourceQp);
        fields.put(Header.XRCETH, XrcEth::srqNumber);
        fields.put(Header.FETH, Feth::placement);
        fields.put(Header.RETH, Reth::dmaLength);
        fields.put(Header.ATOMIC_ETH, AtomicEth::compare);
        fields.put(Header.AETH, Aeth::msn);
        fields.put(Header.ATOMIC_ACK_ETH, AtomicAckEth::original);
        fields.put(Header.IMM_DT, ImmDt::immediate);
        fields.put(Header.IETH, Ieth::rkey);
        assertThat(fields.keySet()).containsExactly(Header.values());
        return fields;
    }

    private interface Writing {
        void write(MemorySegment segment, long offset);
    }

    private static BiFunction<MemorySegment, Long, Long> writing(Writing writing) {
        return (s, o) -> {
            writing.write(s, o);
            return o;
        };
    }

    // Written at an odd place in junk, of which nothing else changes.
    private static String built(int bytes, BiFunction<MemorySegment, Long, Long> write) {
        MemorySegment junk = Arena.ofAuto().allocate(bytes + 10).fill((byte) 0xA5);
        long at = write.apply(junk, 3L);
        String hex = Frames.hex(junk);
        assertThat(hex).startsWith("a5".repeat((int) at)).endsWith("a5".repeat(7));
        return hex.substring(6, 6 + 2 * bytes);
    }

    private static MemorySegment segment(String annotated) {
        byte[] bytes = Frames.bytes(hex(annotated));
        return Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    }

    // The hexadecimal words at the start of each line; what follows is comment.
    private static String hex(String annotated) {
        var hex = new StringBuilder();
        for (String line : annotated.lines().toList()) {
            for (String word : line.split(" +", -1)) {
                if (!word.matches("[0-9a-f]+") || word.equals("fecn")) {
                    break;
                }
                hex.append(word);
            }
        }
        return hex.toString();
    }
}
