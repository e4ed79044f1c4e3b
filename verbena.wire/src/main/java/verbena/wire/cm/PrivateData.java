package verbena.wire.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;

/// Data that applications exchange while they connect. The wire does not carry their length: shorter data arrive
/// with zeroes behind them.
public final class PrivateData {
    /// None.
    public static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    public static PrivateData of(byte... bytes) {
        return new PrivateData(bytes.clone());
    }

    static PrivateData read(MemorySegment message, int octet, int length) {
        return new PrivateData(message.asSlice(octet, length).toArray(ValueLayout.JAVA_BYTE));
    }

    void write(MemorySegment message, int octet, int room) {
        if (bytes.length > room) {
            throw new IllegalArgumentException("private data: at most " + room + " bytes fit, got " + bytes.length);
        }
        MemorySegment.copy(bytes, 0, message, ValueLayout.JAVA_BYTE, octet, bytes.length);
    }

    public int length() {
        return bytes.length;
    }

    /// Returns a copy of the bytes.
    public byte[] bytes() {
        return bytes.clone();
    }

    /// Returns the data from `offset` on.
    public PrivateData from(int offset) {
        return new PrivateData(Arrays.copyOfRange(bytes, Math.min(offset, bytes.length), bytes.length));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData data && Arrays.equals(bytes, data.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
