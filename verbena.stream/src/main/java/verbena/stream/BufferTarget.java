package verbena.stream;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.ByteStream;

/// Buffers that are filled in turn. One read at a time uses this object, so that a read makes none.
final class BufferTarget {
    private static final ByteBuffer[] NONE = {};

    private final @Nullable ByteBuffer[] single = new ByteBuffer[1];
    private @Nullable ByteBuffer[] buffers = NONE;
    private int from;
    private int to;

    /// Begins with one buffer.
    void begin(ByteBuffer one) {
        single[0] = one;
        begin(single, 0, 1);
    }

    /// Begins with several.
    void begin(@Nullable ByteBuffer[] all, int offset, int length) {
        buffers = all;
        from = offset;
        to = offset + length;
    }

    /// Returns whether there is room for a byte.
    ///
    /// @throws IllegalArgumentException when one of the buffers cannot be written to
    boolean hasRoom() {
        boolean hasRoom = false;
        for (int i = from; i < to; i++) {
            ByteBuffer next = buffer(i);
            if (next.isReadOnly()) {
                throw new IllegalArgumentException("into: buffer " + (i - from) + " is read-only");
            }
            BufferSource.requireReadable(next);
            hasRoom |= next.hasRemaining();
        }
        return hasRoom;
    }

    @SuppressWarnings("NullAway") // a place that the caller has left empty is to be its exception
    private ByteBuffer buffer(int i) {
        return Objects.requireNonNull(buffers[i]);
    }

    /// Takes the bytes that have come, as many as there is room for. Returns their number.
    long take(ByteStream stream) {
        long count = 0;
        for (int i = from; i < to && stream.available() > 0; i++) {
            ByteBuffer next = buffer(i);
            int now = stream.receive(next, next.position(), next.remaining());
            next.position(next.position() + now);
            count += now;
        }
        return count;
    }

    /// Forgets the buffers.
    void end() {
        single[0] = null;
        buffers = NONE;
        to = from;
    }
}
