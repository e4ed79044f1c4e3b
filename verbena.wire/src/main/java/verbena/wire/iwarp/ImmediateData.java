package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The body of an immediate data message, behind its DDP header (RFC 7306 6): 8 bytes. The 32 bits of the verbs are
/// the low half of them; the RFC leaves their use to the layer above.
public final class ImmediateData {
    /// Size, in bytes.
    public static final int BYTES = 8;

    private ImmediateData() {}

    /// Returns the low half.
    public static int immediate(MemorySegment segment, long offset) {
        return (int) BigEndian.i64(segment, offset);
    }

    /// Writes all 8 bytes.
    public static void write(MemorySegment segment, long offset, int immediate) {
        BigEndian.put64(segment, offset, Integer.toUnsignedLong(immediate));
    }
}
