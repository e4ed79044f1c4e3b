package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Immediate data (IBTA 9.3.6). Opaque to the transport: the number here is the four bytes read in network order.
public final class ImmDt {
    /// Size, in bytes.
    public static final int BYTES = 4;

    private static final int IMMEDIATE = 0; // 32 bits

    private ImmDt() {}

    /// Returns the four bytes as a big-endian number.
    public static int immediate(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + IMMEDIATE);
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int immediate) {
        BigEndian.put32(segment, offset + IMMEDIATE, immediate);
    }
}
