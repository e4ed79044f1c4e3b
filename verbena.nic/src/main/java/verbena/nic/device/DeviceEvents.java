package verbena.nic.device;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.nic.observe.JfrEvents;
import verbena.nic.observe.ObservedQueuePair;
import verbena.verbs.AsyncEvent;

/// What a device tells by itself: asynchronous events to the program, its own mistakes to the log, and both to the
/// flight recorder. Any thread.
final class DeviceEvents {
    /// Asynchronous events that wait to be taken; the oldest go when there are more.
    private static final int EVENTS_MAX = 4_096;
    /// Between two entries of the log about mistakes of our own.
    private static final long CONTAINED_LOG_NANOS = 1_000_000_000;

    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final String device;
    private final DrivenEvents<AsyncEvent> events;
    private final AtomicLong raised = new AtomicLong();
    private final AtomicLong containedNanos = new AtomicLong(System.nanoTime() - CONTAINED_LOG_NANOS);
    private volatile @Nullable Throwable containedFailure;

    DeviceEvents(DeviceContext context) {
        this.device = context.device().name();
        this.events = new DrivenEvents<>(context.label(), EVENTS_MAX, context);
    }

    // ---- for the program

    void raise(AsyncEvent event) {
        raised.incrementAndGet();
        events.offer(event);
        if (JfrEvents.isOn()) {
            tellFlight(event);
        }
    }

    private void tellFlight(AsyncEvent event) {
        String reason = "";
        String subject = switch (event) {
            case AsyncEvent.QueuePairEvent(var type, var queuePair) -> {
                reason = queuePair instanceof ObservedQueuePair observed ? observed.rootCause() : "";
                yield queuePair.toString();
            }
            case AsyncEvent.CompletionQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.SharedReceiveQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.PortEvent(var type, int port) -> "port " + port;
            case AsyncEvent.DeviceEvent(var type) -> "device " + device;
        };
        JfrEvents.async(device, event.type(), subject, reason);
    }

    Optional<AsyncEvent> poll() {
        return events.poll();
    }

    Optional<AsyncEvent> await(Duration timeout) throws InterruptedException {
        return events.await(timeout);
    }

    /// Adds what it has counted.
    void count(Map<String, Long> counters) {
        counters.put("async-events", raised.get());
        counters.put("async-events.dropped", events.dropped());
    }

    void close() {
        events.close();
        JfrEvents.closed(device);
    }

    // ---- mistakes of our own

    /// The device stands still.
    void failed(Throwable cause) {
        LOG.log(System.Logger.Level.ERROR, "device " + device + " has failed and stands still", cause);
        events.offer(new AsyncEvent.DeviceEvent(AsyncEvent.Type.DEVICE_FATAL));
        JfrEvents.async(device, AsyncEvent.Type.DEVICE_FATAL, "device " + device, cause.toString());
    }

    /// One queue pair, stream or command has ended.
    void contained(Throwable cause) {
        if (containedFailure == null) {
            containedFailure = cause;
        }
        long now = System.nanoTime();
        long before = containedNanos.get();
        if (now - before < CONTAINED_LOG_NANOS || !containedNanos.compareAndSet(before, now)) {
            return; // counted all the same
        }
        LOG.log(
                System.Logger.Level.ERROR,
                "device " + device + " has met a mistake of its own, which ends one queue pair or connection; please"
                        + " report it",
                cause);
    }

    /// The first mistake that ended one queue pair, stream or command only.
    Optional<Throwable> containedFailure() {
        return Optional.ofNullable(containedFailure);
    }
}
