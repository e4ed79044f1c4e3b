package verbena.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Numbers in network order at any address of a segment: the base of every header view of this module.
///
/// Unsigned values of up to 32 bits are returned in the type that holds them (`u8`, `u16`, `u24` as `int`, `u32` as
/// `long`); `i32` and `i64` are the bits as they are, for keys and addresses whose sign means nothing. What is put
/// is cut to the width of its field.
public final class BigEndian {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(BIG_ENDIAN);

    private BigEndian() {}

    public static int u8(MemorySegment segment, long offset) {
        return segment.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    public static int u16(MemorySegment segment, long offset) {
        return segment.get(U16, offset) & 0xFFFF;
    }

    /// Reads three bytes and no fourth.
    public static int u24(MemorySegment segment, long offset) {
        return (u8(segment, offset) << 16) | u16(segment, offset + 1);
    }

    public static int i32(MemorySegment segment, long offset) {
        return segment.get(I32, offset);
    }

    public static long u32(MemorySegment segment, long offset) {
        return Integer.toUnsignedLong(i32(segment, offset));
    }

    public static long i64(MemorySegment segment, long offset) {
        return segment.get(I64, offset);
    }

    public static void put8(MemorySegment segment, long offset, int value) {
        segment.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
    }

    public static void put16(MemorySegment segment, long offset, int value) {
        segment.set(U16, offset, (short) value);
    }

    /// Writes three bytes and leaves the fourth alone.
    public static void put24(MemorySegment segment, long offset, int value) {
        put8(segment, offset, value >>> 16);
        put16(segment, offset + 1, value);
    }

    public static void put32(MemorySegment segment, long offset, int value) {
        segment.set(I32, offset, value);
    }

    public static void put64(MemorySegment segment, long offset, long value) {
        segment.set(I64, offset, value);
    }
}
