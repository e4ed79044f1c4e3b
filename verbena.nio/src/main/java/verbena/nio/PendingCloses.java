package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// Streams that were closed and have bytes on their way. The kernel sends what a closed socket has left; here a
/// virtual thread waits for it, and so does the end of the process.
final class PendingCloses {
    private static final long EXIT_NANOS = Duration.ofSeconds(10).toNanos();

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition CHANGED = LOCK.newCondition();
    /// Guarded by the lock.
    private static final Set<StreamChannel> PENDING = new HashSet<>();

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(PendingCloses::await, "verbena-nio-end"));
        } catch (IllegalStateException e) {
            // the process ends already
        }
    }

    private PendingCloses() {}

    /// Closes a stream without waiting for it.
    static void add(StreamChannel stream) {
        LOCK.lock();
        try {
            if (!PENDING.add(stream)) {
                return;
            }
        } finally {
            LOCK.unlock();
        }
        Thread.ofVirtual().name("verbena-nio-close").start(() -> close(stream));
    }

    private static void close(StreamChannel stream) {
        try {
            stream.close();
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

    private static void await() {
        LOCK.lock();
        try {
            long left = EXIT_NANOS;
            while (!PENDING.isEmpty() && left > 0) {
                left = CHANGED.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // the process is to end now
        } finally {
            LOCK.unlock();
        }
    }

    /// Closes what is to be closed after a failure that the program is told already.
    static void quietly(@Nullable Closeable what) {
        if (what != null) {
            try {
                what.close();
            } catch (IOException e) {
                // the descriptor is closed all the same: close(2)
            }
        }
    }
}
