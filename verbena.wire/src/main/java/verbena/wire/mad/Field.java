package verbena.wire.mad;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;

/// The place of a number in a message, most significant bit first, as the standard's tables have it.
///
/// @param octet from the message's start
/// @param bit from the octet's most significant one, 0 to 7
/// @param bits at most 64; a field that starts or ends inside an octet has at most 56
public record Field(int octet, int bit, int bits) {
    /// Returns a field that begins with an octet.
    public static Field of(int octet, int bits) {
        return new Field(octet, 0, bits);
    }

    /// Fields of 64 bits each, one behind the other: what is wider than a number, such as a GID.
    ///
    /// @param octets a multiple of 8
    public static List<Field> wide(int octet, int octets) {
        return IntStream.range(0, octets / 8)
                .mapToObj(i -> of(octet + 8 * i, 64))
                .toList();
    }

    /// Returns the same field of a structure that begins at this octet.
    public Field in(int start) {
        return new Field(start + octet, bit, bits);
    }

    private int octets() {
        return (bit + bits + 7) / 8;
    }

    private int shift() {
        return 8 * octets() - bit - bits;
    }

    private long mask() {
        return bits == 64 ? -1 : (1L << bits) - 1;
    }

    /// Returns the field's value, unsigned but for a field of 64 bits.
    public long get(MemorySegment message) {
        return (raw(message) >>> shift()) & mask();
    }

    /// Returns the value of a field of at most 32 bits.
    public int getInt(MemorySegment message) {
        return (int) get(message);
    }

    /// Returns whether the field is not 0.
    public boolean getBoolean(MemorySegment message) {
        return get(message) != 0;
    }

    /// Leaves its neighbours as they are; high bits of the value that do not fit are dropped.
    public void put(MemorySegment message, long value) {
        long all = (raw(message) & ~(mask() << shift())) | ((value & mask()) << shift());
        for (int i = octets() - 1; i >= 0; i--) {
            message.set(ValueLayout.JAVA_BYTE, octet + i, (byte) all);
            all >>>= 8;
        }
    }

    /// Puts 1 or 0.
    public void put(MemorySegment message, boolean value) {
        put(message, value ? 1 : 0);
    }

    private long raw(MemorySegment message) {
        long all = 0;
        for (int i = 0; i < octets(); i++) {
            all = all << 8 | (message.get(ValueLayout.JAVA_BYTE, octet + i) & 0xFF);
        }
        return all;
    }
}
