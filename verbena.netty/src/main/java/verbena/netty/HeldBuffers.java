package verbena.netty;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;

/// Buffers that a device still reads, in the order in which they were written. One thread at a time.
final class HeldBuffers {
    /// @param end how many bytes had been written with it
    private record Held(ByteBuf buffer, long end) {}

    private final ArrayDeque<Held> buffers = new ArrayDeque<>();
    private long written;

    boolean isEmpty() {
        return buffers.isEmpty();
    }

    /// Holds a buffer of which so many bytes were written now.
    void hold(ByteBuf buffer, long bytes) {
        written += bytes;
        buffers.add(new Held(buffer.retain(), written));
    }

    /// Releases the buffers that have no byte among the last `unacknowledged`.
    void release(long unacknowledged) {
        while (!buffers.isEmpty() && buffers.element().end <= written - unacknowledged) {
            buffers.remove().buffer.release();
        }
    }
}
