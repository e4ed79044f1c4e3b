package verbena.verbs.cm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/// Bytes that applications send to each other while they connect, accept, reject or disconnect. Immutable.
///
/// The limit depends on the message: 56 bytes to connect, 180 to ask for datagrams, 196 to accept, 136 to accept
/// datagrams, and 148 to reject. With a [Secret] it is 24 to connect and 180 to accept. Over iWARP it is 56 to
/// connect and 255 to accept or reject, or more. The method that sends longer data throws [IllegalArgumentException].
///
/// The wire does not carry the length. On InfiniBand and RoCE shorter data arrive with zeroes behind them.
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
