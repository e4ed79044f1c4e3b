package verbena.verbs.cm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/// Bytes that applications send to each other while they connect, accept or reject. Immutable.
///
/// The method that sends data beyond a limit throws [IllegalArgumentException]. The limits in bytes:
///
/// | to | InfiniBand, RoCE, `shm` | an `iwarp` device | a card with iWARP |
/// |---|---|---|---|
/// | connect | 56; 24 with a [Secret] | 508; 468 with a secret | 56 |
/// | accept | 196; 180 with a secret | 508; 484 with a secret | 255 |
/// | reject | 148 | 508 | 255 |
/// | ask for datagrams | 180 | | |
/// | accept datagrams | 136 | | |
///
/// InfiniBand and RoCE do not carry the length: shorter data arrive with zeroes behind them, up to the limit. Then
/// [#equals] of what was sent and of what has arrived is false; [#text()] stops at the first zero. Over iWARP data
/// arrive with their exact length.
///
/// @since 0.1
public final class PrivateData {
    /// No private data.
    public static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    /// Returns a copy of `bytes`.
    public static PrivateData of(byte... bytes) {
        return bytes.length == 0 ? NONE : new PrivateData(bytes.clone());
    }

    /// Returns the bytes of a text in UTF-8.
    public static PrivateData ofText(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Returns the number of bytes, with the zeroes that the wire has added.
    public int length() {
        return bytes.length;
    }

    /// Returns a copy.
    public byte[] bytes() {
        return bytes.clone();
    }

    /// Returns the text in UTF-8 up to the first zero byte.
    public String text() {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    /// Returns whether `other` has the same bytes and the same length, added zeroes included.
    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData data && Arrays.equals(bytes, data.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /// Returns hexadecimal digits.
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
