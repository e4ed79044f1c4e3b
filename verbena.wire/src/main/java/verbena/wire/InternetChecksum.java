package verbena.wire;

import java.lang.foreign.MemorySegment;

/// The ones' complement checksum of IPv4 headers and UDP (RFC 1071).
public final class InternetChecksum {
    private InternetChecksum() {}

    /// Returns the value for the checksum field of these bytes. The bytes of that field count as they are, so a
    /// sender first sets them to zero. The result over bytes with a right checksum is 0. An odd last byte counts as
    /// if a zero followed.
    public static int of(MemorySegment segment, long offset, long bytes) {
        return finish(sum(segment, offset, bytes));
    }

    /// Returns the unfolded sum, to add up several areas; all but the last have an even number of bytes.
    static long sum(MemorySegment segment, long offset, long bytes) {
        long sum = 0;
        long even = bytes & ~1L;
        for (long i = 0; i < even; i += 2) {
            sum += BigEndian.u16(segment, offset + i);
        }
        return even == bytes ? sum : sum + ((long) BigEndian.u8(segment, offset + even) << 8);
    }

    static int finish(long sum) {
        long folded = sum;
        while (folded >>> 16 != 0) {
            folded = (folded & 0xFFFF) + (folded >>> 16);
        }
        return (int) (~folded & 0xFFFF);
    }
}
