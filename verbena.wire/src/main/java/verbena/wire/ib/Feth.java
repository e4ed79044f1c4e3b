package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Flush extended transport header (IBTA A19): how far a FLUSH is to drive the data, and which.
public final class Feth {
    /// Size, in bytes.
    public static final int BYTES = 4;
    /// Placement type bit: visible to everyone.
    public static final int GLOBAL_VISIBILITY = 1;
    /// Placement type bit: survives a loss of power.
    public static final int PERSISTENCE = 2;
    /// Selectivity: the range that the RETH names.
    public static final int RANGE = 0;
    /// Selectivity: the whole memory region of the RETH's key.
    public static final int WHOLE_REGION = 1;

    private static final int WORD = 0; // reserved 26, SEL 2, PLT 4 bits
    private static final int SELECTIVITY_SHIFT = 4;
    private static final int SELECTIVITY_MASK = 0x3;
    private static final int PLACEMENT_MASK = 0xF;

    private Feth() {}

    /// Returns the selectivity level: [#RANGE], [#WHOLE_REGION], or one of two reserved values.
    public static int selectivity(MemorySegment segment, long offset) {
        return (BigEndian.i32(segment, offset + WORD) >>> SELECTIVITY_SHIFT) & SELECTIVITY_MASK;
    }

    /// Returns the placement type: [#GLOBAL_VISIBILITY], [#PERSISTENCE], both, or reserved bits.
    public static int placement(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + WORD) & PLACEMENT_MASK;
    }

    /// Writes all 4 bytes.
    public static void write(MemorySegment segment, long offset, int selectivity, int placement) {
        BigEndian.put32(
                segment,
                offset + WORD,
                ((selectivity & SELECTIVITY_MASK) << SELECTIVITY_SHIFT) | (placement & PLACEMENT_MASK));
    }
}
