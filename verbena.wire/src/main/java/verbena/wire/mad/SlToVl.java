package verbena.wire.mad;

import java.lang.foreign.MemorySegment;

/// The virtual lane of the packets of each service level (IBTA 14.2.5.8). At a switch there is a table for each pair
/// of ports: the attribute modifier has the port of arrival, and in its last octet that of departure.
public final class SlToVl {
    /// Attribute ID.
    public static final int ATTRIBUTE = 0x17;
    /// Entries of a block.
    public static final int ENTRIES = 16;
    /// Size, in bytes.
    public static final int BYTES = 8;
    /// The lane that drops its packets.
    public static final int DROP = 15;

    private SlToVl() {}

    /// Returns an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static int get(MemorySegment block, int index) {
        return new Field(index / 2, index % 2 * 4, 4).getInt(block);
    }

    /// Changes an entry of a block.
    ///
    /// @param index 0 to [#ENTRIES] - 1
    public static void put(MemorySegment block, int index, int value) {
        new Field(index / 2, index % 2 * 4, 4).put(block, value);
    }

    /// Returns the attribute modifier.
    public static int modifier(int portIn, int portOut) {
        return portIn << 8 | portOut;
    }
}
