package verbena.ibverbs;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.verbs.InvalidStateException;

/// Events that the poller offers and threads of the application wait for. Waiting parks in Java, so that a virtual
/// thread gives up its carrier.
final class EventQueue<T> {
    private final String owner;
    private final int max;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<T> events = new ArrayDeque<>();
    private boolean closed;

    /// @param owner how messages call whose events these are
    /// @param max events held; the oldest is dropped for the newest
    EventQueue(String owner, int max) {
        this.owner = owner;
        this.max = max;
    }

    void offer(T event) {
        lock.lock();
        try {
            if (events.size() == max) {
                events.poll();
            }
            events.add(event);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    Optional<T> poll() {
        lock.lock();
        try {
            return Optional.ofNullable(events.poll());
        } finally {
            lock.unlock();
        }
    }

    /// Waits for an event; empty when `timeout` passed.
    ///
    /// @throws InvalidStateException when the owner is closed, also while waiting
    Optional<T> await(Duration timeout) throws InterruptedException {
        long left = nanos(timeout);
        lock.lockInterruptibly();
        try {
            while (events.isEmpty() && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (events.isEmpty() && closed) {
                throw new InvalidStateException("await: " + owner + " is closed");
            }
            return Optional.ofNullable(events.poll());
        } finally {
            lock.unlock();
        }
    }

    /// A timeout in nanoseconds, 292 years at most.
    static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /// Forgets the events of an object that is being closed.
    void forget(T event) {
        lock.lock();
        try {
            events.removeIf(event::equals);
        } finally {
            lock.unlock();
        }
    }

    /// Wakes all who wait.
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
