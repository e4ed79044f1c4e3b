package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The body of an atomic response, behind its DDP header (RFC 7306 5.2.2).
public final class AtomicResponse {
    /// Size, in bytes.
    public static final int BYTES = 12;

    private static final int IDENTIFIER = 0; // 32 bits
    private static final int ORIGINAL = 4; // 64 bits

    private AtomicResponse() {}

    /// Returns the identifier of the request.
    public static int identifier(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + IDENTIFIER);
    }

    /// Returns the value that the memory held before the operation.
    public static long original(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + ORIGINAL);
    }

    /// Writes all 12 bytes.
    public static void write(MemorySegment segment, long offset, int identifier, long original) {
        BigEndian.put32(segment, offset + IDENTIFIER, identifier);
        BigEndian.put64(segment, offset + ORIGINAL, original);
    }
}
