package verbena.fuzz;

import java.util.Arrays;

/// Takes values from the bytes that the fuzzer has made. Behind the last byte all is zero, so that every input is
/// one.
public final class Input {
    private final byte[] bytes;
    private int at;

    public Input(byte[] bytes) {
        this.bytes = bytes;
    }

    public boolean hasMore() {
        return at < bytes.length;
    }

    public int u8() {
        return at < bytes.length ? bytes[at++] & 0xFF : 0;
    }

    public boolean bool() {
        return (u8() & 1) != 0;
    }

    public int u16() {
        return u8() << 8 | u8();
    }

    public int i32() {
        return u16() << 16 | u16();
    }

    public long i64() {
        return (long) i32() << 32 | Integer.toUnsignedLong(i32());
    }

    /// Returns a number from 0 to `bound` - 1, of at most 16 bits.
    public int below(int bound) {
        return bound <= 256 ? u8() % bound : u16() % bound;
    }

    public <T> T choice(T[] values) {
        return values[below(values.length)];
    }

    /// Returns the next bytes, fewer when there are not so many.
    public byte[] take(int most) {
        int from = at;
        at = Math.min(bytes.length, at + most);
        return Arrays.copyOfRange(bytes, from, at);
    }

    public byte[] rest() {
        return take(bytes.length);
    }
}
