package verbena.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.QueuePair;
import verbena.verbs.waiting.TimeLimits;

/// The making of a [Connection] on the active side, and the meaning of events for it.
final class ConnectionSetup {
    private ConnectionSetup() {}

    /// The time by which a connection has to be made.
    private record Deadline(Duration limit, long begin) {
        static Deadline in(Duration limit) {
            return new Deadline(limit, System.nanoTime());
        }

        Duration left() {
            return Duration.ofNanos(TimeLimits.left(TimeLimits.nanos(limit), begin));
        }
    }

    /// Connects: see [Connection#connect(InetSocketAddress, ConnectionOptions)].
    static Connection connect(InetSocketAddress to, ConnectionOptions options) throws InterruptedException {
        EventChannel channel = EventChannel.open(DeviceChoice.of(options.device()));
        ConnectionId id = channel.createId(PortSpace.TCP);
        Connection made = null;
        boolean done = false;
        try {
            Deadline deadline = Deadline.in(options.connectTimeout());
            id.resolveAddress(to);
            expect(id, deadline, ConnectionEvent.AddressResolved.class);
            id.resolveRoute();
            expect(id, deadline, ConnectionEvent.RouteResolved.class);
            made = prepare(id, options, Optional.empty());
            made.own = channel;
            id.connect(options.parameters());
            made.peer = expect(id, deadline, ConnectionEvent.Established.class).peer();
            done = true;
            ConnectionCounters.CONNECTED.increment();
            return made;
        } finally {
            if (!done) {
                ConnectionCounters.REFUSED.increment();
                if (made == null) {
                    id.close();
                    channel.close();
                } else {
                    made.abandon();
                }
            }
        }
    }

    /// Waits for an event of this kind; any other that ends the attempt is an exception.
    private static <E extends ConnectionEvent> E expect(ConnectionId id, Deadline deadline, Class<E> wanted)
            throws InterruptedException {
        while (true) {
            Optional<ConnectionEvent> event = id.channel().await(deadline.left());
            if (event.isEmpty()) {
                throw new ConnectionException(
                        Reason.TIMEOUT,
                        "connect: " + id + ": the peer has not answered within " + TimeLimits.text(deadline.limit)
                                + ", the limit of ConnectionOptions.withConnectTimeout");
            }
            if (wanted.isInstance(event.get())) {
                return wanted.cast(event.get());
            }
            ConnectionException end = failure("connect", event.get());
            if (end != null) {
                throw end;
            }
        }
    }

    /// Returns the exception that an event is; null when the connection has not ended with it.
    static @Nullable ConnectionException failure(String verb, ConnectionEvent event) {
        return event.failure()
                .map(reason -> new ConnectionException(reason, verb + ": " + event.why()))
                .orElse(null);
    }

    /// Makes all that a connection needs before it is made, and posts its first receives.
    ///
    /// @param shared the domain of the listener's connections
    static Connection prepare(ConnectionId id, ConnectionOptions options, Optional<SharedDomain> shared) {
        ConnectionParts parts = ConnectionParts.of(id.context(), options, shared);
        QueuePair queuePair = null;
        Connection made = null;
        boolean done = false;
        try {
            queuePair = id.createQueuePair(parts.domain(), parts.queuePair(options.sizes()));
            made = new Connection(id, options, parts, queuePair);
            made.begin();
            done = true;
            return made;
        } finally {
            if (!done) {
                if (made != null) {
                    made.abandon();
                } else {
                    if (queuePair != null) {
                        queuePair.close();
                    }
                    parts.closeQueues();
                    parts.closeDomain();
                }
            }
        }
    }
}
