package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;

/// What was written to a stream and the system has not taken: a copy, so that no memory of a user is remembered.
///
/// Bytes `from` to `to` of the buffer are left; there is a buffer only while that is one at least.
final class StreamRest {
    private final TcpLink link;
    private @Nullable StreamBuffer buffer;
    private int from;
    private int to;

    /// @param link whose buffers they are
    StreamRest(TcpLink link) {
        this.link = link;
    }

    boolean isEmpty() {
        return buffer == null;
    }

    /// Copies what was gathered, but its first `sent` bytes.
    void keep(StreamOutput output, long sent) {
        StreamBuffer copy = link.take();
        long skip = sent;
        int at = 0;
        for (int i = 0; i < output.count(); i++) {
            int n = output.length(i);
            if (skip >= n) {
                skip -= n;
                continue;
            }
            MemorySegment.copy(output.segment(i), output.offset(i) + skip, copy.segment, at, n - skip);
            at += (int) (n - skip);
            skip = 0;
        }
        keep(copy, 0, at);
    }

    /// Keeps bytes `first` to `end` of a buffer, which is given back when they have left.
    void keep(StreamBuffer copy, int first, int end) {
        assert buffer == null : "what was written before leaves first";
        assert first >= 0 && first < end && end <= copy.size() : first + " to " + end;
        buffer = copy;
        from = first;
        to = end;
    }

    /// Writes what is left; true when nothing is left.
    boolean send(ByteStream stream) {
        StreamBuffer rest = buffer;
        if (rest == null) {
            return true;
        }
        long sent = stream.send(rest, from, to);
        if (sent < 0) {
            return false; // the stream is broken: reading tells
        }
        from += (int) sent;
        assert from <= to;
        if (from < to) {
            return false;
        }
        release();
        return true;
    }

    /// Forgets what is left and gives the buffer back.
    void release() {
        StreamBuffer rest = buffer;
        if (rest != null) {
            buffer = null;
            link.giveBack(rest);
        }
    }
}
