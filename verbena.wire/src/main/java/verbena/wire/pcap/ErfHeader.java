package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import verbena.wire.BigEndian;

/// The header of a record in the Extensible Record Format of Endace's capture cards: what Wireshark takes packets of
/// InfiniBand from, because it does not read [LinkType#INFINIBAND].
///
/// | byte | field |
/// |---|---|
/// | 0 | time: seconds since 1970 and 2^-32 of one, little-endian |
/// | 8, 9 | type of the record, flags |
/// | 10 | bytes of the record, with this header |
/// | 12 | records lost before |
/// | 14 | bytes of the packet on the wire |
public final class ErfHeader {
    public static final int BYTES = 16;

    private static final int INFINIBAND = 21;
    /// A flag: records have different lengths.
    private static final int VARYING = 4;

    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final ValueLayout.OfLong TIME = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private ErfHeader() {}

    /// Writes the header of a whole packet of InfiniBand.
    ///
    /// @param nanos its time, since 1970
    /// @param bytes of the packet, LRH through VCRC
    public static void writeInfiniBand(MemorySegment to, long at, long nanos, int bytes) {
        long seconds = Math.floorDiv(nanos, NANOS_PER_SECOND);
        long fraction = (Math.floorMod(nanos, NANOS_PER_SECOND) << 32) / NANOS_PER_SECOND;
        to.set(TIME, at, seconds << 32 | fraction);
        to.set(ValueLayout.JAVA_BYTE, at + 8, (byte) INFINIBAND);
        to.set(ValueLayout.JAVA_BYTE, at + 9, (byte) VARYING);
        BigEndian.put16(to, at + 10, BYTES + bytes);
        BigEndian.put16(to, at + 12, 0);
        BigEndian.put16(to, at + 14, bytes);
    }
}
