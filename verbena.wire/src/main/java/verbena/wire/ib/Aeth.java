package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// ACK extended transport header (IBTA 9.3.5): in every response but a READ response MIDDLE.
public final class Aeth {
    /// Size, in bytes.
    public static final int BYTES = 4;

    private static final int SYNDROME = 0; // 8 bits
    private static final int MSN = 1; // 24 bits

    private Aeth() {}

    /// Returns the syndrome: an ACK, an RNR NAK or a NAK, and its kind; see [Syndrome].
    public static int syndrome(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + SYNDROME);
    }

    /// Returns the number of request messages that the responder has completed, modulo 2^24 (IBTA 9.7.7.1).
    public static int msn(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + MSN);
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int syndrome, int msn) {
        BigEndian.put32(segment, offset + SYNDROME, (syndrome << 24) | (msn & 0xFF_FFFF));
    }
}
