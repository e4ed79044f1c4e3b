package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The body of a READ request, behind its DDP header (RFC 5040 4.4).
public final class ReadRequest {
    /// Size, in bytes.
    public static final int BYTES = 28;

    private static final int SINK_STAG = 0; // 32 bits
    private static final int SINK_OFFSET = 4; // 64 bits
    private static final int SIZE = 12; // 32 bits
    private static final int SOURCE_STAG = 16; // 32 bits
    private static final int SOURCE_OFFSET = 20; // 64 bits

    private ReadRequest() {}

    /// Returns the STag that the response is to carry.
    public static int sinkStag(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + SINK_STAG);
    }

    /// Returns the tagged offset that the response is to start with.
    public static long sinkOffset(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SINK_OFFSET);
    }

    /// Returns the number of bytes to read.
    public static long size(MemorySegment segment, long offset) {
        return BigEndian.u32(segment, offset + SIZE);
    }

    /// Returns the key of the memory to be read.
    public static int sourceStag(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + SOURCE_STAG);
    }

    /// Returns the offset in that memory.
    public static long sourceOffset(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SOURCE_OFFSET);
    }

    /// Writes all 28 bytes.
    public static void write(
            MemorySegment segment,
            long offset,
            int sinkStag,
            long sinkOffset,
            long size,
            int sourceStag,
            long sourceOffset) {
        BigEndian.put32(segment, offset + SINK_STAG, sinkStag);
        BigEndian.put64(segment, offset + SINK_OFFSET, sinkOffset);
        BigEndian.put32(segment, offset + SIZE, (int) size);
        BigEndian.put32(segment, offset + SOURCE_STAG, sourceStag);
        BigEndian.put64(segment, offset + SOURCE_OFFSET, sourceOffset);
    }
}
