package verbena.stream;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.StreamMessage.Hello;
import verbena.verbs.ConnectionException;
import verbena.verbs.Gid;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.VerbsException;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.internal.HostAddresses;
import verbena.verbs.waiting.TimeLimits;

/// A listener at a port, which gives out connections as [StreamChannel]s. Any thread may accept, and several at once.
///
/// A virtual thread of the listener answers peers, whether a thread accepts or not. The backlog limits the
/// connections that wait to be accepted: 128, or the number given to [#bind(InetSocketAddress, StreamOptions, int)].
///
/// [#bind] opens it, and the program closes it. Connections that it gave out stay. Accepting at a closed
/// listener throws [java.nio.channels.ClosedChannelException].
///
/// @since 0.1
public final class StreamListener implements Channel, Waitable {
    private static final int BACKLOG = 128;
    /// The number of requests that the device keeps. A request that waits for a decision has no memory for a stream
    /// yet.
    private static final int REQUESTS = 1_024;

    /// A connection on its way, and the parameters of the peer.
    private record Begun(StreamChannel channel, Hello peer) {}

    private final EventChannel events;
    private final ConnectionId id;
    private final StreamOptions options;
    private final int backlog;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile boolean isBlocking = true;
    private volatile Runnable readiness = () -> {};
    private final List<Runnable> waiters = new CopyOnWriteArrayList<>();
    /// The side for a waiter. The listener's own thread attends to the device.
    private final WaitSource waitSource = WaitSource.of(waiters, () -> !isOpen());

    // Guarded by the lock.
    private final Map<ConnectionId, Begun> arriving = new HashMap<>();
    private final ArrayDeque<StreamChannel> arrived = new ArrayDeque<>();
    /// The requests that were not decided on because there is no room; the oldest first.
    private final LinkedHashMap<ConnectionId, ConnectionEvent.ConnectRequest> asking = new LinkedHashMap<>();
    private volatile boolean isClosed;
    private @Nullable String failure;

    private StreamListener(EventChannel events, ConnectionId id, StreamOptions options, int backlog) {
        this.events = events;
        this.id = id;
        this.options = options;
        this.backlog = backlog;
    }

    /// Listens at a port of this host, with [StreamOptions#defaults()].
    ///
    /// @param host an address, or a name, whose addresses it tries in turn
    /// @throws java.net.UnknownHostException when the host is not known
    /// @throws SocketException as [#bind(InetSocketAddress, StreamOptions)]
    public static StreamListener bind(String host, int port) throws IOException {
        return bind(host, port, StreamOptions.defaults());
    }

    /// Listens with options, which hold for all connections. Otherwise as [#bind(String, int)].
    public static StreamListener bind(String host, int port, StreamOptions options) throws IOException {
        return HostAddresses.tryEach(host, port, IOException.class, at -> bind(at, options));
    }

    /// Listens at an address with [StreamOptions#defaults()].
    ///
    /// @throws SocketException as [#bind(InetSocketAddress, StreamOptions)]
    public static StreamListener bind(InetSocketAddress at) throws SocketException {
        return bind(at, StreamOptions.defaults());
    }

    /// Listens at an address with options, which hold for all connections.
    ///
    /// @param at `0.0.0.0` for all IPv4 addresses, `::` for all of both families; port 0 for any that is free
    /// @throws BindException when the address is not this host's, or the port is taken
    /// @throws UnresolvedAddressException when the name of the address was not resolved
    public static StreamListener bind(InetSocketAddress at, StreamOptions options) throws SocketException {
        return bind(at, options, BACKLOG);
    }

    /// Listens as [#bind(InetSocketAddress, StreamOptions)] does, with a limit of connections that wait to be
    /// accepted. When there are so many, further peers wait, as with a socket. They give up by themselves when that
    /// lasts too long.
    ///
    /// @param backlog at least 1; the other methods have 128
    /// @throws IllegalArgumentException when `backlog` is less than 1
    public static StreamListener bind(InetSocketAddress at, StreamOptions options, int backlog) throws SocketException {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog: 1 or more, got " + backlog);
        }
        if (at.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        EventChannel events = ConnectingStream.events(options);
        ConnectionId id = events.createId(PortSpace.TCP);
        boolean done = false;
        try {
            id.bind(at);
            id.listen(Math.max(backlog, REQUESTS));
            done = true;
        } catch (ConnectionException e) {
            var refused = new BindException(e.getMessage());
            refused.initCause(e);
            throw refused;
        } finally {
            if (!done) {
                id.close();
                events.close();
            }
        }
        var made = new StreamListener(events, id, options, backlog);
        Thread.ofVirtual().name("verbena-stream-listener").start(made::answer);
        return made;
    }

    /// Returns the address and port at which this listener is.
    public InetSocketAddress localAddress() {
        return id.localAddress().orElseThrow();
    }

    // ---- accepting

    /// Waits for a connection; in non-blocking mode it takes one that waits.
    ///
    /// @return null when none waits, in non-blocking mode
    /// @throws AsynchronousCloseException when the listener is closed meanwhile
    /// @throws ClosedByInterruptException when the thread is interrupted, which closes the listener
    /// @throws SocketException when the device has failed
    public @Nullable StreamChannel accept() throws IOException {
        return accept(isBlocking ? OpenStream.FOREVER : 0);
    }

    /// Waits for a connection, whatever the mode; empty when `timeout` passed.
    ///
    /// @throws IOException as [#accept()]
    public Optional<StreamChannel> accept(Duration timeout) throws IOException {
        return Optional.ofNullable(accept(TimeLimits.nanos(timeout)));
    }

    /// Takes a connection that waits, whatever the mode; empty when none does. It never waits.
    ///
    /// @throws IOException as [#accept()]
    public Optional<StreamChannel> poll() throws IOException {
        return Optional.ofNullable(accept(0));
    }

    private @Nullable StreamChannel accept(long nanos) throws IOException {
        if (nanos > 0 && Thread.currentThread().isInterrupted()) {
            throw closedByInterrupt();
        }
        StreamChannel found = take(nanos);
        admit();
        return found;
    }

    private @Nullable StreamChannel take(long nanos) throws IOException {
        lock.lock();
        try {
            if (isClosed) {
                throw new ClosedChannelException();
            }
            long left = nanos;
            while (arrived.isEmpty() && failure == null && !isClosed && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (isClosed) {
                throw new AsynchronousCloseException();
            }
            if (arrived.isEmpty() && failure != null) {
                throw new SocketException("accept: " + this + ": " + failure);
            }
            return arrived.poll();
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        } finally {
            lock.unlock();
        }
    }

    private ClosedByInterruptException closedByInterrupt() {
        Thread.currentThread().interrupt();
        close();
        return new ClosedByInterruptException();
    }

    // ---- readiness, for selectors

    /// Sets a listener that runs each time that a connection has come, or this listener has failed. It runs on a
    /// thread of the library, and must neither wait nor call this class.
    @Preview
    public void onReadiness(Runnable listener) {
        readiness = listener;
    }

    /// Returns whether [#accept()] would return without waiting.
    @Override
    public boolean isReady() {
        lock.lock();
        try {
            return !arrived.isEmpty() || failure != null || isClosed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public WaitSource waitSource() {
        return waitSource;
    }

    // ---- by the thread that answers

    private void answer() {
        try {
            while (true) {
                try {
                    onEvent(events.await());
                } catch (OutOfMemoryError e) {
                    // what needed the memory has ended; the next peer may find some
                }
                if (isClosed) {
                    closeEvents(); // when the thread that closed the listener could not
                }
            }
        } catch (InvalidStateException | InterruptedException e) {
            // the listener is closed; no program knows this thread
        }
    }

    private void onEvent(ConnectionEvent event) {
        try {
            take(event);
        } catch (OutOfMemoryError e) {
            abandon(event.id());
            throw e;
        }
    }

    private void take(ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.ConnectRequest request -> onRequest(request);
            case ConnectionEvent.Established it -> onEstablished(it.id());
            case ConnectionEvent.Rejected it -> abandon(it.id());
            case ConnectionEvent.ConnectError it -> abandon(it.id());
            case ConnectionEvent.Unreachable it -> abandon(it.id());
            case ConnectionEvent.Disconnected it -> abandon(it.id());
            case ConnectionEvent.DeviceRemoval gone -> onDeviceGone(gone);
            default -> {} // steps on the way
        }
    }

    /// Takes the request of a peer, which is answered in its turn.
    private void onRequest(ConnectionEvent.ConnectRequest request) {
        lock.lock();
        try {
            if (!isClosed) {
                asking.put(request.id(), request);
            }
        } finally {
            lock.unlock();
        }
        admit();
        if (isClosed) {
            request.id().close();
        }
    }

    /// Admits the peers that ask, as long as there is room. Any thread.
    private void admit() {
        while (true) {
            ConnectionEvent.ConnectRequest request;
            Begun begun = null;
            lock.lock();
            try {
                var first = arriving.size() + arrived.size() < backlog ? asking.pollFirstEntry() : null;
                if (first == null) {
                    return;
                }
                request = first.getValue();
                Hello peer = Hello.parse(request.peer().privateData())
                        .filter(hello -> hello.protocol() == options.application())
                        .orElse(null);
                if (peer != null) {
                    begun = new Begun(new StreamChannel(options, request.id(), null), peer);
                    arriving.put(request.id(), begun);
                }
            } finally {
                lock.unlock();
            }
            answer(request, begun);
        }
    }

    private void answer(ConnectionEvent.ConnectRequest request, @Nullable Begun begun) {
        try {
            if (begun == null) {
                request.id().reject(PrivateData.NONE);
                request.id().close();
            } else {
                begun.channel.accept(begun.peer);
            }
        } catch (VerbsException | OutOfMemoryError e) {
            abandon(request.id()); // the peer has given up, or there is no room for it
            request.id().close();
        }
    }

    private void onEstablished(ConnectionId which) {
        lock.lock();
        try {
            Begun begun = arriving.remove(which);
            if (begun != null) {
                arrive(begun);
            }
        } finally {
            lock.unlock();
        }
    }

    private void arrive(Begun begun) {
        try {
            begun.channel.accepted(begun.peer);
            arrived.add(begun.channel);
            changed.signal();
            tellReady();
        } catch (VerbsException e) {
            begun.channel.abandon(); // it has ended already
        }
    }

    private void tellReady() {
        readiness.run();
        waiters.forEach(Runnable::run);
    }

    private void abandon(ConnectionId which) {
        Begun begun;
        boolean wasAsking;
        lock.lock();
        try {
            begun = arriving.remove(which);
            wasAsking = asking.remove(which) != null;
        } finally {
            lock.unlock();
        }
        if (begun != null) {
            begun.channel.abandon();
            admit();
        } else if (wasAsking) {
            which.close();
        }
    }

    private void onDeviceGone(ConnectionEvent.DeviceRemoval gone) {
        abandon(gone.id());
        if (gone.id() == id) {
            lock.lock();
            try {
                failure = gone.why();
                changed.signalAll();
                tellReady();
            } finally {
                lock.unlock();
            }
        }
    }

    // ---- the end

    /// Stops listening. Connections that were accepted stay; connections that wait are closed. A thread in
    /// [#accept()] gets an [AsynchronousCloseException]. Idempotent.
    @Override
    public void close() {
        List<StreamChannel> orphans;
        List<ConnectionId> refused;
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            orphans = new ArrayList<>(arrived);
            arrived.clear();
            arriving.values().forEach(each -> orphans.add(each.channel));
            arriving.clear();
            refused = List.copyOf(asking.keySet());
            asking.clear();
            changed.signalAll();
            waiters.forEach(Runnable::run);
        } finally {
            lock.unlock();
        }
        id.close();
        refused.forEach(ConnectionId::close);
        orphans.forEach(StreamChannel::abandon);
        closeEvents();
    }

    private void closeEvents() {
        try {
            events.close();
        } catch (InUseException e) {
            // the other of the two threads, that which closes and that which answers, has a connection
            // still to close
        }
    }

    /// Sets the mode. In non-blocking mode [#accept()] does not wait.
    public StreamListener configureBlocking(boolean block) {
        isBlocking = block;
        return this;
    }

    @Override
    public boolean isOpen() {
        return !isClosed;
    }

    @Override
    public String toString() {
        InetSocketAddress at = localAddress();
        return "listener at " + Gid.of(at.getAddress()) + " port " + at.getPort();
    }
}
