package verbena.stream;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.verbs.Preview;

/// The streams of this process that are closed and still have bytes on their way. The kernel sends the bytes that a
/// closed socket has left. Here a virtual thread waits for them, and so does the end of the process. Any thread may
/// call it. It lives as long as the process.
///
/// @since 0.1
@Preview
public final class PendingCloses {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition CHANGED = LOCK.newCondition();
    /// Guarded by the lock.
    private static final Set<StreamChannel> PENDING = new HashSet<>();

    static {
        ProcessEnd.waitsFor(PendingCloses::await);
    }

    private PendingCloses() {}

    /// Closes a stream as [StreamChannel#close()] does, on another thread.
    public static void add(StreamChannel stream) {
        add(stream, () -> {});
    }

    /// Closes a stream as [StreamChannel#close()] does, on another thread, and then runs a step.
    ///
    /// @param then runs in the thread that has closed the stream, when its device no longer reads the program's
    ///     memory. It does not run when the stream is being closed already
    public static void add(StreamChannel stream, Runnable then) {
        LOCK.lock();
        try {
            if (!PENDING.add(stream)) {
                return;
            }
        } finally {
            LOCK.unlock();
        }
        try {
            Thread.ofVirtual().name("verbena-stream-close").start(() -> close(stream, then));
        } catch (OutOfMemoryError e) {
            stream.abandon(); // that waits for nothing; a thread that could wait is not to be had
            close(stream, then);
        }
    }

    private static void close(StreamChannel stream, Runnable then) {
        try {
            stream.close();
            stream.awaitSteps(); // a thread that connects frees what it has made
            then.run();
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

    /// Waits until there are no such streams. A program does so before it closes a device that its streams have
    /// used.
    ///
    /// @return false when `timeout` passed
    public static boolean await(Duration timeout) throws InterruptedException {
        LOCK.lockInterruptibly();
        try {
            long left = StreamOptions.nanos(timeout);
            while (!PENDING.isEmpty() && left > 0) {
                left = CHANGED.awaitNanos(left);
            }
            return PENDING.isEmpty();
        } finally {
            LOCK.unlock();
        }
    }
}
