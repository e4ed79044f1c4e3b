package verbena.nio;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The phase of a [Moving] connection, which both its directions wait for. Safe for use by any thread.
final class MoveState {
    enum Phase {
        BY_TCP,
        /// Both ends have agreed to move. This one writes nothing until its peer is ready too.
        HELD,
        MOVED,
        /// The stream has failed at the moment at which the peer may have moved.
        LOST,
        CLOSED
    }

    private final ReentrantLock lock;
    private final Condition changed;
    /// Written under the lock, as the next is.
    private volatile Phase phase = Phase.BY_TCP;
    /// Whether calls of the program wait.
    private boolean waits = true;

    MoveState(ReentrantLock lock) {
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    boolean is(Phase which) {
        return phase == which;
    }

    /// Goes on to a phase, with the lock. A closed connection stays closed.
    void set(Phase next) {
        assert lock.isHeldByCurrentThread();
        phase = phase == Phase.CLOSED ? Phase.CLOSED : next;
        changed.signalAll();
    }

    /// Returns whether calls of the program wait, with the lock.
    boolean waits() {
        return waits;
    }

    /// Sets whether calls of the program wait, with the lock.
    void setWaits(boolean now) {
        waits = now;
        changed.signalAll();
    }

    /// Waits while it is held. Returns false when it is, and calls do not wait.
    ///
    /// @param nanos to wait at most
    /// @throws SocketException when the connection is lost
    /// @throws SocketTimeoutException when the time is over
    boolean awaitMove(long nanos) throws IOException, InterruptedException {
        if (phase == Phase.MOVED || phase == Phase.BY_TCP) {
            return true;
        }
        lock.lock();
        try {
            long left = nanos;
            while (phase == Phase.HELD && waits) {
                if (left <= 0) {
                    throw new SocketTimeoutException("Read timed out"); // programs know the words
                }
                left = changed.awaitNanos(left);
            }
            return switch (phase) {
                case LOST -> throw new SocketException("Connection reset");
                case CLOSED -> throw new AsynchronousCloseException();
                case HELD -> false;
                case BY_TCP, MOVED -> true;
            };
        } finally {
            lock.unlock();
        }
    }

    /// Waits for a moment, or for another phase.
    void pause(long nanos) throws InterruptedException {
        lock.lock();
        try {
            Phase before = phase;
            long left = nanos;
            while (phase == before && left > 0) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
