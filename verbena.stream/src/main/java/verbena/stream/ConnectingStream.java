package verbena.stream;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamMessage.Hello;
import verbena.stream.waiting.DeviceWatch;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.waiting.TimeLimits;

/// The making of the connection of a [StreamChannel]. Guarded by the channel.
final class ConnectingStream {
    private final StreamOptions options;
    private final ConnectionId id;
    /// The channel of its events, if it has its own.
    private volatile @Nullable EventChannel events;

    /// Made to be connected.
    private @Nullable ByteStream pending;

    private DeviceWatch.@Nullable Seat seat;

    /// @param events its own; null on the passive side, until the peer is connected
    ConnectingStream(StreamOptions options, ConnectionId id, @Nullable EventChannel events) {
        this.options = options;
        this.id = id;
        this.events = events;
    }

    static EventChannel events(StreamOptions options) {
        return EventChannel.open(DeviceChoice.of(options.device()));
    }

    private EventChannel ownEvents() {
        return Objects.requireNonNull(events);
    }

    boolean isUnderWay() {
        return pending != null;
    }

    // ---- the active side

    /// Asks for a connection.
    ///
    /// @param from address and port of this host; null for any
    /// @param isWanted as [ConnectionId#connect(ConnectionParameters, BooleanSupplier)] has it
    void begin(@Nullable InetSocketAddress from, InetSocketAddress to, BooleanSupplier isWanted) throws IOException {
        if (from == null) {
            id.resolveAddress(to);
        } else {
            id.resolveAddress(from, to);
        }
        expect(ConnectionId.State.ADDRESS_RESOLVED, to);
        id.resolveRoute();
        expect(ConnectionId.State.ROUTE_RESOLVED, to);
        ByteStream made = makeStream();
        id.connect(parameters(made), isWanted);
    }

    private void expect(ConnectionId.State wanted, InetSocketAddress to) throws IOException {
        if (id.state() != wanted) {
            String why = ownEvents().poll().map(ConnectingStream::reason).orElse("");
            throw new NoRouteToHostException("connect: " + to + ": no device reaches it" + why);
        }
    }

    private static String reason(ConnectionEvent event) {
        return switch (event) {
            case ConnectionEvent.AddressError error -> ": " + error.why();
            case ConnectionEvent.RouteError error -> ": " + error.why();
            default -> "";
        };
    }

    /// Returns the stream of the connection; null when it is not made yet and this call may not wait.
    @Nullable
    OpenStream await(boolean waits) throws IOException, InterruptedException {
        long timeout = TimeLimits.nanos(options.connectTimeout());
        long start = System.nanoTime();
        while (true) {
            Optional<ConnectionEvent> event;
            try {
                if (!waits) {
                    event = ownEvents().poll();
                } else {
                    long left = timeout - (System.nanoTime() - start);
                    event = ownEvents().await(Duration.ofNanos(Math.max(0, left)));
                }
            } catch (InvalidStateException e) {
                throw new AsynchronousCloseException();
            }
            if (event.isEmpty() && waits) {
                throw new SocketTimeoutException("connect: " + id + ": the peer has not answered within "
                        + TimeLimits.text(options.connectTimeout())
                        + ", the limit of StreamOptions.withConnectTimeout");
            }
            if (event.isEmpty()) {
                return null;
            }
            OpenStream made = onEvent(event.get());
            if (made != null) {
                return made;
            }
        }
    }

    private @Nullable OpenStream onEvent(ConnectionEvent event) throws IOException {
        return switch (event) {
            case ConnectionEvent.Established it ->
                established(Hello.parse(it.peer().privateData())
                        .orElseThrow(() -> new ProtocolException(
                                "connect: " + id + ": the program there speaks another protocol than rsockets")));
            case ConnectionEvent.Rejected no ->
                throw new ConnectException("Connection refused: " + id + ": " + no.why());
            case ConnectionEvent.Unreachable silence ->
                throw new SocketTimeoutException("connect: " + id + ": " + silence.why());
            case ConnectionEvent.ConnectError error ->
                throw new ConnectException("connect: " + id + ": " + error.why());
            case ConnectionEvent.Disconnected end -> throw new ConnectException("connect: " + id + ": " + end.why());
            case ConnectionEvent.DeviceRemoval gone -> throw new ConnectException("connect: " + id + ": " + gone.why());
            default -> null; // a step on the way
        };
    }

    /// Makes the stream when the connection with this peer is established.
    private OpenStream established(Hello peer) {
        ByteStream made = Objects.requireNonNull(pending);
        if (!made.hasBegun()) {
            made.begin(peer);
        }
        pending = null;
        return new OpenStream(id, made, Objects.requireNonNull(seat));
    }

    // ---- either side

    private ByteStream makeStream() {
        DeviceWatch.Seat own = DeviceWatch.join(id.context());
        boolean done = false;
        try {
            var made = new ByteStream(
                    id.context(), id::createQueuePair, options.sizes(), options.domain(), own::createQueue);
            pending = made;
            seat = own;
            done = true;
            return made;
        } finally {
            if (!done) {
                own.close();
            }
        }
    }

    private ConnectionParameters parameters(ByteStream made) {
        return options.parameters()
                .withPrivateData(
                        made.hello().withProtocol(options.application()).privateData());
    }

    // ---- the passive side

    /// Agrees to the request of a peer.
    void accept(Hello peer) {
        ByteStream made = makeStream();
        id.accept(parameters(made));
        made.begin(peer); // what comes now is the peer's, which is ready
    }

    /// Makes the stream of an accepted peer, which takes its own events from now on.
    OpenStream accepted(Hello peer) {
        EventChannel own = events(options);
        id.migrate(own);
        events = own;
        return established(peer);
    }

    // ---- the end

    /// Ends the attempt in any state. Any thread; a thread that waits wakes.
    void close() {
        id.close();
        EventChannel own = events;
        if (own != null) {
            own.close();
        }
    }

    /// Frees the objects of a connection that is not going to be made.
    void free() {
        ByteStream made = pending;
        pending = null;
        if (made != null) {
            made.close();
            Objects.requireNonNull(seat).close();
        }
    }
}
