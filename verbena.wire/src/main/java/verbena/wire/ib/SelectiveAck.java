package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The payload of a selective acknowledgement, which two Verbena ends may agree on (decision 05).
///
/// The PSN of its BTH is the first that the responder lacks, as in a NAK of a sequence error, which its AETH says.
/// The payload has one bit for each of the [#SPAN] PSNs behind it, the nearest in the lowest bit: it has come, and
/// is kept.
public final class SelectiveAck {
    /// The number of PSNs that it covers.
    public static final int SPAN = 128;

    private SelectiveAck() {}

    /// Returns the bits of the nearest 64 PSNs.
    public static long near(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset);
    }

    /// Returns the bits of the 64 PSNs that follow the nearest 64.
    public static long far(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + Long.BYTES);
    }

    /// Writes all 16 bytes.
    public static void write(MemorySegment segment, long offset, long near, long far) {
        BigEndian.put64(segment, offset, near);
        BigEndian.put64(segment, offset + Long.BYTES, far);
    }
}
