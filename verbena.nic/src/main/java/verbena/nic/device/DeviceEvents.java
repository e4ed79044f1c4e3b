package verbena.nic.device;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engines;
import verbena.nic.observe.JfrEvents;
import verbena.nic.observe.ObservedQueuePair;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Waitable;

/// The reports that a device makes by itself: asynchronous events to the program, internal errors to the log, and
/// both to the flight recorder. Any thread.
final class DeviceEvents {
    /// The number of asynchronous events held for the program; when there are more, the oldest are dropped.
    private static final int EVENTS_MAX = 4_096;
    /// The time between two log entries about internal errors.
    private static final long CONTAINED_LOG_NANOS = 1_000_000_000;

    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final String device;
    private final DrivenEvents<AsyncEvent> events;
    private final AtomicLong raised = new AtomicLong();
    private final AtomicLong containedNanos = new AtomicLong(System.nanoTime() - CONTAINED_LOG_NANOS);
    private volatile @Nullable Throwable containedFailure;

    /// @param device its name
    /// @param owner how messages name the context
    DeviceEvents(String device, String owner, Engines engines) {
        this.device = device;
        this.events = new DrivenEvents<>(owner, EVENTS_MAX, engines);
    }

    // ---- events for the program

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

    Waitable waitable() {
        return events;
    }

    Optional<AsyncEvent> poll() {
        return events.poll();
    }

    Optional<AsyncEvent> await(Duration timeout) throws InterruptedException {
        return events.await(timeout);
    }

    AsyncEvent await() throws InterruptedException {
        return events.await();
    }

    /// Adds the counters of these events.
    void count(Map<String, Long> counters) {
        counters.put("async.events", raised.get());
        counters.put("async.events.dropped", events.dropped());
    }

    void close() {
        events.close();
        JfrEvents.closed(device);
    }

    // ---- internal errors

    /// Reports that the device has stopped.
    void failed(Throwable cause) {
        LOG.log(System.Logger.Level.ERROR, "device " + device + " has failed and has stopped", cause);
        events.offer(new AsyncEvent.DeviceEvent(AsyncEvent.Type.DEVICE_FATAL));
        JfrEvents.async(device, AsyncEvent.Type.DEVICE_FATAL, "device " + device, cause.toString());
    }

    /// Reports that one queue pair, stream or command has ended.
    void contained(Throwable cause) {
        if (containedFailure == null) {
            containedFailure = cause;
        }
        long now = System.nanoTime();
        long before = containedNanos.get();
        if (now - before < CONTAINED_LOG_NANOS || !containedNanos.compareAndSet(before, now)) {
            return; // counted, but not logged
        }
        LOG.log(
                System.Logger.Level.ERROR,
                "device " + device + " has met an internal error, which ends one queue pair or connection; please"
                        + " report it",
                cause);
    }

    /// Returns the first internal error that ended only one queue pair, stream or command.
    Optional<Throwable> containedFailure() {
        return Optional.ofNullable(containedFailure);
    }
}
