package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The body of a TERMINATE, behind its DDP header: layer, type, code, and perhaps headers of the segment that was
/// refused (RFC 5040 4.8).
///
/// ```
/// Layer 4, EType 4, Error Code 8, M 1, D 1, R 1, reserved 13 bits
/// DDP segment length, 16 bits        with M
/// the DDP header, 14 or 18 bytes     with D
/// the RDMAP header, 28 bytes         with R
/// ```
///
/// Linux's soft-iWARP on little-endian hosts lays the bits of each byte out the other way round: EType before
/// Layer, and M, D, R in the lowest bits. Its length is told apart by those, and so both forms are read.
public final class Terminate {
    /// Bytes of the first word, which is always there.
    public static final int CONTROL_BYTES = 4;
    /// Flag: the length of the segment follows.
    public static final int HAS_LENGTH = 0x80;
    /// Flag: its DDP header follows.
    public static final int HAS_DDP = 0x40;
    /// Flag: its RDMAP header follows.
    public static final int HAS_RDMAP = 0x20;
    /// The longest: with all of that, of an atomic request.
    public static final int BYTES_MAX = CONTROL_BYTES + 2 + Ddp.UNTAGGED_BYTES + AtomicRequest.BYTES;

    private static final int LAYER_AND_TYPE = 0;
    private static final int CODE = 1;
    private static final int FLAGS = 2;
    private static final int SWAPPED_LENGTH = 0x01;
    private static final int SWAPPED_DDP = 0x02;
    private static final int SWAPPED_RDMAP = 0x04;

    private Terminate() {}

    private static boolean isSwapped(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + FLAGS) & (SWAPPED_LENGTH | SWAPPED_DDP | SWAPPED_RDMAP)) != 0;
    }

    /// Returns the layer: 0 RDMAP, 1 DDP, 2 the layer below.
    public static int layer(MemorySegment segment, long offset) {
        int both = BigEndian.u8(segment, offset + LAYER_AND_TYPE);
        return isSwapped(segment, offset) ? both & 0xF : both >>> 4;
    }

    public static int type(MemorySegment segment, long offset) {
        int both = BigEndian.u8(segment, offset + LAYER_AND_TYPE);
        return isSwapped(segment, offset) ? both >>> 4 : both & 0xF;
    }

    public static int code(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + CODE);
    }

    /// Returns the flags: [#HAS_LENGTH], [#HAS_DDP], [#HAS_RDMAP].
    public static int flags(MemorySegment segment, long offset) {
        int flags = BigEndian.u8(segment, offset + FLAGS);
        if (isSwapped(segment, offset)) {
            return ((flags & SWAPPED_LENGTH) != 0 ? HAS_LENGTH : 0)
                    | ((flags & SWAPPED_DDP) != 0 ? HAS_DDP : 0)
                    | ((flags & SWAPPED_RDMAP) != 0 ? HAS_RDMAP : 0);
        }
        return flags & (HAS_LENGTH | HAS_DDP | HAS_RDMAP);
    }

    /// Returns the offset of the refused segment's DDP header from the start of this body; only with [#HAS_DDP].
    public static int ddpOffset(MemorySegment segment, long offset) {
        return CONTROL_BYTES + ((flags(segment, offset) & HAS_LENGTH) != 0 ? 2 : 0);
    }

    /// Writes the first word.
    public static void write(MemorySegment segment, long offset, TerminateCode code, int flags) {
        BigEndian.put8(segment, offset + LAYER_AND_TYPE, code.layer() << 4 | code.type());
        BigEndian.put8(segment, offset + CODE, code.code());
        BigEndian.put8(segment, offset + FLAGS, flags);
        BigEndian.put8(segment, offset + FLAGS + 1, 0);
    }

    /// Writes the length, behind the first word.
    public static void writeSegmentLength(MemorySegment segment, long offset, int bytes) {
        BigEndian.put16(segment, offset + CONTROL_BYTES, bytes);
    }
}
