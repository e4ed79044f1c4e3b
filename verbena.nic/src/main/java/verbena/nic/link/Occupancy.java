package verbena.nic.link;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Records which threads use a link's sockets and memory at this moment. One thread may receive or send, and another
/// may sleep, each for the length of a call. A thread that has closed the link occupies it for ever.
///
///     try (Occupancy.Stay stay = occupancy.move()) {
///         if (stay == null) {
///             return 0; // the link is closed
///         }
///         …
///     }
final class Occupancy {
    private static final int FREE = 0;
    private static final int MOVING = 1;
    private static final int SLEEPING = 2;
    private static final int CLOSED = 4;
    /// How long the closing thread waits for threads inside to leave before it rings again.
    private static final long CLOSE_RETRY_NANOS = 20_000;

    private final AtomicInteger occupied = new AtomicInteger(FREE);
    private volatile boolean closing;
    private final Stay moving = new Stay(MOVING);
    private final Stay sleeping = new Stay(SLEEPING);

    /// Keeps a thread inside until it is closed. There is one for each purpose, created once.
    final class Stay implements AutoCloseable {
        private final int purpose;

        private Stay(int purpose) {
            this.purpose = purpose;
        }

        @Override
        public void close() {
            int before = occupied.getAndAdd(-purpose);
            assert (before & purpose) != 0 : "left twice";
        }
    }

    /// Enters to receive, to send, or to change the sockets; null when the link is closed.
    ///
    /// @throws IllegalStateException when another thread is inside for one of these purposes
    @Nullable
    Stay move() {
        return enter(moving);
    }

    /// Enters to sleep; null when the link is closed.
    ///
    /// @throws IllegalStateException when another thread is inside to sleep
    @Nullable
    Stay sleep() {
        return enter(sleeping);
    }

    /// Ends the stay of a thread that sleeps by a system call of its own ([Carrier#fallAsleep]).
    void endSleep() {
        sleeping.close();
    }

    private @Nullable Stay enter(Stay stay) {
        while (!closing) {
            int now = occupied.get();
            if ((now & stay.purpose) != 0) {
                throw new IllegalStateException("link: used by two threads at once");
            }
            if (now != CLOSED && occupied.compareAndSet(now, now | stay.purpose)) {
                return stay;
            }
        }
        return null;
    }

    /// Whether the link is closed, or is being closed. Any thread.
    boolean isClosed() {
        return closing;
    }

    /// Closes and waits until all threads have left. False when the link was closed already.
    ///
    /// @param bell wakes a thread that sleeps
    boolean close(Runnable bell) {
        closing = true;
        while (!occupied.compareAndSet(FREE, CLOSED)) {
            if (occupied.get() == CLOSED) {
                return false;
            }
            bell.run();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        return true;
    }
}
