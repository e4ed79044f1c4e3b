package verbena.nic.link;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The record of the threads that use a link's sockets and memory at this moment. One thread may receive or send,
/// and another may sleep, each for the length of a call. A thread that has closed the link occupies it for ever.
///
///     try (Occupancy.Stay stay = occupancy.move()) {
///         if (stay == null) {
///             return 0; // the link is closed
///         }
///         …
///     }
public final class Occupancy {
    /// The time that the closing thread waits for threads inside to leave before it rings again.
    private static final long CLOSE_RETRY_NANOS = 20_000;

    private final AtomicBoolean closing = new AtomicBoolean();
    private final Stay moving = new Stay();
    private final Stay sleeping = new Stay();

    /// A stay of a thread inside, until it is closed. There is one for each purpose, created once.
    public static final class Stay implements AutoCloseable {
        private final AtomicBoolean isInside = new AtomicBoolean();

        private Stay() {}

        /// Leaves the link. All that the thread has done inside comes before.
        @Override
        public void close() {
            assert isInside.getPlain() : "left twice";
            isInside.setRelease(false);
        }
    }

    /// Makes one of an open link, with no thread inside.
    public Occupancy() {}

    /// Enters to receive, to send, or to change the sockets; null when the link is closed.
    ///
    /// @throws IllegalStateException when another thread is inside for one of these purposes
    @Nullable
    public Stay move() {
        return enter(moving);
    }

    /// Enters to sleep; null when the link is closed.
    ///
    /// @throws IllegalStateException when another thread is inside to sleep
    @Nullable
    public Stay sleep() {
        return enter(sleeping);
    }

    /// Ends the stay of a thread that sleeps by a system call of its own ([Carrier#fallAsleep]).
    public void endSleep() {
        sleeping.close();
    }

    /// Enters, and then looks whether the link is being closed. The thread that closes does both in the other
    /// order.
    private @Nullable Stay enter(Stay stay) {
        if (closing.get()) {
            return null;
        }
        if (stay.isInside.getAndSet(true)) {
            throw new IllegalStateException("link: used by two threads at once");
        }
        if (closing.get()) {
            stay.close();
            return null;
        }
        return stay;
    }

    /// Returns whether the link is closed, or is being closed. Any thread.
    public boolean isClosed() {
        return closing.get();
    }

    /// Closes and waits until all threads have left. False when the link was closed already.
    ///
    /// @param bell wakes a thread that sleeps
    public boolean close(Runnable bell) {
        boolean isFirst = closing.compareAndSet(false, true);
        while (moving.isInside.get() || sleeping.isInside.get()) {
            bell.run();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        return isFirst;
    }
}
