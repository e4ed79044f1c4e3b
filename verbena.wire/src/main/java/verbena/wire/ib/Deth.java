package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Datagram extended transport header (IBTA 9.3.2).
public final class Deth {
    /// Size, in bytes.
    public static final int BYTES = 8;

    private static final int QKEY = 0; // 32 bits
    private static final int SOURCE_QP = 5; // 24 bits after 8 reserved ones

    private Deth() {}

    /// Returns the Q_Key, which must equal that of the receiving queue pair.
    public static int qkey(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + QKEY);
    }

    /// Returns the number of the queue pair to answer.
    public static int sourceQp(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + SOURCE_QP);
    }

    /// Writes all 8 bytes.
    public static void write(MemorySegment segment, long offset, int qkey, int sourceQp) {
        BigEndian.put32(segment, offset + QKEY, qkey);
        BigEndian.put32(segment, offset + SOURCE_QP - 1, sourceQp & 0xFF_FFFF);
    }
}
