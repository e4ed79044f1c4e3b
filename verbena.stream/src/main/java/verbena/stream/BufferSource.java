package verbena.stream;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.SendRing;
import verbena.stream.protocol.StreamSource;

/// Buffers that are sent one after the other. Their positions follow what is copied. One write at a time uses it, so
/// that none is made for a write.
final class BufferSource implements StreamSource {
    private final ByteBuffer[] single = new ByteBuffer[1];
    private ByteBuffer @Nullable [] buffers;
    private int at;

    /// Begins with one buffer; returns its bytes.
    long begin(ByteBuffer one) {
        requireReadable(one);
        single[0] = one;
        buffers = single;
        at = 0;
        return one.remaining();
    }

    /// Begins with several; returns their bytes.
    long begin(ByteBuffer[] all, int offset, int length) {
        buffers = all;
        at = offset;
        long bytes = 0;
        for (int i = offset; i < offset + length; i++) {
            requireReadable(all[i]);
            bytes += all[i].remaining();
        }
        return bytes;
    }

    /// How much can be read into buffers. Refuses those that cannot be written, before any byte is taken.
    static long room(ByteBuffer[] into, int offset, int length) {
        long bytes = 0;
        for (int i = offset; i < offset + length; i++) {
            if (into[i].isReadOnly()) {
                throw new IllegalArgumentException("into: buffers that are not read-only");
            }
            requireReadable(into[i]);
            bytes += into[i].remaining();
        }
        return bytes;
    }

    /// Touches the first byte: that fails when the memory is closed, or another thread's.
    private static void requireReadable(ByteBuffer buffer) {
        if (buffer.hasRemaining()) {
            buffer.get(buffer.position());
        }
    }

    @Override
    public void copy(long from, int length, SendRing into) {
        ByteBuffer[] all = buffers;
        int left = length;
        while (all != null && left > 0) {
            ByteBuffer next = all[at];
            int now = Math.min(left, next.remaining());
            into.put(next, next.position(), now);
            next.position(next.position() + now);
            left -= now;
            at += next.hasRemaining() ? 0 : 1;
        }
    }

    /// Forgets the buffers.
    @SuppressWarnings("NullAway") // the place is empty between writes
    void end() {
        single[0] = null;
        buffers = null;
    }
}
