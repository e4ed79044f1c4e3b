package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;
import verbena.wire.InternetChecksum;

/// Global route header, 40 bytes (IBTA 8.3): an IPv6 header in all but name. It precedes the BTH on RoCE v1, and on
/// every kind of wire it precedes a datagram in the receiver's buffer.
public final class Grh {
    /// Size, in bytes.
    public static final int BYTES = 40;
    /// The next header value that announces a BTH.
    public static final int NEXT_HEADER_BTH = 0x1B;

    private static final int WORD = 0; // version 4, traffic class 8, flow label 20 bits
    private static final int PAYLOAD_LENGTH = 4; // 16 bits
    private static final int NEXT_HEADER = 6; // 8 bits
    private static final int HOP_LIMIT = 7; // 8 bits
    private static final int SOURCE = 8; // 128 bits
    private static final int DESTINATION = 24; // 128 bits

    private static final int VERSION = 6;
    // In the datagram's 40 bytes an IPv4 header takes the last 20 (IBTA A17.4.5.1).
    private static final int IPV4 = 20;
    private static final int IPV4_BYTES = 20;

    private Grh() {}

    /// Returns the IP version, 6 in a legal header.
    public static int version(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + WORD) >>> 28;
    }

    public static int trafficClass(MemorySegment segment, long offset) {
        return (BigEndian.i32(segment, offset + WORD) >>> 20) & 0xFF;
    }

    /// Returns the flow label, 20 bits.
    public static int flowLabel(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + WORD) & 0xF_FFFF;
    }

    /// Returns the number of bytes after the header, through the ICRC.
    public static int payloadLength(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + PAYLOAD_LENGTH);
    }

    public static int nextHeader(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + NEXT_HEADER);
    }

    public static int hopLimit(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + HOP_LIMIT);
    }

    public static long sourceHigh(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SOURCE);
    }

    public static long sourceLow(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SOURCE + 8);
    }

    public static long destinationHigh(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + DESTINATION);
    }

    public static long destinationLow(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + DESTINATION + 8);
    }

    /// Writes all 40 bytes.
    public static void write(
            MemorySegment segment,
            long offset,
            int trafficClass,
            int flowLabel,
            int payloadLength,
            int nextHeader,
            int hopLimit,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow) {
        BigEndian.put32(
                segment, offset + WORD, (VERSION << 28) | ((trafficClass & 0xFF) << 20) | (flowLabel & 0xF_FFFF));
        BigEndian.put16(segment, offset + PAYLOAD_LENGTH, payloadLength);
        BigEndian.put8(segment, offset + NEXT_HEADER, nextHeader);
        BigEndian.put8(segment, offset + HOP_LIMIT, hopLimit);
        BigEndian.put64(segment, offset + SOURCE, sourceHigh);
        BigEndian.put64(segment, offset + SOURCE + 8, sourceLow);
        BigEndian.put64(segment, offset + DESTINATION, destinationHigh);
        BigEndian.put64(segment, offset + DESTINATION + 8, destinationLow);
    }

    /// Writes the 40 bytes that precede a datagram that came over IPv4: 20 zeroes and an IPv4 header. Its checksum
    /// is right, because libibverbs distinguishes the two kinds by it. Source and destination are the low halves of
    /// GIDs `::ffff:a.b.c.d`; `totalLength` counts the IPv4 header and everything behind it.
    public static void writeIpv4Area(
            MemorySegment segment,
            long offset,
            int trafficClass,
            int totalLength,
            int hopLimit,
            long sourceLow,
            long destinationLow) {
        segment.asSlice(offset, IPV4).fill((byte) 0);
        long ip = offset + IPV4;
        BigEndian.put32(segment, ip, 0x4500_0000 | ((trafficClass & 0xFF) << 16) | (totalLength & 0xFFFF));
        BigEndian.put32(segment, ip + 4, 0x0000_4000); // ID 0, do not fragment
        BigEndian.put32(segment, ip + 8, ((hopLimit & 0xFF) << 24) | (17 << 16));
        BigEndian.put32(segment, ip + 12, (int) sourceLow);
        BigEndian.put32(segment, ip + 16, (int) destinationLow);
        BigEndian.put16(segment, ip + 10, InternetChecksum.of(segment, ip, IPV4_BYTES));
    }
}
