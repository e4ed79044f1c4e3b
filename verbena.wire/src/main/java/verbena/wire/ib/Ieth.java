package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Invalidate extended transport header (IBTA 9.3.7).
public final class Ieth {
    /// Size, in bytes.
    public static final int BYTES = 4;

    private static final int RKEY = 0; // 32 bits

    private Ieth() {}

    /// Returns the key that the receiver is to invalidate.
    public static int rkey(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + RKEY);
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int rkey) {
        BigEndian.put32(segment, offset + RKEY, rkey);
    }
}
