package verbena.stream;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.stream.waiting.ProcessEnd;
import verbena.verbs.Pending;
import verbena.verbs.internal.Promise;
import verbena.verbs.waiting.TimeLimits;

/// The streams of this process that are closed and still have bytes on their way. The kernel sends the bytes that a
/// closed socket has left. Here a virtual thread waits for them, and so does the end of the process. Any thread may
/// call it.
final class PendingCloses {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition CHANGED = LOCK.newCondition();
    /// Guarded by the lock.
    private static final Map<StreamChannel, Promise<Void>> PENDING = new HashMap<>();

    static {
        ProcessEnd.waitsFor(PendingCloses::await);
    }

    private PendingCloses() {}

    /// Closes a stream on another thread, unless that is under way already.
    ///
    /// @return done when the stream is closed
    static Pending<Void> add(StreamChannel stream) {
        var closed = new Promise<Void>();
        LOCK.lock();
        try {
            Promise<Void> before = PENDING.putIfAbsent(stream, closed);
            if (before != null) {
                return before;
            }
        } finally {
            LOCK.unlock();
        }
        try {
            Thread.ofVirtual().name("verbena-stream-close").start(() -> close(stream, closed));
        } catch (OutOfMemoryError e) {
            stream.abandon(); // that waits for nothing; a thread that could wait is not to be had
            close(stream, closed);
        }
        return closed;
    }

    @SuppressWarnings("NullAway") // a Void has no other value
    private static void close(StreamChannel stream, Promise<Void> closed) {
        try {
            stream.closeWhole();
            closed.complete(null);
        } finally {
            LOCK.lock();
            try {
                PENDING.remove(stream);
                CHANGED.signalAll();
            } finally {
                LOCK.unlock();
            }
        }
    }

    /// Waits until there are no such streams. Returns false when `timeout` passed.
    static boolean await(Duration timeout) throws InterruptedException {
        LOCK.lockInterruptibly();
        try {
            long left = TimeLimits.nanos(timeout);
            while (!PENDING.isEmpty() && left > 0) {
                left = CHANGED.awaitNanos(left);
            }
            return PENDING.isEmpty();
        } finally {
            LOCK.unlock();
        }
    }
}
