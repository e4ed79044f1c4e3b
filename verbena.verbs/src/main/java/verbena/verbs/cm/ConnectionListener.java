package verbena.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;
import verbena.verbs.internal.HostAddresses;
import verbena.verbs.waiting.TimeLimits;

/// A listener at a port, which gives out [Connection]s as a server socket does. Any thread may accept, and several at
/// once.
///
/// It has no thread of its own: a thread in [#accept()] answers the requests. Until then a peer waits in its
/// [Connection#connect], for as long as its options allow.
///
/// [#bind] opens it, and the program closes it. Connections that it gave out stay. [#accept()] and [#allocate] of a
/// closed listener throw [ConnectionException].
///
/// @since 0.1
public final class ConnectionListener implements AutoCloseable, Waitable {
    /// A waiting request has some 2 KiB, and no connection yet.
    private static final int BACKLOG = 1_024;

    private final EventChannel channel;
    private final ConnectionId id;
    private final ConnectionOptions options;
    /// Accepted, and not confirmed by the peer. Guarded by itself.
    private final Map<ConnectionId, Connection> begun = new HashMap<>();

    /// The domains of its memory; empty before the first. Guarded by itself.
    private final List<SharedDomain> domains = new ArrayList<>();

    /// Held by the thread that closes. Others wait for it, and find nothing left to do.
    private final ReentrantLock closing = new ReentrantLock();

    private ConnectionListener(EventChannel channel, ConnectionId id, ConnectionOptions options) {
        this.channel = channel;
        this.id = id;
        this.options = options;
    }

    /// Listens at a port of this host, with [ConnectionOptions#defaults()].
    ///
    /// @param host an address, or a name, whose addresses it tries in turn; `0.0.0.0` for all addresses
    /// @param port 0 for any that is free
    /// @throws ConnectionException when the host is not known, its address is not this host's, another user's
    ///     process has it, or the port is taken
    /// @throws IllegalArgumentException when `port` is not 0 to 65535
    public static ConnectionListener bind(String host, int port) {
        return bind(host, port, ConnectionOptions.defaults());
    }

    /// Listens with options, which hold for all connections. Otherwise as [#bind(String, int)].
    public static ConnectionListener bind(String host, int port, ConnectionOptions options) {
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 0 to 65535, got " + port);
        }
        return HostAddresses.tryEach("bind", host, port, at -> bind(at, options));
    }

    /// Listens at an address with [ConnectionOptions#defaults()], otherwise as
    /// [#bind(InetSocketAddress, ConnectionOptions)].
    public static ConnectionListener bind(InetSocketAddress at) {
        return bind(at, ConnectionOptions.defaults());
    }

    /// Listens at an address with options, which hold for all connections.
    ///
    /// @param at a resolved address; port 0 for any that is free
    /// @throws ConnectionException when the address is not this host's, another user's process has it, or the port
    ///     is taken
    /// @throws IllegalArgumentException when the name of the address was not resolved
    /// @throws verbena.verbs.UnsupportedException when the options have a secret, and the device cannot verify the
    ///     proof
    public static ConnectionListener bind(InetSocketAddress at, ConnectionOptions options) {
        return bind(at, options, BACKLOG);
    }

    /// Listens as [#bind(InetSocketAddress, ConnectionOptions)] does, with a limit of requests that may wait for
    /// [#accept()]. When there are so many, further peers are asked to wait, as with a socket. They give up by
    /// themselves when that lasts too long.
    ///
    /// @param backlog at least 1; the other methods have 1024, as many as a device keeps waiting
    public static ConnectionListener bind(InetSocketAddress at, ConnectionOptions options, int backlog) {
        EventChannel channel = EventChannel.open(DeviceChoice.of(options.device()));
        ConnectionId id = channel.createId(PortSpace.TCP);
        boolean done = false;
        try {
            id.bind(at);
            id.listen(backlog, options.parameters().secret());
            done = true;
            return new ConnectionListener(channel, id, options);
        } finally {
            if (!done) {
                id.close();
                channel.close();
            }
        }
    }

    /// Returns the address and port at which this listener is.
    public InetSocketAddress localAddress() {
        return id.localAddress().orElseThrow();
    }

    /// Allocates zeroed memory that all connections of this listener reach: one table for near and far peers.
    /// Connections within this host reach it by the host's memory (`shm`).
    ///
    /// The connections that it accepts from the first call on belong to one protection domain at each device. So
    /// each of their peers reaches whatever any of them may reach, if it has the key ([Sharing]). Call it before
    /// [#accept()].
    ///
    /// @param bytes at least 1
    /// @throws ConnectionException when the listener is closed
    public ListenerMemory allocate(long bytes, Set<Access> access) {
        synchronized (domains) {
            if (id.isClosed()) {
                throw new ConnectionException(Reason.CLOSED, "allocate: the listener is closed");
            }
            if (domains.isEmpty()) {
                id.ofPorts(OwnPorts::leases).forEach(each -> domains.add(SharedDomain.at(each, options.sharing())));
            }
            return ListenerMemory.allocate(List.copyOf(domains), bytes, access);
        }
    }

    /// Returns the domain of its memory at a device; empty when it has no memory there.
    private Optional<SharedDomain> domain(Context at) {
        synchronized (domains) {
            return domains.stream().filter(each -> each.isOf(at)).findFirst();
        }
    }

    /// Waits for a connection, and answers the requests of peers meanwhile. Peers that give up while they
    /// connect are left out.
    ///
    /// @throws ConnectionException when the listener is closed, also while waiting, or its device fails
    public Connection accept() throws InterruptedException {
        while (true) {
            Optional<Connection> next = accept(TimeLimits.FOREVER);
            if (next.isPresent()) {
                return next.get();
            }
        }
    }

    /// Waits for a connection; empty when `timeout` passed. With [Duration#ZERO] it does not wait, as [#poll()].
    ///
    /// @throws ConnectionException when the listener is closed, also while waiting, or its device fails
    public Optional<Connection> accept(Duration timeout) throws InterruptedException {
        return accept(TimeLimits.nanos(timeout));
    }

    private Optional<Connection> accept(long nanos) throws InterruptedException {
        long begin = System.nanoTime();
        return take("accept", () -> channel.await(TimeLimits.left(nanos, begin)));
    }

    /// Takes a connection if one is ready, and answers the requests that have come. Never waits. It may return
    /// empty although the listener was ready: it has then begun a connection, and the listener is ready again when
    /// the peer has confirmed it.
    ///
    /// @throws ConnectionException when the listener is closed, or its device fails
    public Optional<Connection> poll() {
        return take("poll", channel::poll);
    }

    /// The events to take.
    private interface Events<X extends Exception> {
        /// Returns the next event; empty when there is none.
        Optional<ConnectionEvent> next() throws X;
    }

    /// Takes events until one completes a connection; empty when there are none left.
    private <X extends Exception> Optional<Connection> take(String verb, Events<X> events) throws X {
        while (true) {
            Optional<ConnectionEvent> event;
            try {
                event = events.next();
            } catch (InvalidStateException e) {
                throw closed(verb, e);
            }
            if (event.isEmpty()) {
                return Optional.empty();
            }
            Connection ready = work(verb, event.get());
            if (ready != null) {
                return Optional.of(ready);
            }
        }
    }

    private static ConnectionException closed(String verb, InvalidStateException why) {
        return new ConnectionException(Reason.CLOSED, verb + ": the listener is closed", why);
    }

    /// Goes on with whatever connection the event is about; gives it when it is made.
    private @Nullable Connection work(String verb, ConnectionEvent event) {
        if (event instanceof ConnectionEvent.ConnectRequest request) {
            begin(request);
            return null;
        }
        if (event instanceof ConnectionEvent.DeviceRemoval gone && gone.id() == id) {
            throw new ConnectionException(Reason.FAILED, verb + ": " + gone.why());
        }
        boolean isMade = event instanceof ConnectionEvent.Established;
        if (!isMade && ConnectionSetup.failure(verb, event) == null) {
            return null;
        }
        Connection connection;
        synchronized (begun) {
            connection = begun.remove(event.id());
        }
        if (connection == null) {
            return null;
        }
        if (!(event instanceof ConnectionEvent.Established established)) {
            connection.abandon();
            return null;
        }
        try {
            EventChannel its = EventChannel.open(DeviceChoice.of(options.device()));
            connection.peer = established.peer();
            connection.id().migrate(its);
            connection.own = its;
        } catch (InvalidStateException e) {
            connection.abandon(); // closed at this moment, as the listener was
            throw closed(verb, e);
        }
        ConnectionCounters.ACCEPTED.increment();
        return connection;
    }

    private void begin(ConnectionEvent.ConnectRequest request) {
        Connection connection = null;
        try {
            connection = ConnectionSetup.prepare(
                    request.id(), options, domain(request.id().context()));
            synchronized (begun) {
                begun.put(request.id(), connection);
            }
            request.id().accept(options.parameters());
        } catch (VerbsException e) {
            // The peer has given up, or there is no room for it.
            synchronized (begun) {
                begun.remove(request.id());
            }
            if (connection == null) {
                request.id().close();
            } else {
                connection.abandon();
            }
        }
    }

    // ---- for a waiter

    /// Returns whether [#poll()] has something to do. It may still return empty: a peer may be on its way.
    @Override
    public boolean isReady() {
        return channel.isReady();
    }

    @Override
    public WaitSource waitSource() {
        return channel.waitSource();
    }

    // ---- the end

    /// Stops listening. Connections that were accepted stay, and connections on their way are refused. A thread in
    /// [#accept()] gets a [ConnectionException]. Idempotent. Each of several threads that close it returns when it
    /// is closed.
    @Override
    public void close() {
        closing.lock();
        try {
            synchronized (domains) {
                id.close();
                domains.forEach(SharedDomain::giveBack);
                domains.clear();
            }
            // A thread in accept may hold an identifier that is in no map, or no more: closed, it leads
            // nowhere.
            List<ConnectionId> left = channel.shut();
            List<Connection> connections;
            synchronized (begun) {
                connections = List.copyOf(begun.values());
                begun.clear();
            }
            connections.forEach(Connection::abandon);
            left.forEach(ConnectionId::close);
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        return "listener at " + ConnectionId.text(localAddress());
    }
}
