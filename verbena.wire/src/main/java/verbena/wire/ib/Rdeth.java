package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Reliable datagram extended transport header (IBTA 9.3.1).
public final class Rdeth {
    /// Size, in bytes.
    public static final int BYTES = 4;

    private static final int EE_CONTEXT = 1; // 24 bits after 8 reserved ones

    private Rdeth() {}

    /// Returns the end-to-end context at the receiver.
    public static int eeContext(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + EE_CONTEXT);
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int eeContext) {
        BigEndian.put32(segment, offset + EE_CONTEXT - 1, eeContext & 0xFF_FFFF);
    }
}
