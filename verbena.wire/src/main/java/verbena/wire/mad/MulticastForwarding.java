package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The ports by which a switch forwards each multicast LID (IBTA 14.2.5.12): 32 LIDs in a block, a bit for each of
/// 16 ports. The attribute modifier is the block, and its first four bits select the 16 ports.
public final class MulticastForwarding {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x1B;
    /// Entries of a block.
    public static final int ENTRIES = 32;
    /// Ports that an entry has bits for.
    public static final int PORTS = 16;
    /// The first multicast LID.
    public static final int FIRST_LID = 0xC000;
    /// The last multicast LID.
    public static final int LAST_LID = 0xFFFE;

    private MulticastForwarding() {}

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
    ///
    /// @param position 0 for ports 0 to 15, 1 for ports 16 to 31 and so on
    public static int modifier(int position, int block) {
        return position << 28 | block;
    }
}
