package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Local route header, 8 bytes (IBTA 7.7): the header before a packet on a native InfiniBand link.
public final class Lrh {
    /// Size, in bytes.
    public static final int BYTES = 8;
    /// Next header: a BTH follows.
    public static final int NEXT_BTH = 2;
    /// Next header: a GRH follows.
    public static final int NEXT_GRH = 3;

    private static final int LANE = 0; // VL 4, LVer 4 bits; the ICRC takes VL as ones
    private static final int SERVICE = 1; // SL 4, reserved 2, LNH 2 bits
    private static final int DESTINATION = 2; // 16 bits
    private static final int PACKET_LENGTH = 4; // reserved 5, words 11 bits
    private static final int SOURCE = 6; // 16 bits

    private Lrh() {}

    public static int virtualLane(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + LANE) >>> 4;
    }

    /// Returns the link version, 0 in all that exists.
    public static int version(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + LANE) & 0xF;
    }

    public static int serviceLevel(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + SERVICE) >>> 4;
    }

    /// Returns the kind of the next header: [#NEXT_BTH], [#NEXT_GRH], 0 raw or 1 raw IPv6.
    public static int nextHeader(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + SERVICE) & 0x3;
    }

    public static int destinationLid(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + DESTINATION);
    }

    /// Returns the number of words of 4 bytes from the LRH through the ICRC, `0..2047`.
    public static int packetLengthWords(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + PACKET_LENGTH) & 0x7FF;
    }

    public static int sourceLid(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + SOURCE);
    }

    /// Writes all 8 bytes; the version becomes 0.
    public static void write(
            MemorySegment segment,
            long offset,
            int virtualLane,
            int serviceLevel,
            int nextHeader,
            int destinationLid,
            int packetLengthWords,
            int sourceLid) {
        BigEndian.put8(segment, offset + LANE, virtualLane << 4);
        BigEndian.put8(segment, offset + SERVICE, (serviceLevel << 4) | (nextHeader & 0x3));
        BigEndian.put16(segment, offset + DESTINATION, destinationLid);
        BigEndian.put16(segment, offset + PACKET_LENGTH, packetLengthWords & 0x7FF);
        BigEndian.put16(segment, offset + SOURCE, sourceLid);
    }
}
