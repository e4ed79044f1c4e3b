package verbena.nic;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRefusal;
import verbena.cm.CmSuspects;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;

/// What a device tells the world by itself: asynchronous events for the program, the log for people, and events of the
/// flight recorder. Any thread.
final class DeviceEvents {
    /// Asynchronous events that wait to be taken; the oldest go when there are more.
    private static final int EVENTS_MAX = 4_096;
    /// Between two entries of the log about mistakes of our own.
    private static final long CONTAINED_LOG_NANOS = 1_000_000_000;

    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final String device;
    private final Counters counters;
    private final EventQueue<AsyncEvent> events;
    private final AtomicLong raised = new AtomicLong();
    private final Silence unproven = new Silence();
    private final AtomicLong containedNanos = new AtomicLong(System.nanoTime() - CONTAINED_LOG_NANOS);
    private volatile @Nullable Throwable containedFailure;

    DeviceEvents(SoftContext context) {
        this.device = context.device().name();
        this.counters = context.engine().counters();
        this.events = new EventQueue<>(context.label(), EVENTS_MAX, context);
    }

    // ---- for the program

    void raise(AsyncEvent event) {
        raised.incrementAndGet();
        events.offer(event);
        if (Flight.isOn()) {
            tellFlight(event);
        }
    }

    private void tellFlight(AsyncEvent event) {
        String reason = "";
        String subject = switch (event) {
            case AsyncEvent.QueuePairEvent(var type, var queuePair) -> {
                reason = queuePair instanceof SoftQueuePair soft ? soft.rootCause() : "";
                yield queuePair.toString();
            }
            case AsyncEvent.CompletionQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.SharedReceiveQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.PortEvent(var type, int port) -> "port " + port;
            case AsyncEvent.DeviceEvent(var type) -> "device " + device;
        };
        Flight.async(device, event.type(), subject, reason);
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
        Flight.closed(device);
    }

    // ---- mistakes of our own

    /// The device stands still.
    void failed(Throwable cause) {
        LOG.log(System.Logger.Level.ERROR, "device " + device + " has failed and stands still", cause);
        events.offer(new AsyncEvent.DeviceEvent(AsyncEvent.Type.DEVICE_FATAL));
        Flight.async(device, AsyncEvent.Type.DEVICE_FATAL, "device " + device, cause.toString());
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

    // ---- peers that misbehave

    /// A peer tries numbers of queue pairs or keys ([verbena.nic.engine.Engine.Listener#onSearch]).
    void search(PacketFate last, long sourceHigh, long sourceLow) {
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: a peer may be searching for queue pairs or keys: many packets fit none, the last from {1}"
                        + " ({2}); see the counters",
                device,
                new Gid(sourceHigh, sourceLow),
                last.label());
    }

    /// A peer gets no connections for a while, because of what those that it had have asked for; or only this is
    /// told, where its address is that of many.
    void blocked(Gid peer) {
        counters.count(Counter.BLOCKED_PEERS);
        Flight.blocked(device, peer);
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: {1} may be guessing keys: {2} times in {3} s its connections asked for memory that they"
                        + " may not have; it is blocked for {4} s, unless the address is this host''s own",
                device,
                peer,
                CmSuspects.BLOCKED_AT,
                CmSuspects.WINDOW_NANOS / 1_000_000_000,
                CmSuspects.BLOCK_NANOS / 1_000_000_000);
    }

    /// A request for a connection was refused because it, or this side, has no secret, or another one. Logged now
    /// and then: any host can cause it.
    ///
    /// @param now the engine's time
    void unproven(Gid peer, CmRefusal why, long now) {
        if (unproven.isQuiet(now)) {
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "device {0}: refuses connections, at last one of {1}: {2}; see the counter cm.unproven",
                device,
                peer,
                switch (why) {
                    case SECRET_WANTED -> "it has no secret, and this side has one";
                    case SECRET_UNWANTED -> "it has a secret, and this side has none";
                    default -> "it has another secret, or its request was changed on the way";
                });
    }
}
