package verbena.verbs.cm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/// Bytes that applications send to each other while they connect, accept, reject or disconnect. How much fits
/// depends on the message: 56 bytes to connect, 180 to ask for datagrams, 196 to accept, 136 to accept datagrams,
/// 148 to reject; with a [Secret] 24 to connect and 180 to accept. The wire does not tell the length: on InfiniBand
/// and RoCE a shorter one arrives with zeroes behind it. Unchangeable.
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

    /// Returns a text in UTF-8.
    public static PrivateData ofText(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Returns the number of bytes, with the zeroes that the wire has put behind them.
    public int length() {
        return bytes.length;
    }

    /// Returns a copy.
    public byte[] bytes() {
        return bytes.clone();
    }

    /// Returns the text up to the first zero byte, from UTF-8.
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
