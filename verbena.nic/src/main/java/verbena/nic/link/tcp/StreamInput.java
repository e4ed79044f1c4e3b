package verbena.nic.link.tcp;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.iwarp.StreamBuffer;

/// The bytes that have arrived on a stream and were not consumed. They are in a buffer that all streams of the link
/// share, or, when they are few and no more come, in a small piece of memory. So thousands of idle connections hold
/// no memory, or little.
///
/// Bytes `from` to `to` are kept: always 0 <= from <= to, and `to` is within the memory.
final class StreamInput {
    private final StreamBuffers buffers;
    private @Nullable StreamBuffer buffer;
    private @Nullable MemorySegment little;
    private int from;
    private int to;

    /// @param buffers those of the link
    StreamInput(StreamBuffers buffers) {
        this.buffers = buffers;
    }

    boolean isEmpty() {
        return from == to;
    }

    /// Returns the position of the next byte in the buffer of [#roomy()].
    int end() {
        return to;
    }

    /// Returns a buffer that holds the kept bytes, with room behind them.
    StreamBuffer roomy() {
        StreamBuffer roomy = buffer;
        if (roomy == null) {
            roomy = buffers.take();
            buffer = roomy;
            MemorySegment kept = little;
            if (kept == null) {
                from = to = 0;
            } else {
                little = null;
                moveToFront(kept, roomy);
                buffers.giveBack(kept);
            }
        } else if (from > 0 && roomy.size() - to < StreamBuffers.ROOM_BYTES_MIN) {
            moveToFront(roomy.segment, roomy);
        }
        assert isSound();
        return roomy;
    }

    private void moveToFront(MemorySegment source, StreamBuffer target) {
        MemorySegment.copy(source, from, target.segment, 0, to - from);
        to -= from;
        from = 0;
    }

    /// Notes that this many bytes have been read behind [#end()].
    void add(int bytes) {
        assert buffer != null && bytes >= 0;
        to += bytes;
        assert isSound();
    }

    /// Hands the kept bytes to the handler, which returns how many it has consumed.
    void deliver(StreamHandler handler, long now) {
        StreamBuffer presented = buffer;
        if (presented == null || isEmpty()) {
            return;
        }
        int done = handler.onBytes(presented, from, to, now);
        if (buffer != presented) {
            return; // the handler has closed the stream
        }
        from += done;
        assert isSound() : done + " bytes are done with";
        if (isEmpty()) {
            from = to = 0;
        }
    }

    /// Reduces the memory to what the kept bytes need.
    void settle() {
        StreamBuffer held = buffer;
        int kept = to - from;
        if (held == null || kept > StreamBuffers.LITTLE_BYTES) {
            return;
        }
        if (kept > 0) {
            MemorySegment own = buffers.takeLittle();
            MemorySegment.copy(held.segment, from, own, 0, kept);
            little = own;
        }
        buffer = null;
        from = 0;
        to = kept;
        buffers.giveBack(held);
        assert isSound();
    }

    /// Drops the kept bytes and releases the memory.
    void release() {
        StreamBuffer held = buffer;
        if (held != null) {
            buffer = null;
            buffers.giveBack(held);
        }
        MemorySegment kept = little;
        if (kept != null) {
            little = null;
            buffers.giveBack(kept);
        }
        from = to = 0;
    }

    private boolean isSound() {
        int size = buffer != null ? buffer.size() : little != null ? StreamBuffers.LITTLE_BYTES : 0;
        return (buffer == null || little == null) && from >= 0 && from <= to && to <= size;
    }
}
