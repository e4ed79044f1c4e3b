package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Extended reliable connection header (IBTA A14).
public final class XrcEth {
    /// Size, in bytes.
    public static final int BYTES = 4;

    private static final int SRQ_NUMBER = 1; // 24 bits after 8 reserved ones

    private XrcEth() {}

    /// Returns the number of the shared receive queue at the responder.
    public static int srqNumber(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + SRQ_NUMBER);
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int srqNumber) {
        BigEndian.put32(segment, offset + SRQ_NUMBER - 1, srqNumber & 0xFF_FFFF);
    }
}
