package verbena.nic.link.tcp;

import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tap.TappedStream;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;

/// A stream that shows the bytes between a [TappedStream] and the system to a [Tap].
final class TapStream extends ByteStream {
    private final TappedStream socket;
    private final ByteStream below;
    private final Tap tap;
    private final LongSupplier clock;
    private boolean endSeen;

    /// @param socket the socket whose bytes they are
    /// @param below the stream that the socket would use without this one
    TapStream(TappedStream socket, ByteStream below, Tap tap, LongSupplier clock) {
        this.socket = socket;
        this.below = below;
        this.tap = tap;
        this.clock = clock;
    }

    @Override
    void onOpened() {
        below.onOpened();
        tap.onStreamOpened(socket, clock.getAsLong());
    }

    @Override
    long read(StreamBuffer buffer, int from, int to) {
        return shown(below.read(buffer, from, to), MemorySegment.NULL, 0, 0, buffer, from);
    }

    @Override
    long read(StreamTarget first, StreamBuffer then, int from, int to) {
        return shown(below.read(first, then, from, to), first.segment, first.offset, first.bytes, then, from);
    }

    private long shown(long n, MemorySegment first, long at, int room, StreamBuffer then, int from) {
        long now = clock.getAsLong();
        if (n == 0 && !endSeen) {
            endSeen = true;
            tap.onStreamEnded(socket, true, now);
        }
        long inFirst = Math.min(n, room);
        if (inFirst > 0) {
            tap.onStreamReceived(socket, first, at, inFirst, now);
        }
        if (n > room) {
            tap.onStreamReceived(socket, then.segment, from, n - room, now);
        }
        return n;
    }

    @Override
    long send(StreamBuffer bytes, int from, int to) {
        long now = clock.getAsLong(); // read first, so that no byte is received before it was sent
        long n = below.send(bytes, from, to);
        if (n > 0) {
            tap.onStreamSent(socket, bytes.segment, from, n, now);
        }
        return n;
    }

    @Override
    long send(StreamOutput output) {
        long now = clock.getAsLong();
        long n = below.send(output);
        long left = n;
        for (int i = 0; left > 0; i++) {
            long count = Math.min(left, output.length(i));
            tap.onStreamSent(socket, output.segment(i), output.offset(i), count, now);
            left -= count;
        }
        return n;
    }

    @Override
    void endOutput() {
        tap.onStreamEnded(socket, false, clock.getAsLong());
        below.endOutput();
    }

    @Override
    void release(boolean reset) {
        tap.onStreamClosed(socket, reset, clock.getAsLong());
        below.release(reset);
    }
}
