package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The port by which a switch forwards each LID (IBTA 14.2.5.10), 64 LIDs in a block. The attribute modifier is the
/// block.
public final class LinearForwarding {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x19;
    /// Entries of a block.
    public static final int ENTRIES = 64;
    /// The entry of a LID that is not forwarded.
    public static final int NO_PORT = 0xFF;

    private LinearForwarding() {}

    /// Returns an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static int get(MemorySegment block, int index) {
        return BigEndian.u8(block, index);
    }

    /// Changes an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static void put(MemorySegment block, int index, int value) {
        BigEndian.put8(block, index, value);
    }
}
