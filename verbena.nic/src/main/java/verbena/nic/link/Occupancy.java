package verbena.nic.link;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Which threads use a link's sockets and memory at this moment: one that receives or sends, and another that sleeps,
/// both
/// for the length of a call; or the thread that has closed the link, for ever.
final class Occupancy {
    static final int MOVING = 1;
    static final int SLEEPING = 2;
    private static final int FREE = 0;
    private static final int CLOSED = 4;
    /// How long the closer gives threads that are inside to get out before it rings again.
    private static final long CLOSE_RETRY_NANOS = 20_000;

    private final AtomicInteger occupied = new AtomicInteger(FREE);
    private volatile boolean closing;

    /// Comes in as [#MOVING] or [#SLEEPING]; false when the link is closed.
    boolean enter(int as) {
        while (!closing) {
            int now = occupied.get();
            if ((now & as) != 0) {
                throw new IllegalStateException("link: used by two threads at once");
            }
            if (now != CLOSED && occupied.compareAndSet(now, now | as)) {
                return true;
            }
        }
        return false;
    }

    /// Goes out again.
    void leave(int as) {
        occupied.addAndGet(-as);
    }

    /// Closes: waits until all threads are out. False when the link was closed already.
    ///
    /// @param bell brings out a thread that sleeps
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
