package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Native memory for bytes of a stream, claimed once and used again and again.
public final class StreamBuffer {
    /// Enough for any FPDU with its markers, and for the beginning of the next.
    public static final int BYTES_MIN = 68 * 1024;

    public final MemorySegment segment;
    /// The same memory, for the classes of the JDK that take buffers (`java.util.zip.CRC32C`). Each use sets its
    /// position and limit anew.
    final ByteBuffer buffer;

    /// @param segment native, of at least [#BYTES_MIN] bytes
    public StreamBuffer(MemorySegment segment) {
        if (!segment.isNative() || segment.byteSize() < BYTES_MIN || segment.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "segment: needs native memory of at least " + BYTES_MIN + " bytes, got " + segment);
        }
        this.segment = segment;
        this.buffer = segment.asByteBuffer();
    }

    /// Returns its size in bytes.
    public int size() {
        return buffer.capacity();
    }
}
