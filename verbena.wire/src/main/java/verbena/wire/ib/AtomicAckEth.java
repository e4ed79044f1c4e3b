package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Atomic ACK extended transport header (IBTA 9.5.3): the answer to an atomic.
public final class AtomicAckEth {
    /// Size, in bytes.
    public static final int BYTES = 8;

    private static final int ORIGINAL = 0; // 64 bits

    private AtomicAckEth() {}

    /// Returns the value that the memory held before the operation.
    public static long original(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + ORIGINAL);
    }

    /// Writes all 8 bytes.
    public static void write(MemorySegment segment, long offset, long original) {
        BigEndian.put64(segment, offset + ORIGINAL, original);
    }
}
