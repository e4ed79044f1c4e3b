package verbena.tools.decode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.tools.decode.IwarpStreams.Said;
import verbena.wire.Frame;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.Unwrapped.Tcp;

/// What a capture of TCP says of iWARP, however its segments came: the captures of the kernel's soft-iWARP, taken
/// apart and put together in other ways.
class IwarpStreamsTest {
    private static final int MPA = 4; // both frames and the handshake before them are among the first so many payloads

    private static Path golden(String name) {
        return Path.of(Objects.requireNonNull(System.getProperty("verbena.root")), "golden", name);
    }

    static List<Path> captures() throws IOException {
        try (Stream<Path> files = Files.list(golden(""))) {
            return files.filter(file -> file.getFileName().toString().matches("iwarp-.*\\.pcap"))
                    .filter(file -> !file.toString().contains("no-listener"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Tcp> packets(Path capture) throws IOException {
        var packets = new ArrayList<Tcp>();
        try (CaptureReader reader = CaptureReader.open(capture);
                Arena arena = Arena.ofConfined()) {
            Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 8))[0];
            var encapsulation = new Encapsulation();
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                MemorySegment own = MemorySegment.ofArray(packet.bytes().toArray(ValueLayout.JAVA_BYTE));
                if (encapsulation.unwrap(packet.linkType(), own, frame) instanceof Tcp tcp) {
                    packets.add(tcp);
                }
            }
        }
        return packets;
    }

    private static List<Said> said(List<Tcp> packets) {
        var streams = new IwarpStreams();
        var all = new ArrayList<Said>();
        packets.forEach(packet -> all.addAll(streams.add(packet)));
        return all;
    }

    private static List<String> texts(List<Tcp> packets) {
        return said(packets).stream().map(Said::text).toList();
    }

    private static Tcp with(Tcp packet, int sequence, int flags, byte[] payload) {
        return new Tcp(
                packet.sourceHigh(),
                packet.sourceLow(),
                packet.sourcePort(),
                packet.destinationHigh(),
                packet.destinationLow(),
                packet.destinationPort(),
                sequence,
                packet.acknowledgement(),
                flags,
                payload.length,
                MemorySegment.ofArray(payload));
    }

    private static byte[] payload(Tcp packet) {
        return packet.payload().toArray(ValueLayout.JAVA_BYTE);
    }

    private static List<Tcp> ops() throws IOException {
        return packets(golden("iwarp-ops-crc.pcap"));
    }

    /// Packets of `of` that carry something, by their places.
    private static List<Integer> carriers(List<Tcp> of) {
        var places = new ArrayList<Integer>();
        for (int i = 0; i < of.size(); i++) {
            if (of.get(i).payloadBytes() > 0) {
                places.add(i);
            }
        }
        return places;
    }

    // ---- as it was

    @ParameterizedTest
    @MethodSource("captures")
    void everyGoldenCaptureIsUnderstoodWhole(Path capture) throws IOException {
        List<Tcp> packets = packets(capture);
        var streams = new IwarpStreams();
        var all = new ArrayList<Said>();
        packets.forEach(packet -> all.addAll(streams.add(packet)));

        assertThat(all).extracting(Said::name).startsWith("MPA_REQUEST", "MPA_REPLY");
        assertThat(all).noneMatch(Said::isMalformed).noneMatch(Said::isCrcBad);
        assertThat(all).extracting(Said::text).noneMatch(text -> text.startsWith("gap"));
        assertThat(streams.packets()).isEqualTo(packets.size());
    }

    @Test
    void whatWasDoneIsTold() throws IOException {
        List<String> texts = texts(ops());

        assertThat(texts.subList(0, 3))
                .containsExactly(
                        "MPA request rev 2 ird 4 ord 4 crc | 0",
                        "MPA reply rev 2 ird 4 ord 4 crc | 0",
                        "SEND msn 1 last | 100");
        assertThat(texts).filteredOn(text -> text.startsWith("WRITE ")).hasSize(5);
        assertThat(texts).filteredOn(text -> text.startsWith("READ_RESPONSE ")).hasSize(4);
        assertThat(texts).anyMatch(text -> text.matches("READ_REQUEST stag 0x\\w+ to 0x\\w+ len 5000 to stag .*"));
        assertThat(texts).anyMatch(text -> text.startsWith("SEND msn 3 offset 4272 last | 728"));
        assertThat(texts.getLast()).isEqualTo("end of the stream");
        assertThat(texts(packets(golden("iwarp-terminate-write-bounds.pcap")))).contains("TERMINATE tagged bounds");
    }

    @Test
    void otherConnectionsAreNotIwarp() throws IOException {
        List<Tcp> packets = ops();
        var random = new Random(1);
        var foreign = new ArrayList<Tcp>();
        for (Tcp packet : packets) {
            byte[] bytes = payload(packet);
            random.nextBytes(bytes);
            foreign.add(with(packet, packet.sequence(), packet.flags(), bytes));
        }
        var streams = new IwarpStreams();
        foreign.forEach(packet -> assertThat(streams.add(packet)).isEmpty());
        foreign.subList(10, foreign.size())
                .forEach(packet -> assertThat(streams.add(packet)).isEmpty());
        assertThat(streams.packets()).isZero();
    }

    // ---- as TCP may bring it

    @Test
    void segmentsMayBeAnySize() throws IOException {
        List<Tcp> packets = ops();
        for (int bytes : new int[] {1, 7, 100}) {
            var small = new ArrayList<Tcp>();
            for (Tcp packet : packets) {
                byte[] all = payload(packet);
                small.add(with(packet, packet.sequence(), packet.flags() & ~Tcp.FIN, new byte[0]));
                for (int at = 0; at < all.length; at += bytes) {
                    byte[] piece = Arrays.copyOfRange(all, at, Math.min(all.length, at + bytes));
                    small.add(with(packet, packet.sequence() + at, packet.flags() & ~Tcp.FIN, piece));
                }
                if (packet.has(Tcp.FIN)) {
                    small.add(with(packet, packet.sequence() + all.length, packet.flags(), new byte[0]));
                }
            }
            assertThat(texts(small)).isEqualTo(texts(packets));
        }
    }

    @Test
    void whatComesTwiceOrTooEarlyIsToldOnceAndInOrder() throws IOException {
        List<Tcp> packets = ops();
        List<Integer> carriers = carriers(packets);
        List<Tcp> mixed = new ArrayList<>(packets);
        for (int i = MPA; i + 1 < carriers.size(); i++) {
            int a = carriers.get(i);
            int b = carriers.get(i + 1);
            // With nothing in between that acknowledges the first.
            if (b == a + 1 && packets.get(a).sourcePort() == packets.get(b).sourcePort()) {
                mixed.set(a, packets.get(b));
                mixed.set(b, packets.get(a));
                i++;
            }
        }
        assertThat(mixed).isNotEqualTo(packets);
        assertThat(texts(mixed)).isEqualTo(texts(packets));

        List<Tcp> doubled = new ArrayList<>();
        for (Tcp packet : packets) {
            doubled.add(packet);
            if (packet.payloadBytes() > 0) {
                doubled.add(packet);
            }
        }
        assertThat(texts(doubled)).isEqualTo(texts(packets));
    }

    @Test
    void theNumbersOfOctetsWrapAround() throws IOException {
        List<Tcp> packets = ops();
        int port = packets.getFirst().sourcePort();
        for (int start : new int[] {-200, -3000, Integer.MAX_VALUE - 3000}) {
            int shift = start - packets.getFirst().sequence();
            List<Tcp> shifted = packets.stream()
                    .map(packet -> packet.sourcePort() == port
                            ? with(packet, packet.sequence() + shift, packet.flags(), payload(packet))
                            : packet)
                    .toList();
            assertThat(texts(shifted)).isEqualTo(texts(packets));
        }
    }

    // ---- as a capture may have it

    @Test
    void aCaptureThatBeginsLaterJoins() throws IOException {
        List<Tcp> packets = ops();
        List<String> all = texts(packets);
        int third = carriers(packets).get(MPA);
        List<String> later = texts(packets.subList(third, packets.size()));

        assertThat(later).isEqualTo(all.subList(MPA, all.size()));
        assertThat(later.getFirst()).startsWith("WRITE ");
    }

    @Test
    void aCaptureThatBeginsInTheMiddleOfAnFpduJoinsAtTheNext() throws IOException {
        List<Tcp> packets = new ArrayList<>(ops());
        List<String> all = texts(packets);
        int third = carriers(packets).get(MPA);
        byte[] half = payload(packets.get(third));
        Tcp first = packets.get(third);
        packets.set(
                third, with(first, first.sequence() + 40, first.flags(), Arrays.copyOfRange(half, 40, half.length)));

        assertThat(texts(packets.subList(third, packets.size()))).isEqualTo(all.subList(MPA + 1, all.size()));
    }

    @Test
    void whatTheCaptureMissesIsAGap() throws IOException {
        List<Tcp> packets = new ArrayList<>(ops());
        List<String> all = texts(packets);
        int lost = carriers(packets).get(MPA + 1);
        int bytes = packets.get(lost).payloadBytes();
        String told = said(packets.subList(0, lost + 1)).getLast().text();
        Tcp cut = packets.get(lost);
        packets.set(
                lost,
                new Tcp(
                        cut.sourceHigh(),
                        cut.sourceLow(),
                        cut.sourcePort(),
                        cut.destinationHigh(),
                        cut.destinationLow(),
                        cut.destinationPort(),
                        cut.sequence(),
                        cut.acknowledgement(),
                        cut.flags(),
                        bytes,
                        cut.payload().asSlice(0, 64)));
        List<String> expected = new ArrayList<>(all);
        expected.set(all.indexOf(told), "gap: " + (bytes - 64) + " bytes are not in the capture");

        assertThat(texts(packets)).isEqualTo(expected);
    }

    @Test
    void aPacketThatTheCaptureHasNotIsAGapAsSoonAsItIsAcknowledged() throws IOException {
        List<Tcp> packets = new ArrayList<>(ops());
        List<String> all = texts(packets);
        int lost = carriers(packets).get(MPA + 1);
        int bytes = packets.get(lost).payloadBytes();
        String told = said(packets.subList(0, lost + 1)).getLast().text();
        packets.remove(lost);
        List<String> expected = new ArrayList<>(all);
        expected.set(all.indexOf(told), "gap: " + bytes + " bytes are not in the capture");

        assertThat(texts(packets)).isEqualTo(expected);
    }

    @Test
    void aWrongCrcIsMarkedAndWhatFollowsIsTold() throws IOException {
        List<Tcp> packets = new ArrayList<>(ops());
        List<Said> all = said(packets);
        int damaged = carriers(packets).get(MPA);
        byte[] bytes = payload(packets.get(damaged));
        bytes[30] ^= 1;
        Tcp packet = packets.get(damaged);
        packets.set(damaged, with(packet, packet.sequence(), packet.flags(), bytes));

        assertThat(said(packets)).extracting(Said::isCrcBad).containsOnlyOnce(true);
        assertThat(texts(packets)).isEqualTo(all.stream().map(Said::text).toList());
    }

    // ---- markers (RFC 5044 4.3)

    @Test
    void markersAreLeftOut() throws IOException {
        byte[] request = new byte[MpaFrame.HEADER_BYTES];
        byte[] reply = new byte[MpaFrame.HEADER_BYTES];
        MpaFrame.write(MemorySegment.ofArray(request), 0, false, MpaFrame.CRC, 1, 0, 0, MemorySegment.NULL);
        int wanted = MpaFrame.CRC | MpaFrame.MARKERS;
        MpaFrame.write(MemorySegment.ofArray(reply), 0, true, wanted, 1, 0, 0, MemorySegment.NULL);
        Tcp one = ops().getFirst();
        Tcp back = ops().get(1); // the answer to it
        var packets = new ArrayList<>(List.of(
                with(one, -1, Tcp.SYN, new byte[0]),
                with(back, -1, Tcp.SYN, new byte[0]),
                with(one, 0, 0, request),
                with(back, 0, 0, reply)));
        long position = 0;
        for (int i = 0; i < 20; i++) {
            byte[] fpdu = marked(position, i, 40 * i);
            packets.add(with(one, request.length + (int) position, 0, fpdu));
            position += fpdu.length;
        }
        List<Said> said = said(packets);

        assertThat(said).hasSize(22).noneMatch(Said::isCrcBad);
        for (int i = 0; i < 20; i++) {
            assertThat(said.get(2 + i).text())
                    .isEqualTo("WRITE stag 0x%08x to 0x%x last | %d".formatted(7, 1000 * i, 40 * i));
        }
    }

    /// A WRITE with the markers that fall into it.
    private static byte[] marked(long position, int number, int payload) {
        int ulpdu = Ddp.TAGGED_BYTES + payload;
        byte[] plain = new byte[Fpdu.length(ulpdu)];
        MemorySegment b = MemorySegment.ofArray(plain);
        Fpdu.setUlpduLength(b, 0, ulpdu);
        Ddp.writeTagged(b, Fpdu.LENGTH_BYTES, RdmapOpcode.WRITE, true, 7, 1000L * number);
        byte[] marked = new byte[Fpdu.withMarkers(position, plain.length)];
        MemorySegment to = MemorySegment.ofArray(marked);
        int done = 0;
        for (int at = 0; at < marked.length; at++) {
            if (Fpdu.toMarker(position + at) == 0) {
                Fpdu.writeMarker(to, at, at);
                at += Fpdu.MARKER_BYTES;
            }
            marked[at] = plain[done++];
        }
        int covered = marked.length - Fpdu.CRC_BYTES;
        Fpdu.setCrc(to, covered, Fpdu.crc(new CRC32C(), ByteBuffer.wrap(marked), 0, covered));
        return marked;
    }

    @Test
    void nothingThatASegmentSaysThrows() throws IOException {
        List<Tcp> packets = ops();
        for (int seed = 0; seed < 300; seed++) {
            var random = new Random(seed);
            var streams = new IwarpStreams();
            for (Tcp packet : packets) {
                byte[] bytes = payload(packet);
                for (int i = random.nextInt(3); i > 0 && bytes.length > 0; i--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                int jump = random.nextInt(20) == 0 ? random.nextInt() : 0;
                int flags = random.nextInt(30) == 0 ? random.nextInt(256) : packet.flags();
                assertThat(streams.add(with(packet, packet.sequence() + jump, flags, bytes)))
                        .isNotNull();
            }
        }
    }
}
