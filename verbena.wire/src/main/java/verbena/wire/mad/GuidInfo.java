package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The GUIDs of a port (IBTA 14.2.5.5), eight in a block. The attribute modifier is the block.
public final class GuidInfo {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x14;
    /// Entries of a block.
    public static final int ENTRIES = 8;

    private GuidInfo() {}

    /// Returns an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static long get(MemorySegment block, int index) {
        return BigEndian.i64(block, 8L * index);
    }

    /// Changes an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static void put(MemorySegment block, int index, long value) {
        BigEndian.put64(block, 8L * index, value);
    }
}
