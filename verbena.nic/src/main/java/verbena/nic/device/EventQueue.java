package verbena.nic.device;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Stepper;
import verbena.verbs.InvalidStateException;

/// Events that the engine offers and threads of the application wait for. Waiting parks in Java, so that a virtual
/// thread gives up its carrier.
final class EventQueue<T> {
    private final String owner;
    private final int max;
    private final DeviceContext context;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final BooleanSupplier isOver = this::isOver;
    private final ArrayDeque<T> events = new ArrayDeque<>();
    private boolean closed;
    private long dropped;

    /// @param owner how messages call whose events these are
    /// @param max events held; the oldest is dropped for the newest
    /// @param context whose events they are; driven by those who wait when it has no thread
    EventQueue(String owner, int max, DeviceContext context) {
        this.owner = owner;
        this.max = max;
        this.context = context;
    }

    /// Events dropped, since creation.
    long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    void offer(T event) {
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
        context.engine().wakeGuest();
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
        long nanos = Timeouts.nanos(timeout);
        if (!context.engines().hasThread()) {
            return awaitStepping(nanos);
        }
        context.engines().handOver();
        return awaitParked(nanos);
    }

    /// The same for events that come often: the caller attends to the engine meanwhile, if it can.
    Optional<T> awaitAttending(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (context.engines().attend(isOver, nanos)) {
            return awaitParked(isOver() ? 0 : nanos - (System.nanoTime() - start));
        }
        context.engines().parked(1);
        try {
            return awaitParked(nanos);
        } finally {
            context.engines().parked(-1);
        }
    }

    /// Whether a thread that waits has a reason to stop waiting.
    boolean isOver() {
        lock.lock();
        try {
            return !events.isEmpty() || closed;
        } finally {
            lock.unlock();
        }
    }

    private Optional<T> awaitStepping(long nanos) throws InterruptedException {
        var stepper = new Stepper(context.engine(), nanos);
        do {
            T event = takeOrThrow();
            if (event != null) {
                return Optional.of(event);
            }
        } while (stepper.step());
        return Optional.empty();
    }

    private @Nullable T takeOrThrow() {
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

    private Optional<T> awaitParked(long nanos) throws InterruptedException {
        long left = nanos;
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

    /// Forgets the events of an object that is being closed.
    void forget(T event) {
        lock.lock();
        try {
            while (events.remove(event)) {
                // each of them
            }
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
        context.engine().wakeGuest();
    }
}
