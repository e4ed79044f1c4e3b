package verbena.foreign;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import verbena.verbs.Gid;

/// Native memory by absolute address: what the libraries' pointers point to.
public final class Memory {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfLong LONG_BE = LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;

    /// All of it: addresses are offsets in it.
    @SuppressWarnings("restricted") // pointers of C are addresses without bounds
    public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final boolean IS_BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private Memory() {}

    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    public static int getUnsignedByte(long address) {
        return getByte(address) & 0xFF;
    }

    public static int getUnsignedShort(long address) {
        return ALL.get(SHORT, address) & 0xFFFF;
    }

    public static int getInt(long address) {
        return ALL.get(INT, address);
    }

    public static long getLong(long address) {
        return ALL.get(LONG, address);
    }

    public static void putByte(long address, int value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
    }

    public static void putShort(long address, int value) {
        ALL.set(SHORT, address, (short) value);
    }

    public static void putInt(long address, int value) {
        ALL.set(INT, address, value);
    }

    public static void putLong(long address, long value) {
        ALL.set(LONG, address, value);
    }

    /// Stores two numbers that lie side by side, in one store.
    public static void putInts(long address, int first, int second) {
        putLong(address, IS_BIG_ENDIAN ? pair(second, first) : pair(first, second));
    }

    private static long pair(int low, int high) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }

    /// Returns the first of two numbers that lie side by side and were read together, by [#getLong].
    public static int first(long both) {
        return (int) (IS_BIG_ENDIAN ? both >>> Integer.SIZE : both);
    }

    /// Returns the second of two numbers that were read together.
    public static int second(long both) {
        return (int) (IS_BIG_ENDIAN ? both : both >>> Integer.SIZE);
    }

    /// Swaps a number between this host's order and the network's.
    public static int swap(int value) {
        return IS_BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }

    public static long swap(long value) {
        return IS_BIG_ENDIAN ? value : Long.reverseBytes(value);
    }

    public static int swapShort(int value) {
        return IS_BIG_ENDIAN ? value & 0xFFFF : Short.reverseBytes((short) value) & 0xFFFF;
    }

    public static Gid getGid(long address) {
        return new Gid(ALL.get(LONG_BE, address), ALL.get(LONG_BE, address + 8));
    }

    public static void putGid(long address, Gid gid) {
        ALL.set(LONG_BE, address, gid.high());
        ALL.set(LONG_BE, address + 8, gid.low());
    }

    /// Reads a text up to its zero.
    public static String getString(long address) {
        return ALL.getString(address, StandardCharsets.UTF_8);
    }

    public static MemorySegment at(long address, long bytes) {
        return ALL.asSlice(address, bytes);
    }

    public static void fill(long address, long bytes) {
        ALL.asSlice(address, bytes).fill((byte) 0);
    }

    /// Copies a segment, heap or native, to an address.
    public static void copyFrom(MemorySegment from, long address, long bytes) {
        MemorySegment.copy(from, 0, ALL, address, bytes);
    }

    public static byte[] bytes(long address, int count) {
        return ALL.asSlice(address, count).toArray(ValueLayout.JAVA_BYTE);
    }
}
