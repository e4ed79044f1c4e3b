package verbena.verbs;

import java.util.HexFormat;

/// The address and key of a peer's memory, for READ, WRITE and atomics. Immutable. The peer decides how long the key
/// is valid. A request with an invalid key ends with `REM_ACCESS_ERR`.
///
/// @param address of the first byte, as the owner counts (its IOVA)
/// @param rkey the key
/// @param length in bytes, not negative
/// @since 0.1
public record RemoteMemory(long address, int rkey, long length) {
    public RemoteMemory {
        if (length < 0) {
            throw new IllegalArgumentException("length: not negative, got " + length);
        }
    }

    /// Returns the part of `length` bytes from `offset` on.
    ///
    /// @throws IndexOutOfBoundsException when the part is not inside
    public RemoteMemory slice(long offset, long length) {
        Checks.inside("slice", offset, length, this.length);
        return new RemoteMemory(address + offset, rkey, length);
    }

    /// Returns the part from `offset` to the end.
    ///
    /// @throws IndexOutOfBoundsException when `offset` is not inside
    public RemoteMemory slice(long offset) {
        return slice(offset, Math.max(0, length - offset));
    }

    /// Returns one line of text that [#parse(String)] reads: `address/rkey/length`. The length is decimal, the
    /// others are hexadecimal.
    public String format() {
        return HexFormat.of().toHexDigits(address) + "/" + HexFormat.of().toHexDigits(rkey) + "/" + length;
    }

    /// Reads what [#format()] wrote.
    ///
    /// @throws IllegalArgumentException when `text` has another form
    public static RemoteMemory parse(String text) {
        String[] part = text.strip().split("/", -1);
        if (part.length != 3) {
            throw new IllegalArgumentException("remote memory: address/rkey/length expected, got \"" + text + "\"");
        }
        try {
            return new RemoteMemory(
                    Long.parseUnsignedLong(part[0], 16),
                    Integer.parseUnsignedInt(part[1], 16),
                    Long.parseLong(part[2]));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("remote memory: \"" + text + "\": " + e.getMessage(), e);
        }
    }
}
