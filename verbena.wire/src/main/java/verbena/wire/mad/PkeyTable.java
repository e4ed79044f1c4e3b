package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The partition keys of a port (IBTA 14.2.5.7), 32 in a block. The attribute modifier is the block, and of a
/// switch the port in the upper half.
public final class PkeyTable {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x16;
    /// Entries of a block.
    public static final int ENTRIES = 32;
    /// The top bit of a P_Key: its owner is a full member.
    public static final int FULL_MEMBER = 0x8000;

    private PkeyTable() {}

    /// Returns an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static int get(MemorySegment block, int index) {
        return BigEndian.u16(block, 2L * index);
    }

    /// Changes an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static void put(MemorySegment block, int index, int value) {
        BigEndian.put16(block, 2L * index, value);
    }

    /// Returns the attribute modifier.
    public static int modifier(int port, int block) {
        return port << 16 | block;
    }
}
