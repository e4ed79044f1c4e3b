package verbena.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.nio.MoveState.Phase;

/// The direction of a [Moving] connection that this end reads. One thread at a time reads, and others wait for it, as
/// at a channel of the JDK's.
final class MovingInput {
    /// The result of a read that has come to the end of the stream, and has to be repeated.
    static final long AGAIN = -2;

    /// A read by the carrier whose turn it is.
    interface Read {
        /// Reads at most so many bytes.
        long from(Carrier by, long most) throws IOException;

        /// Takes the last bytes of a read back from the program.
        ///
        /// @param done the bytes that it has read
        /// @param into takes the last ones
        void takeBack(int done, ByteBuffer into);

        /// Reads bytes that were taken back.
        int from(ByteBuffer kept);

        /// Returns the time that the read may wait.
        long nanos();
    }

    private final Carrier tcp;
    private final MoveState state;
    private final Use use;
    private final ReentrantLock reading;
    /// The number of bytes that TCP has brought, marks included. Guarded by `reading`.
    private long got;
    /// The number of bytes after which the peer goes on by the stream.
    private volatile long end = Long.MAX_VALUE;
    /// The number of bytes in front of the peer's mark.
    private volatile long mark = Long.MAX_VALUE;
    /// Bytes that the peer has written by TCP after it has gone back, and that a read has found behind the mark.
    /// Guarded
    /// by `reading`.
    private @Nullable ByteBuffer behind;
    /// The same bytes, when those of the stream are read: the next ones. Written by a thread that has `reading`.
    private volatile @Nullable ByteBuffer kept;
    /// Whether a thread is reading. It may wait in the kernel, and has not looked at [#end] then.
    private volatile boolean isReading;

    /// Whether a read that did not wait has found that the stream has to come first.
    private volatile boolean isWaiting;

    /// The stream to go on by; null while there is none, and when the peer has gone back to TCP.
    private volatile @Nullable Carrier stream;
    private volatile boolean isMoved;
    /// Whether it has moved or waits, and no selector knows of it yet.
    private volatile boolean isNews;
    private volatile boolean isOver;

    MovingInput(Carrier tcp, MoveState state, Use use, ReentrantLock reading) {
        this.tcp = tcp;
        this.state = state;
        this.use = use;
        this.reading = reading;
    }

    /// Returns whether the bytes come by the stream.
    boolean isMoved() {
        return isMoved;
    }

    /// Returns whether the kernel has nothing to tell: it may report the end of TCP before its turn.
    boolean isWaiting() {
        return isMoved || (isWaiting && state.is(Phase.HELD));
    }

    /// Returns whether the peer's data have ended by TCP.
    boolean isOver() {
        return isOver;
    }

    /// Returns whether there is a stream that the peer writes to, or will write to.
    boolean hasStream() {
        return stream != null;
    }

    // ---- moving

    /// Notes how many bytes the peer has written by TCP before it moves. Returns whether the peer has to write one
    /// more as a mark, because a thread may wait in the kernel.
    boolean endsAfter(long bytes) {
        end = bytes;
        boolean wantsMark = isReading;
        if (wantsMark) {
            mark = bytes;
            end = bytes + 1;
        }
        return wantsMark;
    }

    /// Notes that the peer does not move.
    void doesNotEnd() {
        isWaiting = false;
        end = Long.MAX_VALUE;
        mark = Long.MAX_VALUE;
    }

    /// Goes on by this stream when all bytes of TCP are read.
    void follow(Carrier by) {
        stream = by;
    }

    /// Goes on by the stream if all bytes of TCP are read; by a thread that has `reading`.
    private boolean moves() {
        if (!isMoved && stream != null && got >= end && kept == null) {
            isMoved = true;
            isNews = true;
        }
        return isMoved;
    }

    /// Returns whether the bytes come by the stream, or do from now on. If another thread is reading, that thread
    /// finds out, and says so ([#hasToTell]).
    boolean looksMoved() {
        if (!isMoved && stream != null && reading.tryLock()) {
            try {
                return moves();
            } finally {
                reading.unlock();
            }
        }
        return isMoved;
    }

    /// Returns whether selectors have to look where the bytes come from: a thread that has read has found out, or may
    /// have kept them from it.
    boolean hasToTell() {
        boolean was = isNews || (!isMoved && stream != null);
        isNews = false;
        return was;
    }

    private void goBack() {
        ByteBuffer next = behind;
        if (next != null && next.hasRemaining()) {
            got += next.remaining();
            kept = next;
        }
        behind = null;
        doesNotEnd();
        stream = null;
        isMoved = false;
    }

    /// Goes back to TCP if the peer has, and no thread reads, which would find out by itself.
    void lookBack() throws IOException {
        Carrier by = stream;
        if (by == null || !reading.tryLock()) {
            return;
        }
        try {
            readMark();
            // Bytes, or the end, or a failure: if there are no bytes, a read does not wait.
            boolean isAtEnd =
                    moves() && (by.readyOps(SelectionKey.OP_READ) & SelectionKey.OP_READ) != 0 && by.available() == 0;
            if (isAtEnd && by.read(ByteBuffer.allocate(1)) < 0) {
                goBack();
            }
        } finally {
            reading.unlock();
        }
    }

    // ---- reading

    /// Reads from the stream, if the bytes come from there. Returns less than 0 when they do not, or it has ended.
    int readStream(ByteBuffer into) throws IOException {
        if (!isMoved) {
            return -1;
        }
        reading.lock();
        try {
            Carrier by = isMoved ? stream : null;
            int done = by == null ? -1 : by.read(into);
            use.onRead(done);
            return done;
        } finally {
            reading.unlock();
        }
    }

    /// Does the same with several buffers.
    long readStream(ByteBuffer[] into, int offset, int length) throws IOException {
        if (!isMoved) {
            return -1;
        }
        reading.lock();
        try {
            Carrier by = isMoved ? stream : null;
            long done = by == null ? -1 : by.read(into, offset, length);
            use.onRead(done);
            return done;
        } finally {
            reading.unlock();
        }
    }

    /// Reads by TCP or by the stream, or returns [#AGAIN].
    long read(Read one) throws IOException, InterruptedException {
        reading.lock();
        try {
            isReading = true;
            while (!moves()) {
                long room = end - got;
                ByteBuffer next = kept;
                if (next != null) {
                    return fromKept(one, next);
                }
                if (room > 0) {
                    long done = byTcp(one, room);
                    if (done != 0 || got < end) {
                        return done;
                    }
                } else if (!state.awaitMove(one.nanos())) {
                    isWaiting = true;
                    isNews = true;
                    return 0;
                }
            }
            return byStream(one);
        } finally {
            isReading = false;
            reading.unlock();
        }
    }

    private long fromKept(Read one, ByteBuffer next) {
        int done = one.from(next);
        kept = next.hasRemaining() ? next : null;
        use.onRead(done);
        return done;
    }

    private long byTcp(Read one, long room) throws IOException {
        long done = one.from(tcp, room);
        if (done < 0 && end - got <= 1) { // all is read but the mark, which a peer that has ended since did not write
            got = end;
            mark = Long.MAX_VALUE;
            return 0;
        }
        if (done < 0) {
            isOver = true;
            return done;
        }
        got += done;
        if (got > mark) {
            done -= keep(one, (int) done);
        }
        use.onRead(done);
        return done;
    }

    /// Takes the mark back from the program, and the bytes behind it: the peer has gone back to TCP before this thread
    /// had a processor. Returns the number of bytes.
    private int keep(Read one, int done) {
        var last = ByteBuffer.allocate((int) (got - mark));
        one.takeBack(done, last);
        got = end;
        behind = last.flip().position(1);
        mark = Long.MAX_VALUE;
        return last.limit();
    }

    private long byStream(Read one) throws IOException {
        Carrier by = stream;
        long done = by == null ? -1 : one.from(by, Long.MAX_VALUE);
        if (done < 0) {
            goBack();
            return AGAIN;
        }
        use.onRead(done);
        return done;
    }

    int available() throws IOException {
        Carrier by = stream;
        ByteBuffer next = kept;
        if (by != null && isMoved) {
            return by.available();
        }
        return next != null ? next.remaining() : (int) Math.min(tcp.available(), mark - got);
    }

    /// Returns whether bytes of TCP can be read that the kernel does not know of.
    boolean hasKept() {
        return kept != null;
    }

    /// Takes the mark from TCP before it is closed, if nothing else is left there: the kernel answers unread
    /// bytes with a reset.
    void takeMark() throws IOException {
        if (mark != Long.MAX_VALUE && reading.tryLock()) {
            try {
                readMark();
            } finally {
                reading.unlock();
            }
        }
    }

    /// Reads the mark, if it is next and has come.
    private void readMark() throws IOException {
        if (got == mark && tcp.available() > 0) {
            got += tcp.read(ByteBuffer.allocate(1));
            mark = Long.MAX_VALUE;
        }
    }
}
