package verbena.stream;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.SendRing;
import verbena.stream.protocol.StreamSource;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// Buffers that are sent in turn. Their positions follow the bytes that are copied. One write at a time uses this
/// object, so that a write makes none.
final class BufferSource implements StreamSource {
    private final ByteBuffer[] single = new ByteBuffer[1];
    private ByteBuffer @Nullable [] buffers;
    private int at;
    private int end;

    /// Begins with one buffer.
    void begin(ByteBuffer one) {
        single[0] = one;
        begin(single, 0, 1);
    }

    /// Begins with several.
    void begin(ByteBuffer[] all, int offset, int length) {
        buffers = all;
        at = offset;
        end = offset + length;
    }

    /// Returns the number of bytes of all buffers.
    long remaining() {
        ByteBuffer[] all = buffers;
        long bytes = 0;
        for (int i = at; all != null && i < end; i++) {
            requireReadable(all[i]);
            bytes += all[i].remaining();
        }
        return bytes;
    }

    /// Touches the first byte: that fails when the memory is closed, or another thread's.
    static void requireReadable(ByteBuffer buffer) {
        if (buffer.hasRemaining()) {
            buffer.get(buffer.position());
        }
    }

    /// Refuses registered memory that is not the stream's.
    static void requireOf(ProtectionDomain domain, MemoryRegion from) {
        if (from.isClosed()) {
            throw new InvalidStateException("write: " + from + " is closed");
        }
        if (!from.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    "from: the region belongs to another protection domain than the channel");
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
