package verbena.provider;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;

/// Events that a device offers and threads of the application wait for. Waiting parks in Java, so that a virtual
/// thread gives up its carrier.
public class EventQueue<T> implements Waitable, WaitSource {
    private final String owner;
    private final int max;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<T> events = new ArrayDeque<>();
    private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
    private boolean closed;
    private long dropped;

    /// @param owner the name in messages of the object whose events these are
    /// @param max events held; the oldest is dropped for the newest
    public EventQueue(String owner, int max) {
        this.owner = owner;
        this.max = max;
    }

    /// Returns the number of events dropped since creation.
    public final long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    public void offer(T event) {
        lock.lock();
        try {
            if (events.size() == max) {
                events.poll();
                dropped++;
            }
            events.add(event);
            changed.signal();
        } finally {
            lock.unlock();
        }
        runListeners();
    }

    private void runListeners() {
        for (int i = 0; i < listeners.size(); i++) {
            listeners.get(i).run();
        }
    }

    // ---- for a waiter

    @Override
    public final boolean isReady() {
        return isOver();
    }

    @Override
    public final WaitSource waitSource() {
        return this;
    }

    /// Adds a listener that runs after each event and after the end, on the thread that brought it.
    @Override
    public final void addListener(Runnable listener) {
        listeners.add(listener);
    }

    @Override
    public final void removeListener(Runnable listener) {
        listeners.remove(listener);
    }

    @Override
    public final boolean hasEnded() {
        lock.lock();
        try {
            return closed && events.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    // ---- threads that take events

    public final Optional<T> poll() {
        return Optional.ofNullable(next());
    }

    /// Takes the oldest event; null when there is none.
    public final @Nullable T next() {
        lock.lock();
        try {
            return events.poll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for an event; empty when `timeout` passed.
    ///
    /// @throws InvalidStateException when the owner is closed, also while waiting
    public final Optional<T> await(Duration timeout) throws InterruptedException {
        return await(Timeouts.nanos(timeout));
    }

    /// Waits for an event without a time limit.
    ///
    /// @throws InvalidStateException when the owner is closed, also while waiting
    public final T await() throws InterruptedException {
        while (true) {
            Optional<T> event = await(Timeouts.NONE);
            if (event.isPresent()) {
                return event.get();
            }
        }
    }

    /// Waits for a time in nanoseconds.
    public Optional<T> await(long nanos) throws InterruptedException {
        long left = nanos;
        lock.lockInterruptibly();
        try {
            while (events.isEmpty() && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return Optional.ofNullable(pollOrThrow());
        } finally {
            lock.unlock();
        }
    }

    /// Takes the oldest event; null when there is none.
    ///
    /// @throws InvalidStateException when there is none and the owner is closed
    protected final @Nullable T pollOrThrow() {
        lock.lock();
        try {
            if (events.isEmpty() && closed) {
                throw new InvalidStateException("await: " + owner + " is closed");
            }
            return events.poll();
        } finally {
            lock.unlock();
        }
    }

    /// Returns the number of events in the queue.
    public final int size() {
        lock.lock();
        try {
            return events.size();
        } finally {
            lock.unlock();
        }
    }

    /// Returns whether a thread that waits has a reason to stop waiting.
    public final boolean isOver() {
        lock.lock();
        try {
            return !events.isEmpty() || closed;
        } finally {
            lock.unlock();
        }
    }

    /// Forgets the events of an object that is being closed.
    public final void forget(T event) {
        lock.lock();
        try {
            events.removeIf(event::equals);
        } finally {
            lock.unlock();
        }
    }

    /// Wakes all threads that wait.
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        runListeners();
    }
}
