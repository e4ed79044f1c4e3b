package verbena.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.nio.MoveState.Phase;

/// The direction of a [Moving] connection that this end writes. One thread at a time writes, and others wait for it, as
/// at a channel of the JDK's.
final class MovingOutput {
    /// The time between two attempts to write a mark where TCP has no room.
    private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

    private final Carrier tcp;
    private final MoveState state;
    private final Use use;
    private final ReentrantLock writing;
    /// The number of bytes that TCP has taken, marks included. Guarded by `writing`; while it is held, written by the
    /// thread that moves it.
    private long sent;
    /// The stream that takes the bytes; null while TCP does.
    private volatile @Nullable Carrier stream;
    /// Guarded by the lock of the state.
    private boolean isShut;

    MovingOutput(Carrier tcp, MoveState state, Use use, ReentrantLock writing) {
        this.tcp = tcp;
        this.state = state;
        this.use = use;
        this.writing = writing;
    }

    /// Returns whether the bytes go by the stream.
    boolean isMoved() {
        return stream != null;
    }

    /// Returns whether the program has ended its data, with the lock of the state.
    boolean isShut() {
        return isShut;
    }

    // ---- moving

    /// Waits for a thread that writes, and keeps the lock. Returns false when the time is over.
    boolean lock(long nanos) throws InterruptedException {
        return writing.tryLock(nanos, TimeUnit.NANOSECONDS);
    }

    void unlock() {
        writing.unlock();
    }

    /// Returns the number of bytes that TCP has taken. It does not change while the connection is held.
    long sent() {
        return sent;
    }

    /// Goes on by this stream; by a thread that holds the connection, with the lock of the state.
    void follow(Carrier by, boolean hasMark) throws IOException {
        sent += hasMark ? 1 : 0;
        stream = by;
        if (isShut) {
            by.shutdownOutput();
        }
    }

    /// Writes the mark by TCP, and says its end there if the program has ended its data meanwhile.
    void mark(boolean hasMark) throws IOException, InterruptedException {
        ByteBuffer one = ByteBuffer.allocate(hasMark ? 1 : 0);
        while (one.hasRemaining() && tcp.write(one) == 0 && !state.is(Phase.CLOSED)) {
            state.pause(PAUSE_NANOS);
        }
        endIfShut();
    }

    /// Says the end by TCP if the program has ended its data while the connection was held.
    void endIfShut() throws IOException {
        state.lock();
        try {
            if (isShut) {
                tcp.shutdownOutput();
            }
        } finally {
            state.unlock();
        }
    }

    /// Goes back to TCP, if no thread writes.
    void goBack() throws IOException {
        if (!writing.tryLock()) {
            return;
        }
        try {
            state.lock();
            try {
                Carrier by = stream;
                if (by != null && !isShut && state.is(Phase.MOVED)) {
                    by.shutdownOutput();
                    stream = null;
                }
            } finally {
                state.unlock();
            }
        } finally {
            writing.unlock();
        }
    }

    // ---- writing

    long write(ByteBuffer from) throws IOException, InterruptedException {
        writing.lock();
        try {
            Carrier by = next();
            return by == null ? 0 : wrote(by, by.write(from));
        } finally {
            writing.unlock();
        }
    }

    long write(ByteBuffer[] from, int offset, int length) throws IOException, InterruptedException {
        writing.lock();
        try {
            Carrier by = next();
            return by == null ? 0 : wrote(by, by.write(from, offset, length));
        } finally {
            writing.unlock();
        }
    }

    /// Returns the carrier whose turn it is; null while the connection is held, where calls do not wait.
    private @Nullable Carrier next() throws IOException, InterruptedException {
        if (!state.awaitMove(Long.MAX_VALUE)) {
            return null;
        }
        Carrier moved = stream;
        return moved == null ? tcp : moved;
    }

    private long wrote(Carrier by, long done) {
        sent += by == tcp ? done : 0;
        use.onWrite(done);
        return done;
    }

    /// Ends the data. A thread that writes is not waited for: it may wait for a peer that reads nothing more.
    void shutdown() throws IOException {
        state.lock();
        try {
            isShut = true;
            if (state.is(Phase.HELD)) {
                return;
            }
            Carrier by = stream;
            if (by != null) {
                by.shutdownOutput();
            }
            tcp.shutdownOutput();
        } finally {
            state.unlock();
        }
    }
}
