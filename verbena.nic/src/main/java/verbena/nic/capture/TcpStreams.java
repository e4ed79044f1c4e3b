package verbena.nic.capture;

import static verbena.wire.pcap.Unwrapped.Tcp.ACK;
import static verbena.wire.pcap.Unwrapped.Tcp.FIN;
import static verbena.wire.pcap.Unwrapped.Tcp.RST;
import static verbena.wire.pcap.Unwrapped.Tcp.SYN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureTap.Kind;
import verbena.wire.BigEndian;
import verbena.wire.InternetChecksum;
import verbena.wire.ib.Grh;
import verbena.wire.pcap.PcapngBlocks;
import verbena.wire.roce.RoceV2;

/// The maker of TCP segments around the bytes of streams, as they would be on a wire that loses nothing. There is a
/// handshake, consecutive sequence numbers, acknowledgements that travel with data, and an end. The segments that
/// the system has really sent are not known here. Pieces of one call are one segment. Pieces that had no room in the
/// ring leave a gap in the sequence numbers, as in a capture of a wire.
final class TcpStreams {
    private static final int MAC_BYTES = 6;
    private static final int ETHERNET_BYTES = 14;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int TCP_BYTES = 20;
    private static final int PROTOCOL_TCP = 6;
    /// The largest payload of one segment: IP's length has 16 bits.
    private static final int SEGMENT_BYTES_MAX = 65_535 - IPV4_BYTES - TCP_BYTES;

    private static final int PSH = 0x08;
    /// The first bytes of every MPA request and reply (RFC 5044, 7.1.1).
    private static final byte[] MPA_ID = "MPA ID ".getBytes(StandardCharsets.US_ASCII);

    /// A receiver of packets.
    @FunctionalInterface
    interface Sink {
        void packet(long nanos, MemorySegment from, int bytes, int flags, @Nullable String comment);
    }

    /// Both directions of a stream; index 0 is what this side sends.
    private static final class Stream {
        final long[] high = new long[2];
        final long[] low = new long[2];
        final int[] port = new int[2];
        final int[] sequence = new int[2];
        boolean begun;
    }

    private final Sink sink;
    private final Map<Integer, Stream> streams = new HashMap<>();
    private final MemorySegment packet =
            MemorySegment.ofArray(new byte[ETHERNET_BYTES + IPV6_BYTES + TCP_BYTES + SEGMENT_BYTES_MAX]);
    private final MemorySegment payload = MemorySegment.ofArray(new byte[SEGMENT_BYTES_MAX]);

    // The segment that is being put together.
    private @Nullable Stream pending;
    private int pendingFrom;
    private int pendingBytes;
    private long pendingNanos;

    TcpStreams(Sink sink) {
        this.sink = sink;
    }

    void add(Kind kind, NoteRing ring, int note) {
        Stream stream = streams.computeIfAbsent(ring.getInt(note, NoteRing.STREAM), _ -> stream(ring, note));
        long nanos = ring.getLong(note, NoteRing.NANOS);
        switch (kind) {
            case STREAM_SENT -> addBytes(stream, 0, ring.bytes(note), ring.getLong(note, NoteRing.POSITION), nanos);
            case STREAM_RECEIVED -> addBytes(stream, 1, ring.bytes(note), ring.getLong(note, NoteRing.POSITION), nanos);
            case STREAM_ENDED -> end(stream, 0, FIN | ACK, nanos, null);
            case STREAM_ENDED_BY_PEER -> end(stream, 1, FIN | ACK, nanos, null);
            case STREAM_RESET -> {
                end(stream, 0, RST | ACK, nanos, "one side has broken off the connection");
                streams.remove(ring.getInt(note, NoteRing.STREAM));
            }
            case STREAM_CLOSED -> {
                flush();
                streams.remove(ring.getInt(note, NoteRing.STREAM));
            }
            case STREAM_OPENED -> {} // the first bytes show which side has asked
            case SENT, UNSENDABLE, RECEIVED, DIRECT_REQUEST, DIRECT_ANSWER, MALFORMED ->
                throw new AssertionError(kind + " is of no stream");
        }
    }

    private static Stream stream(NoteRing ring, int note) {
        var made = new Stream();
        made.high[0] = ring.getLong(note, NoteRing.SOURCE_HIGH);
        made.low[0] = ring.getLong(note, NoteRing.SOURCE_LOW);
        made.high[1] = ring.getLong(note, NoteRing.DESTINATION_HIGH);
        made.low[1] = ring.getLong(note, NoteRing.DESTINATION_LOW);
        made.port[0] = ring.getInt(note, NoteRing.SOURCE_PORT);
        made.port[1] = ring.getInt(note, NoteRing.DESTINATION_PORT);
        made.sequence[0] = 1;
        made.sequence[1] = 1;
        return made;
    }

    /// @param position the octets before these; more than were added here when notes were lost for want of room
    private void addBytes(Stream stream, int from, MemorySegment bytes, long position, long nanos) {
        if (!stream.begun) {
            stream.begun = true;
            begin(stream, from, bytes, nanos);
        }
        if (stream != pending
                || from != pendingFrom
                || nanos != pendingNanos
                || pendingBytes + bytes.byteSize() > SEGMENT_BYTES_MAX) {
            flush();
        }
        int waiting = pending == null ? 0 : pendingBytes;
        if (stream.sequence[from] + waiting != 1 + (int) position) {
            flush();
            stream.sequence[from] = 1 + (int) position;
        }
        pending = stream;
        pendingFrom = from;
        pendingNanos = nanos;
        MemorySegment.copy(bytes, 0, payload, pendingBytes, bytes.byteSize());
        pendingBytes += (int) bytes.byteSize();
    }

    /// Writes a handshake when the stream is seen from its start. The side that sends first, an MPA request, has
    /// asked for the connection.
    private void begin(Stream stream, int from, MemorySegment bytes, long nanos) {
        boolean isStart = bytes.byteSize() >= MPA_ID.length
                && bytes.asSlice(0, MPA_ID.length).mismatch(MemorySegment.ofArray(MPA_ID)) < 0;
        if (!isStart) {
            return;
        }
        flush();
        stream.sequence[from] = 0;
        write(stream, from, SYN, 0, nanos, "made up, like all headers around a stream");
        stream.sequence[from] = 1;
        stream.sequence[1 - from] = 0;
        write(stream, 1 - from, SYN | ACK, 0, nanos, null);
        stream.sequence[1 - from] = 1;
        write(stream, from, ACK, 0, nanos, null);
    }

    private void end(Stream stream, int from, int flags, long nanos, @Nullable String comment) {
        flush();
        write(stream, from, flags, 0, nanos, comment);
        stream.sequence[from]++;
    }

    /// Writes the segment that is being put together.
    void flush() {
        Stream stream = pending;
        if (stream != null) {
            pending = null;
            write(stream, pendingFrom, PSH | ACK, pendingBytes, pendingNanos, null);
            stream.sequence[pendingFrom] += pendingBytes;
            pendingBytes = 0;
        }
    }

    private void write(Stream stream, int from, int flags, int bytes, long nanos, @Nullable String comment) {
        int to = 1 - from;
        boolean isIpv4 = RoceV2.isIpv4(stream.high[to], stream.low[to]);
        BigEndian.put16(packet, 0, 0x0200);
        BigEndian.put32(packet, 2, (int) stream.low[to]);
        BigEndian.put16(packet, MAC_BYTES, 0x0200);
        BigEndian.put32(packet, MAC_BYTES + 2, (int) stream.low[from]);
        BigEndian.put16(packet, 2 * MAC_BYTES, isIpv4 ? 0x0800 : 0x86DD);
        int ip = ETHERNET_BYTES;
        int tcp = ip + (isIpv4 ? IPV4_BYTES : IPV6_BYTES);
        if (isIpv4) {
            BigEndian.put32(packet, ip, 0x4500_0000 | (IPV4_BYTES + TCP_BYTES + bytes));
            BigEndian.put32(packet, ip + 4, 0x4000); // don't fragment
            BigEndian.put32(packet, ip + 8, (64 << 24) | (PROTOCOL_TCP << 16));
            BigEndian.put32(packet, ip + 12, (int) stream.low[from]);
            BigEndian.put32(packet, ip + 16, (int) stream.low[to]);
            BigEndian.put16(packet, ip + 10, InternetChecksum.of(packet, ip, IPV4_BYTES));
        } else {
            Grh.write(
                    packet,
                    ip,
                    0,
                    0,
                    TCP_BYTES + bytes,
                    PROTOCOL_TCP,
                    64,
                    stream.high[from],
                    stream.low[from],
                    stream.high[to],
                    stream.low[to]);
        }
        BigEndian.put16(packet, tcp, stream.port[from]);
        BigEndian.put16(packet, tcp + 2, stream.port[to]);
        BigEndian.put32(packet, tcp + 4, stream.sequence[from]);
        BigEndian.put32(packet, tcp + 8, (flags & ACK) == 0 ? 0 : stream.sequence[to]);
        BigEndian.put16(packet, tcp + 12, ((TCP_BYTES / 4) << 12) | flags);
        BigEndian.put16(packet, tcp + 14, 0xFFFF);
        BigEndian.put32(packet, tcp + 16, 0);
        MemorySegment.copy(payload, 0, packet, tcp + TCP_BYTES, bytes);
        BigEndian.put16(packet, tcp + 16, checksum(stream, from, isIpv4, tcp, TCP_BYTES + bytes));
        sink.packet(
                nanos,
                packet,
                tcp + TCP_BYTES + bytes,
                PcapngBlocks.UNICAST | (from == 0 ? PcapngBlocks.OUTBOUND : PcapngBlocks.INBOUND),
                comment);
    }

    /// Returns the checksum of TCP, over the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1), which stands before the
    /// segment in memory.
    private int checksum(Stream stream, int from, boolean isIpv4, int tcp, int bytes) {
        int pseudo = isIpv4 ? 12 : 40;
        MemorySegment all = MemorySegment.ofArray(new byte[pseudo + bytes]);
        if (isIpv4) {
            BigEndian.put32(all, 0, (int) stream.low[from]);
            BigEndian.put32(all, 4, (int) stream.low[1 - from]);
            BigEndian.put32(all, 8, (PROTOCOL_TCP << 16) | bytes);
        } else {
            all.set(BIG_LONG, 0, stream.high[from]);
            all.set(BIG_LONG, 8, stream.low[from]);
            all.set(BIG_LONG, 16, stream.high[1 - from]);
            all.set(BIG_LONG, 24, stream.low[1 - from]);
            BigEndian.put32(all, 32, bytes);
            BigEndian.put32(all, 36, PROTOCOL_TCP);
        }
        MemorySegment.copy(packet, tcp, all, pseudo, bytes);
        return InternetChecksum.of(all, 0, pseudo + bytes);
    }

    private static final ValueLayout.OfLong BIG_LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
}
