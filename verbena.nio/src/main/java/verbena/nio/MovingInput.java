package verbena.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.Objects;
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

        /// Returns the time that the read may still wait.
        long nanos();
    }

    /// A move to a stream, from the moment at which the peer has said where its bytes of TCP end. It is there until the
    /// peer has gone back to TCP, or stays there.
    private static final class Move {
        /// The number of bytes that come by TCP, without the mark.
        final long bytes;
        /// Whether the peer writes a mark behind them.
        volatile boolean isMarked;
        /// Whether a read that did not wait has found that the stream has to come first.
        volatile boolean isAwaited;
        /// The stream to go on by; null until the peer is ready too.
        volatile @Nullable Carrier stream;
        /// Whether all bytes of TCP are read, and the stream is next.
        volatile boolean isDone;
        /// The mark and what a read has found behind it: bytes that the peer has written by TCP after it has gone
        /// back. If the peer does not move after all, they are all data. Guarded by `reading`.
        @Nullable
        ByteBuffer taken;

        Move(long bytes) {
            this.bytes = bytes;
        }

        /// Returns the number of bytes that come by TCP.
        long end() {
            return isMarked ? bytes + 1 : bytes;
        }
    }

    private final Carrier tcp;
    private final MoveState state;
    private final Use use;
    private final ReentrantLock reading;
    /// The number of bytes that TCP has brought, marks included. Guarded by `reading`.
    private long got;
    /// Null while the peer writes by TCP, and does not say that it goes on elsewhere.
    private volatile @Nullable Move move;
    /// Bytes that were found behind a mark, when those of the stream are read: the next ones. Written by a thread that
    /// has `reading`.
    private volatile @Nullable ByteBuffer kept;
    /// The move that has [Move#taken]. Written by a thread that has `reading`.
    private volatile @Nullable Move taker;
    /// Whether a thread is reading. It may wait in the kernel, and has not looked at [#move] then.
    private volatile boolean isReading;
    /// Whether a read has found something that selectors do not know of yet.
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
        return streamNow() != null;
    }

    /// Returns the stream that the bytes come by; null while they come by TCP.
    private @Nullable Carrier streamNow() {
        Move now = move;
        return now != null && now.isDone ? now.stream : null;
    }

    /// Returns whether the kernel has nothing to tell: it may report the end of TCP before its turn.
    boolean isWaiting() {
        Move now = move;
        return now != null && (now.isDone || (now.isAwaited && state.is(Phase.HELD)));
    }

    /// Returns whether the peer's data have ended by TCP.
    boolean isOver() {
        return isOver;
    }

    /// Returns whether there is a stream that the peer writes to, or will write to.
    boolean hasStream() {
        Move now = move;
        return now != null && now.stream != null;
    }

    // ---- moving

    /// Notes how many bytes the peer has written by TCP before it moves. Returns whether the peer has to write one
    /// more as a mark, because a thread may wait in the kernel.
    boolean endsAfter(long bytes) {
        var next = new Move(bytes);
        move = next;
        next.isMarked = isReading;
        return next.isMarked;
    }

    /// Notes that the peer does not move.
    void doesNotEnd() {
        move = null;
    }

    /// Goes on by this stream when all bytes of TCP are read.
    void follow(Carrier by) {
        Objects.requireNonNull(move).stream = by;
    }

    /// Goes on by the stream if all bytes of TCP are read; by a thread that has `reading`.
    private boolean moves() {
        Move now = move;
        if (now == null || now.stream == null) {
            return false;
        }
        if (!now.isDone && got >= now.end() && kept == null) {
            now.isDone = true;
            isNews = true;
        }
        return now.isDone;
    }

    /// Returns whether the bytes come by the stream, or do from now on. If another thread is reading, that thread
    /// finds out, and says so ([#takeNews]).
    boolean looksMoved() {
        Move now = move;
        if (now != null && now.stream != null && !now.isDone && reading.tryLock()) {
            try {
                return moves();
            } finally {
                reading.unlock();
            }
        }
        return isMoved();
    }

    /// Returns whether selectors have to look where the bytes come from, because a thread that has read has found out,
    /// or may have kept them from it. What it has found out is news once.
    boolean takeNews() {
        boolean was = isNews || (hasStream() && !isMoved());
        isNews = false;
        return was;
    }

    private void goBack() {
        Move over = move;
        ByteBuffer next = over == null ? null : over.taken;
        if (next != null && next.position(1).hasRemaining()) {
            got += next.remaining();
            kept = next;
        }
        taker = null;
        move = null;
    }

    /// Returns whether bytes were taken for a mark, and the peer stays with TCP.
    private boolean isMistaken() {
        Move by = taker;
        return by != null && by != move;
    }

    /// Gives bytes back that were taken for a mark; by a thread that has `reading`.
    private void giveBack() {
        Move by = taker;
        ByteBuffer all = by == null || by == move ? null : by.taken;
        if (by != null && all != null) {
            got = by.bytes + all.remaining();
            kept = all;
            taker = null;
        }
    }

    /// Goes back to TCP if the peer has, and no thread reads, which would find out by itself.
    void lookBack() throws IOException {
        Move now = move;
        Carrier by = now == null ? null : now.stream;
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
        if (!isMoved()) {
            return -1;
        }
        reading.lock();
        try {
            Carrier by = streamNow();
            int done = by == null ? -1 : by.read(into);
            use.onRead(done);
            return done;
        } finally {
            reading.unlock();
        }
    }

    /// Does the same with several buffers.
    long readStream(ByteBuffer[] into, int offset, int length) throws IOException {
        if (!isMoved()) {
            return -1;
        }
        reading.lock();
        try {
            Carrier by = streamNow();
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
                giveBack();
                ByteBuffer next = kept;
                if (next != null) {
                    return fromKept(one, next);
                }
                Move now = move;
                if (now == null || got < now.end()) {
                    long done = byTcp(one, now == null ? Long.MAX_VALUE : now.end() - got);
                    if (done != 0 || !(isAllRead() || isMistaken())) {
                        return done;
                    }
                } else if (!state.awaitMove(one.nanos())) {
                    now.isAwaited = true;
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

    /// Returns whether all bytes of TCP are read, and the mark if there is one.
    private boolean isAllRead() {
        Move now = move;
        return now != null && got >= now.end();
    }

    private long byTcp(Read one, long room) throws IOException {
        long done = one.from(tcp, room);
        Move now = markedMove(); // the peer may have begun it meanwhile
        if (done < 0 && now != null && got == now.bytes) {
            got = now.end(); // a peer that has ended since did not write the mark
            return 0;
        }
        if (done < 0) {
            isOver = true;
            return done;
        }
        got += done;
        if (now != null && got > now.bytes) {
            done -= keep(one, (int) done, now);
        }
        use.onRead(done);
        return done;
    }

    /// Returns the move, if a mark is the last byte by TCP.
    private @Nullable Move markedMove() {
        Move now = move;
        return now != null && now.isMarked ? now : null;
    }

    /// Takes the mark back from the program, and the bytes behind it: the peer has gone back to TCP before this thread
    /// had a processor. Returns the number of bytes.
    private int keep(Read one, int done, Move now) {
        var last = ByteBuffer.allocate((int) (got - now.bytes));
        one.takeBack(done, last);
        got = now.end();
        now.taken = last.flip();
        taker = now;
        return last.limit();
    }

    private long byStream(Read one) throws IOException {
        Carrier by = streamNow();
        long done = by == null ? -1 : one.from(by, Long.MAX_VALUE);
        if (done < 0) {
            goBack();
            return AGAIN;
        }
        use.onRead(done);
        return done;
    }

    int available() throws IOException {
        Carrier from = streamNow();
        if (from != null) {
            return from.available();
        }
        Move by = taker;
        ByteBuffer next = by != null && by != move ? by.taken : kept;
        if (next != null) {
            return next.remaining();
        }
        Move now = move;
        return now == null ? tcp.available() : Math.clamp(now.bytes - got, 0, tcp.available());
    }

    /// Returns whether bytes of TCP can be read that the kernel does not know of.
    boolean hasKept() {
        return kept != null || isMistaken();
    }

    /// Takes the mark from TCP before it is closed, if nothing else is left there: the kernel answers unread
    /// bytes with a reset. Returns whether the mark alone may be left all the same, because it is late or another
    /// thread reads.
    boolean leavesMark() throws IOException {
        Move now = markedMove();
        if (now == null || !reading.tryLock()) {
            return now != null;
        }
        try {
            readMark();
            return got == now.bytes;
        } finally {
            reading.unlock();
        }
    }

    /// Reads the mark, if it is next and has come.
    private void readMark() throws IOException {
        Move now = markedMove();
        if (now != null && got == now.bytes && tcp.available() > 0) {
            got += tcp.read(ByteBuffer.allocate(1));
        }
    }
}
