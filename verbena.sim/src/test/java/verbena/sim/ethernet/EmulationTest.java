package verbena.sim.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Frames of real hosts on switches, with a clock that the test moves.
class EmulationTest {
    private static final long BEGIN = 5_000_000_000L;
    private static final int MICRO = 1_000;
    /// Preamble, check sequence and gap.
    private static final int WIRE = 24;

    private final Arena arena = Arena.ofShared();
    private final List<Sent> sent = new ArrayList<>();
    private final EthernetNetwork network = new EthernetNetwork(1);

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Sent(int host, byte[] frame, long lateNanos) {}

    @AfterEach
    void close() {
        arena.close();
    }

    private Emulation emulate(String text) {
        NetworkText.build(network, List.of(text));
        return new Emulation(
                network,
                arena,
                (host, frame, length, late) ->
                        sent.add(new Sent(host, frame.asSlice(0, length).toArray(JAVA_BYTE), late)),
                BEGIN);
    }

    private void offer(Emulation emulation, int host, byte[] frame, long at) {
        MemorySegment memory = arena.allocate(Emulation.FRAME_MAX + 8L);
        MemorySegment.copy(frame, 0, memory, JAVA_BYTE, 0, frame.length);
        emulation.offer(host, memory, frame.length, BEGIN + at);
    }

    private static String hex(long mac) {
        return "%012x".formatted(mac);
    }

    /// An IPv4 datagram by UDP, whose header has a right checksum.
    private static byte[] datagram(int from, int to, int tos, int length) {
        byte[] frame = new byte[length];
        byte[] head = HexFormat.of()
                .parseHex(hex(Emulation.mac(to)) + hex(Emulation.mac(from)) + "0800" + "45%02x".formatted(tos)
                        + "%04x".formatted(length - 14) + "0000400040110000" + "0a4c00%02x".formatted(from + 1)
                        + "0a4c00%02x".formatted(to + 1) + "c00012b7" + "%04x0000".formatted(length - 34));
        System.arraycopy(head, 0, frame, 0, head.length);
        int sum = ~sum(frame) & 0xFFFF;
        frame[24] = (byte) (sum >>> 8);
        frame[25] = (byte) sum;
        return frame;
    }

    /// The sum of an IPv4 header's words: 0xFFFF when its checksum is right (RFC 1071).
    private static int sum(byte[] frame) {
        int sum = 0;
        for (int at = 14; at < 34; at += 2) {
            sum += (frame[at] & 0xFF) << 8 | (frame[at + 1] & 0xFF);
        }
        return (sum & 0xFFFF) + (sum >>> 16);
    }

    @Test
    void aFrameTakesAsLongAsTwoLinksAndASwitchTake() {
        Emulation emulation = emulate("star 3 1G 10us");
        byte[] frame = datagram(0, 2, 0, 1_000);
        offer(emulation, 0, frame, 0);
        long eachLink = (1_000 + WIRE) * 8 + 10 * MICRO;

        assertThat(emulation.dueNanos()).isLessThan(BEGIN + 2 * eachLink);
        emulation.advance(BEGIN + 2 * eachLink - 1);
        assertThat(sent).isEmpty();
        emulation.advance(BEGIN + 2 * eachLink + 1 + 7 * MICRO);

        assertThat(sent).hasSize(1);
        assertThat(sent.getFirst().host()).isEqualTo(2);
        assertThat(sent.getFirst().frame()).isEqualTo(frame);
        assertThat(sent.getFirst().lateNanos()).isEqualTo(7 * MICRO + 1);
        assertThat(emulation.dueNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void groupsAndUnknownAddressesGoToAllAndOthersAreLearned() {
        Emulation emulation = emulate("star 3 1G 1us");
        String guest = "525400123456";
        offer(emulation, 1, HexFormat.of().parseHex("ffffffffffff" + guest + "0806" + "00".repeat(46)), 0);
        emulation.advance(BEGIN + 1_000 * MICRO);
        assertThat(sent).extracting(Sent::host).containsExactlyInAnyOrder(0, 2);

        sent.clear();
        offer(
                emulation,
                0,
                HexFormat.of().parseHex(guest + hex(Emulation.mac(0)) + "0800" + "00".repeat(46)),
                2_000 * MICRO);
        emulation.advance(BEGIN + 3_000 * MICRO);
        assertThat(sent).extracting(Sent::host).containsExactly(1);

        sent.clear();
        offer(emulation, 0, HexFormat.of().parseHex("525400999999" + hex(Emulation.mac(0)) + "0800"), 4_000 * MICRO);
        emulation.advance(BEGIN + 5_000 * MICRO);
        assertThat(sent).extracting(Sent::host).containsExactlyInAnyOrder(1, 2);
    }

    @Test
    void aLongQueueMarksWhatCanBeMarkedAndDropsTheRest() {
        Emulation emulation = emulate("star 3 1G 1us mark=3KB:4KB:1");
        for (int i = 0; i < 20; i++) {
            offer(emulation, 0, datagram(0, 2, 0x02, 1_000), 0);
            offer(emulation, 1, datagram(1, 2, 0x00, 1_000), 0);
        }
        emulation.advance(BEGIN + 1_000 * MICRO);
        List<byte[]> capable = sent.stream()
                .map(Sent::frame)
                .filter(frame -> (frame[15] & 3) != 0)
                .toList();

        assertThat(capable).hasSize(20).anyMatch(frame -> (frame[15] & 3) == 3).anyMatch(frame -> (frame[15] & 3) == 2);
        assertThat(capable).allMatch(frame -> sum(frame) == 0xFFFF);
        assertThat(sent).hasSizeLessThan(40);
        assertThat(network.switches().getFirst().dropped()).isEqualTo(40L - sent.size());
    }

    @Test
    void ipv6IsMarkedInItsTrafficClass() {
        MemorySegment frame = arena.allocate(64);
        MemorySegment.copy(
                HexFormat.of().parseHex("000000000000" + "000000000000" + "86dd" + "6020beef"),
                0,
                frame,
                JAVA_BYTE,
                0,
                18);
        assertThat(FrameHeaders.isMarkable(frame, 54)).isTrue();
        FrameHeaders.mark(frame, 54);
        assertThat(frame.asSlice(14, 4).toArray(JAVA_BYTE))
                .isEqualTo(HexFormat.of().parseHex("6030beef"));
        assertThat(FrameHeaders.isMarkable(frame, 53)).as("cut short").isFalse();
    }

    @Test
    void aSwitchThatPausesHoldsTheSenderBackAndLosesNothing() {
        Emulation emulation = emulate("star 9 1G 1us buffer=1MB headroom=50KB");
        int offered = 0;
        boolean wasHeldBack = false;
        for (int round = 0; round < 400; round++) {
            for (int host = 0; host < 8; host++) {
                if (emulation.hasRoom(host)) {
                    offer(emulation, host, datagram(host, 8, 0, 1_000), round * 8L * MICRO);
                    offered++;
                } else {
                    wasHeldBack = true;
                }
            }
        }
        emulation.advance(BEGIN + 1_000_000_000);

        assertThat(wasHeldBack).isTrue();
        assertThat(sent).hasSize(offered);
        assertThat(network.switches().getFirst().pausesSent()).isPositive();
        assertThat(network.switches().getFirst().dropped()).isZero();
        assertThat(emulation.crowded()).isZero();
    }

    @Test
    void theUpperBitsOfTheDscpAndOfATagAreThePriority() {
        MemorySegment frame = arena.allocate(64);
        MemorySegment.copy(datagram(0, 1, 26 << 2, 60), 0, frame, JAVA_BYTE, 0, 60);
        assertThat(FrameHeaders.priority(frame, 60)).isEqualTo(3);
        MemorySegment.copy(HexFormat.of().parseHex("8100a0050800"), 0, frame, JAVA_BYTE, 12, 6);
        assertThat(FrameHeaders.priority(frame, 60)).isEqualTo(5);
    }

    @Test
    void anyBytesAreAFrameOrCounted() {
        Emulation emulation = emulate("star 3 10G 1us mark=1KB:2KB:1");
        var random = new Random(7);
        String[] types = {"0800", "86dd", "8100", "8915", "0806", "ffff"};
        int short14 = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] frame = new byte[random.nextInt(120)];
            random.nextBytes(frame);
            if (frame.length >= 14) {
                byte[] type = HexFormat.of().parseHex(types[random.nextInt(types.length)]);
                System.arraycopy(type, 0, frame, 12, 2);
                if (random.nextBoolean()) {
                    System.arraycopy(HexFormat.of().parseHex(hex(Emulation.mac(random.nextInt(3)))), 0, frame, 0, 6);
                }
            } else {
                short14++;
            }
            offer(emulation, random.nextInt(3), frame, i * 100L);
        }
        emulation.advance(BEGIN + 1_000_000_000);

        assertThat(emulation.offered()).isEqualTo(20_000);
        assertThat(emulation.malformed()).isEqualTo(short14);
        assertThat(sent).isNotEmpty();
    }

    @Test
    void inventedAddressesDoNotGrowTheTable() {
        var table = new MacTable();
        for (long mac = 0; mac < 10L * MacTable.CAPACITY; mac++) {
            table.learn(mac, (int) (mac % 5));
            assertThat(table.find(mac)).isEqualTo((int) (mac % 5));
        }
        assertThat(table.find(1L << 40)).isEqualTo(MacTable.UNKNOWN);
    }
}
