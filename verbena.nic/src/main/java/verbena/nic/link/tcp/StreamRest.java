package verbena.nic.link.tcp;

import org.jspecify.annotations.Nullable;
import verbena.foreign.GuardedAccess;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;

/// The bytes that were written to a stream and that the system has not taken yet: a copy, so that no user memory is
/// retained.
///
/// Bytes `from` to `to` of the buffer are left; there is a buffer only while at least one byte is left.
final class StreamRest {
    private final StreamBuffers buffers;
    private @Nullable StreamBuffer buffer;
    private int from;
    private int to;

    /// @param buffers those of the link
    StreamRest(StreamBuffers buffers) {
        this.buffers = buffers;
    }

    boolean isEmpty() {
        return buffer == null;
    }

    /// Copies the gathered bytes without the first `sent`.
    ///
    /// @throws IllegalStateException when the memory of some has gone
    void keep(StreamOutput output, long sent) {
        StreamBuffer copy = buffers.take();
        long skip = sent;
        int at = 0;
        for (int i = 0; i < output.count(); i++) {
            int n = output.length(i);
            if (skip >= n) {
                skip -= n;
                continue;
            }
            if (!GuardedAccess.copy(output.segment(i), output.offset(i) + skip, copy.segment, at, n - skip)) {
                buffers.giveBack(copy);
                throw new IllegalStateException("it was unmapped");
            }
            at += (int) (n - skip);
            skip = 0;
        }
        keep(copy, 0, at);
    }

    /// Keeps bytes `first` to `end` of a buffer, which is released when they have left.
    void keep(StreamBuffer copy, int first, int end) {
        assert buffer == null : "earlier bytes leave first";
        assert first >= 0 && first < end && end <= copy.size() : first + " to " + end;
        buffer = copy;
        from = first;
        to = end;
    }

    /// Writes the rest; returns whether nothing is left.
    boolean send(ByteStream stream) {
        StreamBuffer rest = buffer;
        if (rest == null) {
            return true;
        }
        long sent = stream.send(rest, from, to);
        if (sent < 0) {
            return false; // the stream is broken: reading will report it
        }
        from += (int) sent;
        assert from <= to;
        if (from < to) {
            return false;
        }
        release();
        return true;
    }

    /// Drops the rest and releases the buffer.
    void release() {
        StreamBuffer rest = buffer;
        if (rest != null) {
            buffer = null;
            buffers.giveBack(rest);
        }
    }
}
