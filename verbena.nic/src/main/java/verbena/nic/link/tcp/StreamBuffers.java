package verbena.nic.link.tcp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import verbena.transport.iwarp.StreamBuffer;

/// The buffers that all streams of a link share. One that is given back is used again. For one thread.
final class StreamBuffers {
    /// The most bytes that are read or written at once.
    static final int BUFFER_BYTES = 256 << 10;
    /// The most bytes that a handler may leave unconsumed: the longest FPDU with its markers (RFC 5044).
    static final int KEPT_BYTES_MAX = 66 << 10;
    /// The least room behind the kept bytes; with less, they are moved to the front.
    static final int ROOM_BYTES_MIN = BUFFER_BYTES - KEPT_BYTES_MAX - (64 << 10);
    /// The most bytes that are kept outside of a buffer.
    static final int LITTLE_BYTES = 4 << 10;

    private final Arena arena;
    private final ArrayDeque<StreamBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<MemorySegment> freeLittle = new ArrayDeque<>();

    /// @param arena the memory of the link, which is freed with it
    StreamBuffers(Arena arena) {
        this.arena = arena;
    }

    StreamBuffer take() {
        StreamBuffer last = free.pollLast(); // the last one is warm in the cache
        return last != null ? last : new StreamBuffer(arena.allocate(BUFFER_BYTES, 64));
    }

    void giveBack(StreamBuffer buffer) {
        free.addLast(buffer);
    }

    MemorySegment takeLittle() {
        MemorySegment last = freeLittle.pollLast();
        return last != null ? last : arena.allocate(LITTLE_BYTES, 64);
    }

    void giveBack(MemorySegment little) {
        freeLittle.addLast(little);
    }
}
