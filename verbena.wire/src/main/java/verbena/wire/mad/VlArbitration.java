package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The shares in which the virtual lanes of a port send (IBTA 14.2.5.9): two tables of up to 64 entries, half of a
/// table in a block. The attribute modifier is the block, 1 to 4, in the upper half, and the port.
public final class VlArbitration {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x18;
    /// Entries of a block.
    public static final int ENTRIES = 32;
    /// Block of the first half of the table of low priority; the second half is the next one.
    public static final int LOW = 1;
    /// Block of the first half of the table of high priority; the second half is the next one.
    public static final int HIGH = 3;

    private VlArbitration() {}

    public static int lane(MemorySegment block, int index) {
        return BigEndian.u8(block, 2L * index) & 0xF;
    }

    /// Returns an entry's weight in units of 64 bytes; an entry of 0 is skipped.
    public static int weight(MemorySegment block, int index) {
        return BigEndian.u8(block, 2L * index + 1);
    }

    /// Changes an entry.
    public static void put(MemorySegment block, int index, int lane, int weight) {
        BigEndian.put8(block, 2L * index, lane & 0xF);
        BigEndian.put8(block, 2L * index + 1, weight);
    }

    /// Returns the attribute modifier.
    public static int modifier(int block, int port) {
        return block << 16 | port;
    }
}
