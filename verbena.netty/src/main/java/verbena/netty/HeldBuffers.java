package verbena.netty;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;

/// Buffers that a device still reads, in the order in which they were written. One thread at a time.
final class HeldBuffers {
    private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>();
    /// Of each buffer, in a ring as long as a power of two: how many bytes had been written with it.
    private long[] ends = new long[16];

    private int first;
    private long written;

    boolean isEmpty() {
        return buffers.isEmpty();
    }

    /// Holds a buffer of which so many bytes were written now.
    void hold(ByteBuf buffer, long bytes) {
        int count = buffers.size();
        if (count == ends.length) {
            var more = new long[2 * count];
            for (int i = 0; i < count; i++) {
                more[i] = ends[(first + i) & (count - 1)];
            }
            ends = more;
            first = 0;
        }
        written += bytes;
        ends[(first + count) & (ends.length - 1)] = written;
        buffers.add(buffer.retain());
    }

    /// Releases those of whose bytes none is among the last `unacknowledged`.
    void release(long unacknowledged) {
        while (!buffers.isEmpty() && ends[first] <= written - unacknowledged) {
            first = (first + 1) & (ends.length - 1);
            buffers.remove().release();
        }
    }
}
