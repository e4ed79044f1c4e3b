package verbena.tools.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;

/// The message of `rping`'s client to its server before each half of a ping: the memory that the server has to read
/// or write. It has 16 bytes in network order.
///
/// @param size bytes, unsigned
record RpingInfo(long address, int rkey, int size) {
    static final int BYTES = 16;

    private static final ValueLayout.OfLong ADDRESS = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int RKEY = 8;
    private static final int SIZE = 12;

    /// Returns the message for all of a region.
    static RpingInfo of(MemoryRegion region) {
        return new RpingInfo(region.address(), region.rkey(), (int) region.length());
    }

    /// Reads a message.
    static RpingInfo from(MemorySegment message) {
        return new RpingInfo(message.get(ADDRESS, 0), message.get(NUMBER, RKEY), message.get(NUMBER, SIZE));
    }

    /// Returns the first bytes of the memory.
    RemoteMemory memory(int length) {
        return new RemoteMemory(address, rkey, length);
    }

    void writeTo(MemorySegment message) {
        message.set(ADDRESS, 0, address);
        message.set(NUMBER, RKEY, rkey);
        message.set(NUMBER, SIZE, size);
    }

    /// Returns the words of the C program's debug output.
    @Override
    public String toString() {
        return "rkey %x addr %x len %d".formatted(rkey, address, Integer.toUnsignedLong(size));
    }
}
