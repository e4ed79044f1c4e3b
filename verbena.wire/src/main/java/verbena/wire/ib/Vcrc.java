package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The variant CRC of native InfiniBand links (IBTA 7.8.2): 16 bits, polynomial 0x100B, from ones, the lowest bit of
/// each byte first, complemented. A data packet has it behind the ICRC, over everything from the LRH on. A link
/// packet has it under the name LPCRC (IBTA 7.9.4). The low byte is the first on the wire, as with the ICRC.
///
/// Any thread.
public final class Vcrc {
    /// Size on the wire, in bytes.
    public static final int BYTES = 2;

    private static final int POLYNOMIAL = 0xD008; // 0x100B, its lowest power first
    private static final int ONES = 0xFFFF;
    private static final ValueLayout.OfShort ON_THE_WIRE =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong EIGHT = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /// CRC tables, by the number of bytes that follow in a piece of eight, and then by byte.
    private static final char[][] TABLES = tables();

    private Vcrc() {}

    private static char[][] tables() {
        var tables = new char[Long.BYTES][256];
        for (int i = 0; i < 256; i++) {
            int crc = i;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) == 0 ? 0 : POLYNOMIAL);
            }
            tables[0][i] = (char) crc;
        }
        for (int behind = 1; behind < Long.BYTES; behind++) {
            for (int i = 0; i < 256; i++) {
                int crc = tables[behind - 1][i];
                tables[behind][i] = (char) (crc >>> 8 ^ tables[0][crc & 0xFF]);
            }
        }
        return tables;
    }

    /// Returns the CRC of `bytes` bytes, 16 bits.
    public static int of(MemorySegment segment, long offset, int bytes) {
        int crc = ONES;
        long at = offset;
        long end = offset + bytes;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            long eight = segment.get(EIGHT, at) ^ crc;
            crc = TABLES[7][(int) eight & 0xFF]
                    ^ TABLES[6][(int) (eight >>> 8) & 0xFF]
                    ^ TABLES[5][(int) (eight >>> 16) & 0xFF]
                    ^ TABLES[4][(int) (eight >>> 24) & 0xFF]
                    ^ TABLES[3][(int) (eight >>> 32) & 0xFF]
                    ^ TABLES[2][(int) (eight >>> 40) & 0xFF]
                    ^ TABLES[1][(int) (eight >>> 48) & 0xFF]
                    ^ TABLES[0][(int) (eight >>> 56)];
        }
        for (; at < end; at++) {
            crc = crc >>> 8 ^ TABLES[0][(crc ^ segment.get(ValueLayout.JAVA_BYTE, at)) & 0xFF];
        }
        return crc ^ ONES;
    }

    /// Writes the CRC of `bytes` bytes behind them.
    public static void seal(MemorySegment segment, long offset, int bytes) {
        segment.set(ON_THE_WIRE, offset + bytes, (short) of(segment, offset, bytes));
    }

    /// Returns whether the CRC behind `bytes` bytes is right.
    public static boolean verify(MemorySegment segment, long offset, int bytes) {
        return (segment.get(ON_THE_WIRE, offset + bytes) & ONES) == of(segment, offset, bytes);
    }
}
