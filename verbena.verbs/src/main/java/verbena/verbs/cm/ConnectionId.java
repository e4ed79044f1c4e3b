package verbena.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.Route;

/// A listener or a connection of the connection manager, as a socket is either (`struct rdma_cm_id`,
/// rdma_create_id(3)).
///
/// The active side resolves the address and the route, makes a queue pair and connects. The passive side binds and
/// listens, and gets an identifier with every request. Methods only begin a step; the [EventChannel] reports its
/// result.
///
/// Any thread may use it. A method throws [InvalidStateException] in a [State] that does not allow it.
/// [EventChannel#createId] makes it, or a request, and the program closes it, before its event channel. Closing ends
/// its activity and closes the queue pair of [#createQueuePair].
///
/// @since 0.1
public final class ConnectionId implements VerbsObject {
    /// The states of an identifier.
    public enum State {
        /// New: it has no address.
        IDLE,
        /// An address and port of this host are bound: [ConnectionId#bind].
        BOUND,
        /// Passive: it takes requests: [ConnectionId#listen].
        LISTENING,
        /// Active: the device and the own address are known.
        ADDRESS_RESOLVED,
        /// Active: the route is known, and [ConnectionId#connect] comes next.
        ROUTE_RESOLVED,
        /// Active: the request has no answer yet.
        CONNECTING,
        /// Passive: a request waits for a decision.
        REQUESTED,
        /// Passive: accepted, and not confirmed by the peer.
        ACCEPTED,
        /// The connection is established, or, for datagrams, accepted.
        CONNECTED,
        /// The connection has ended, or was not made.
        DISCONNECTED,
        /// The program has closed the identifier.
        CLOSED
    }

    /// Q_Key of datagrams of the port space UDP (`RDMA_UDP_QKEY`).
    public static final int UDP_QKEY = OwnQueuePair.UDP_QKEY;

    private final PortSpace space;
    private volatile EventChannel channel;
    private volatile State state = State.IDLE;

    /// The lock of its state and of its parts.
    final Object lock = new Object();

    // Under the lock.
    private final OwnPorts ports;
    private final OwnQueuePair pair;
    private final OwnGroups groups;
    private final Negotiation negotiation;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;

    ConnectionId(EventChannel channel, PortSpace space) {
        this.channel = channel;
        this.space = space;
        this.ports = new OwnPorts(space, why -> offer(() -> onDeviceFailed(why)));
        this.pair = new OwnQueuePair(this, space, this::context);
        this.groups = new OwnGroups(this);
        this.negotiation = new Negotiation(this, pair);
    }

    // ---- what there is to know

    /// Returns the space of the identifier's port.
    public PortSpace space() {
        return space;
    }

    /// Returns the present state. A thread that takes an event may change it at any moment.
    public State state() {
        return state;
    }

    /// Returns the channel of the identifier's events.
    public EventChannel channel() {
        return channel;
    }

    /// Returns the device, once an address is bound or resolved. The program must not close it.
    ///
    /// @throws InvalidStateException before, and for a listener at several devices: on all addresses, or with a
    ///     channel of [DeviceChoice#nearest()]
    public Context context() {
        synchronized (lock) {
            if (ports.devices() != 1) {
                throw new InvalidStateException("context: " + this + " is at "
                        + (ports.devices() == 0
                                ? "no device: bind it or resolve an address first"
                                : "several devices"));
            }
            return ports.context();
        }
    }

    /// Asks about its devices.
    <T extends @Nullable Object> T ofPorts(Function<OwnPorts, T> question) {
        synchronized (lock) {
            return question.apply(ports);
        }
    }

    /// Returns the own address and port, once an address is bound or resolved. Resolving takes a free port for an
    /// identifier that has none. At a device whose ports are TCP's (iWARP) the port is 0 until the connection is
    /// established.
    public Optional<InetSocketAddress> localAddress() {
        return Optional.ofNullable(local);
    }

    /// Returns the peer's address and port, once they are known.
    public Optional<InetSocketAddress> peerAddress() {
        return Optional.ofNullable(peer);
    }

    /// Returns the queue pair of [#createQueuePair], or the one in use since [#useQueuePair(QueuePair)].
    public Optional<QueuePair> queuePair() {
        synchronized (lock) {
            return pair.queuePair();
        }
    }

    // ---- addresses

    /// Takes an address and port of this host (rdma_bind_addr(3)).
    ///
    /// @param address `0.0.0.0` for every IPv4 address that this host has now, `::` for every address but
    ///     link-local ones; port 0 for any that is free
    /// @throws ConnectionException when the address is not this host's, another user's process has it, or the
    ///     port is taken
    /// @throws IllegalArgumentException when the name of the address was not resolved
    public void bind(InetSocketAddress address) {
        bind(address, false);
    }

    /// Takes an address and port of this host as [#bind] does, but `::` stands for IPv6 addresses only. So another
    /// identifier may have the port of the IPv4 addresses (`RDMA_OPTION_ID_AFONLY`, rdma_set_option(3)). On a host
    /// without IPv6 addresses this binds none and does not fail, for programs that bind one family after the other.
    @Preview
    public void bindOneFamily(InetSocketAddress address) {
        bind(address, true);
    }

    private void bind(InetSocketAddress address, boolean oneFamily) {
        synchronized (lock) {
            require("bind", State.IDLE);
            InetAddress at = OwnPorts.resolved("address", address);
            local = new InetSocketAddress(at, ports.bind(channel.devices(), at, address.getPort(), oneFamily));
            state = State.BOUND;
        }
    }

    /// Finds the device and the own address that reach a peer (rdma_resolve_addr(3)).
    /// [ConnectionEvent.AddressResolved] or [ConnectionEvent.AddressError] follows. [#localAddress()] is known when
    /// this returns.
    ///
    /// The own address is the one from which the system would send. For a peer on this host, another user's process
    /// may have that address. It is then a free address of 127.0.0.0/8.
    ///
    /// A wildcard address as the destination stands for this host, as with rdma_cm. It means the own address if
    /// that is chosen, and else loopback.
    ///
    /// @throws IllegalArgumentException when the name of the destination was not resolved
    public void resolveAddress(InetSocketAddress destination) {
        resolve(Optional.empty(), destination);
    }

    /// Resolves an address from a local address and port; port 0 takes any that is free.
    public void resolveAddress(InetSocketAddress source, InetSocketAddress destination) {
        resolve(Optional.of(source), destination);
    }

    private void resolve(Optional<InetSocketAddress> source, InetSocketAddress destination) {
        synchronized (lock) {
            if (state != State.BOUND) {
                require("resolveAddress", State.IDLE);
            }
            InetSocketAddress to;
            try {
                InetSocketAddress meant =
                        OwnPorts.meant(channel.devices(), destination, local == null ? source : Optional.of(local));
                to = LocalDevices.answering(channel.devices().device(), space, meant);
                local = state == State.IDLE
                        ? ports.reach(channel.devices(), source, to)
                        : ports.narrow(channel.devices(), Objects.requireNonNull(local), to);
            } catch (VerbsException e) {
                ports.letGo();
                String why = String.valueOf(e.getMessage());
                offer(() -> Optional.of(new ConnectionEvent.AddressError(this, why)));
                return;
            }
            peer = to;
            state = State.ADDRESS_RESOLVED;
            offer(() -> Optional.of(new ConnectionEvent.AddressResolved(this)));
        }
    }

    /// Finds the route to the peer (rdma_resolve_route(3)). [ConnectionEvent.RouteResolved] or
    /// [ConnectionEvent.RouteError] follows.
    public void resolveRoute() {
        synchronized (lock) {
            require("resolveRoute", State.ADDRESS_RESOLVED);
            try {
                context().gidFor(1, Gid.of(Objects.requireNonNull(peer).getAddress()));
            } catch (VerbsException e) {
                String why = String.valueOf(e.getMessage());
                offer(() -> Optional.of(new ConnectionEvent.RouteError(this, why)));
                return;
            }
            state = State.ROUTE_RESOLVED;
            offer(() -> Optional.of(new ConnectionEvent.RouteResolved(this)));
        }
    }

    // ---- the queue pair

    /// Makes a queue pair that this identifier moves (rdma_create_qp(3)). Connecting and accepting bring it to RTS,
    /// and disconnecting to ERR. Receives can be posted at once, and datagrams sent at once. The identifier closes
    /// it at its end, unless the program did so before.
    ///
    /// @param domain of [#context()]
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
        synchronized (lock) {
            requireOpen("createQueuePair");
            return pair.create(domain, options);
        }
    }

    /// Uses a queue pair that the program has made and brought to INIT. Connecting and accepting bring it to RTS,
    /// and disconnecting to ERR. The program closes it, even one of [#createQueuePair].
    public void useQueuePair(QueuePair made) {
        synchronized (lock) {
            requireOpen("useQueuePair");
            pair.use(made);
        }
    }

    /// Describes a queue pair that the program has made and moves itself: this identifier only tells the peer of
    /// it.
    ///
    /// @param qpn its number, 24 bits
    public void describeQueuePair(QpType type, int qpn) {
        synchronized (lock) {
            requireOpen("describeQueuePair");
            pair.describe(type, qpn);
        }
    }

    /// Returns the attributes that bring the program's own queue pair to RTR and then to RTS
    /// (rdma_init_qp_attr(3)). The program brings it to INIT by itself. Active: after
    /// [ConnectionEvent.ConnectResponse]; passive: before [#accept].
    ///
    /// @param parameters passive: those that [#accept] will be called with; active: those of [#connect]
    public QpModification modification(QpState to, ConnectionParameters parameters) {
        synchronized (lock) {
            return negotiation.exchange("modification").modification(to, pair.end(parameters));
        }
    }

    // ---- the active side

    /// Asks the peer for a connection (rdma_connect(3)). [ConnectionEvent.Established], [ConnectionEvent.Rejected],
    /// [ConnectionEvent.Unreachable] or [ConnectionEvent.ConnectError] follows. With a queue pair that the program
    /// moves itself, it is [ConnectionEvent.ConnectResponse], and for datagrams
    /// [ConnectionEvent.DatagramEstablished].
    ///
    /// @throws IllegalArgumentException when the private data are too long
    /// @throws InvalidStateException before [ConnectionEvent.RouteResolved], or without a queue pair
    /// @throws verbena.verbs.ResourceLimitException when the device has too many connections on their way
    /// @throws verbena.verbs.UnsupportedException when there is a secret, and the device cannot prove it
    public void connect(ConnectionParameters parameters) {
        synchronized (lock) {
            require("connect", State.ROUTE_RESOLVED);
            if (pair.isMissing() && !space.isDatagram()) {
                throw new InvalidStateException(
                        "connect: " + this
                                + " has no queue pair: createQueuePair, or useQueuePair or describeQueuePair for one of your own");
            }
            var from = Objects.requireNonNull(local);
            var to = Objects.requireNonNull(peer);
            var call = new Route(space, ports.lease().local(), from.getPort(), Gid.of(to.getAddress()), to.getPort());
            negotiation.connect(ConnectionService.of(context()), call, pair.end(parameters), this::onNews);
            state = State.CONNECTING;
        }
    }

    /// Asks the peer for a connection that the program may still decline. When the peer has accepted, the thread
    /// that takes the event calls `isWanted`. If that returns false, the peer is refused and had no connection.
    /// Over iWARP it had one, which ends. [ConnectionEvent.ConnectError] follows.
    @Preview
    public void connect(ConnectionParameters parameters, BooleanSupplier isWanted) {
        synchronized (lock) {
            negotiation.confirmIf(isWanted);
            connect(parameters);
        }
    }

    /// Confirms to the peer that the program's own queue pair is in RTS (rdma_establish(3)).
    public void establish() {
        synchronized (lock) {
            require("establish", State.CONNECTING);
            negotiation.exchange("establish").ready();
            state = State.CONNECTED;
        }
    }

    // ---- the passive side

    /// Accepts requests from now on (rdma_listen(3)); each is a [ConnectionEvent.ConnectRequest].
    ///
    /// @param backlog requests that may wait for a decision, at least 1. A peer that asks when there are so many is
    ///     asked to wait
    public void listen(int backlog) {
        listen(backlog, Secret.NONE);
    }

    /// Accepts requests of peers that prove that they know a secret ([ConnectionParameters#withSecret]), and
    /// refuses all others. Otherwise as [#listen(int)].
    ///
    /// @param secret [Secret#NONE] for all peers except those that ask with a secret
    /// @throws verbena.verbs.UnsupportedException when the device cannot verify the proof
    public void listen(int backlog, Secret secret) {
        synchronized (lock) {
            require("listen", State.BOUND);
            if (backlog < 1) {
                throw new IllegalArgumentException("backlog: at least 1, got " + backlog);
            }
            ports.listen(backlog, secret, at -> (begun, from, type) -> onRequest(at, begun, from, type));
            state = State.LISTENING;
        }
    }

    /// Called by the device: a peer asks for a connection.
    private ConnectionService.Listener onRequest(
            LocalDevices.Lease at, Exchange begun, PeerParameters from, QpType type) {
        var theirs = new ConnectionId(channel, space);
        channel.offer(this, new IncomingRequest(this, theirs, at, begun, from, type));
        return theirs::onNews;
    }

    /// Becomes the identifier of a request.
    void begin(EventChannel where, IncomingRequest request) {
        synchronized (lock) {
            Exchange begun = request.exchange();
            channel = where;
            where.add(this, "await");
            ports.hold(request.at().again());
            negotiation.begin(begun, request.from());
            pair.expect(request.type());
            LocalDevices.Lease at = request.at();
            local = new InetSocketAddress(at.address(begun.local()), begun.localPort());
            peer = new InetSocketAddress(at.address(begun.remote()), begun.remotePort());
            state = State.REQUESTED;
        }
    }

    /// Accepts the request (rdma_accept(3)). [ConnectionEvent.Established] follows when the peer has confirmed; for
    /// datagrams nothing follows.
    ///
    /// @throws IllegalArgumentException when the private data are too long
    /// @throws InvalidStateException when the request has ended meanwhile, or there is no queue pair
    public void accept(ConnectionParameters parameters) {
        synchronized (lock) {
            require("accept", State.REQUESTED);
            if (pair.isMissing()) {
                throw new InvalidStateException(
                        "accept: " + this
                                + " has no queue pair: createQueuePair, or useQueuePair or describeQueuePair for one of your own");
            }
            negotiation.accept(pair.end(parameters));
            state = space.isDatagram() ? State.CONNECTED : State.ACCEPTED;
        }
    }

    /// Rejects the request (rdma_reject(3)).
    ///
    /// @throws IllegalArgumentException when the private data are too long
    public void reject(PrivateData privateData) {
        synchronized (lock) {
            require("reject", State.REQUESTED);
            negotiation.exchange("reject").reject(privateData);
            state = State.DISCONNECTED;
        }
    }

    // ---- either side

    /// Establishes the connection on the passive side (rdma_notify(3) with COMM_EST). A packet that arrived on the
    /// program's own queue pair shows that the peer is ready.
    public void communicationEstablished() {
        synchronized (lock) {
            negotiation.exchange("communicationEstablished").communicationEstablished();
        }
    }

    /// Ends the connection (rdma_disconnect(3)). The queue pair goes to ERR, and [ConnectionEvent.Disconnected]
    /// follows when the peer knows. Does nothing when the connection has ended.
    ///
    /// @throws InvalidStateException when there was no connection yet
    public void disconnect() {
        synchronized (lock) {
            switch (state) {
                case CONNECTED, ACCEPTED, CONNECTING -> {
                    pair.breakDown();
                    negotiation.exchange("disconnect").disconnect(PrivateData.NONE);
                }
                case DISCONNECTED, CLOSED -> {}
                case IDLE, BOUND, LISTENING, ADDRESS_RESOLVED, ROUTE_RESOLVED, REQUESTED ->
                    throw new InvalidStateException(
                            "disconnect: " + this + " is in " + state + ": there is no connection");
            }
        }
    }

    /// Joins a multicast group (rdma_join_multicast(3)); the queue pair of [#createQueuePair] is attached to it.
    /// [ConnectionEvent.MulticastJoined] or [ConnectionEvent.MulticastError] follows.
    ///
    /// @param group an IPv4 or IPv6 multicast address
    /// @throws IllegalArgumentException when it is none
    /// @throws InvalidStateException when no address is bound or resolved, or the port space is not one of
    ///     datagrams
    public void joinMulticast(InetAddress group) {
        joinMulticast(group, false);
    }

    /// Joins a multicast group as [#joinMulticast] does, but only to send to it (rdma_join_multicast_ex(3)): the
    /// queue pair receives nothing of the group.
    public void joinMulticastToSend(InetAddress group) {
        joinMulticast(group, true);
    }

    private void joinMulticast(InetAddress group, boolean sendOnly) {
        synchronized (lock) {
            Gid gid = Gid.of(group);
            if (!gid.isMulticast()) {
                throw new IllegalArgumentException(
                        "joinMulticast: group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got "
                                + group.getHostAddress());
            }
            if (!space.isDatagram() || ports.devices() != 1) {
                throw new InvalidStateException("joinMulticast: " + this + " is in " + state + " and of port space "
                        + space + ": bind it or resolve an address first, in port space UDP or IPOIB");
            }
            groups.join(
                    ConnectionService.of(context()),
                    new ConnectionService.GroupJoin(gid, ports.lease().gidIndex(), UDP_QKEY, sendOnly));
        }
    }

    /// Leaves a multicast group (rdma_leave_multicast(3)).
    ///
    /// @throws InvalidStateException when it was not joined
    public void leaveMulticast(InetAddress group) {
        synchronized (lock) {
            if (!groups.leave(Gid.of(group), pair.queuePair().orElse(null))) {
                throw new InvalidStateException(
                        "leaveMulticast: " + this + " has not joined " + group.getHostAddress());
            }
        }
    }

    /// Moves the identifier to another channel, with its waiting events (rdma_migrate_id(3)).
    ///
    /// @throws InvalidStateException when it is listening, or the channel is closed
    public void migrate(EventChannel to) {
        synchronized (lock) {
            requireOpen("migrate");
            if (state == State.LISTENING) {
                throw new InvalidStateException("migrate: " + this + " is listening; close it and make another");
            }
            EventChannel from = channel;
            to.add(this, "migrate");
            channel = to;
            from.remove(this).forEach(step -> to.offer(this, step));
        }
    }

    // ---- by the device

    private void onNews(Exchange begun, News news) {
        offer(() -> learn(begun, news));
    }

    void offer(EventChannel.Step step) {
        EventChannel to = channel;
        to.offer(this, step);
        while (to != channel) { // it has moved, and may have taken along what was there before this
            EventChannel next = channel;
            to.remove(this).forEach(late -> next.offer(this, late));
            to = next;
        }
    }

    /// Called by the thread that takes the event.
    private Optional<ConnectionEvent> learn(Exchange begun, News news) {
        synchronized (lock) {
            if (state == State.CLOSED) {
                return Optional.empty();
            }
            InetSocketAddress at = local;
            if (at != null && at.getPort() == 0) {
                local = new InetSocketAddress(at.getAddress(), begun.localPort());
            }
            return negotiation.learn(begun, news);
        }
    }

    void enter(State next) {
        state = next;
    }

    // ---- the end

    /// Ends the identifier's activity without waiting for the peer. A listener's port becomes free, and its waiting
    /// requests are refused. A request is rejected, and a connection is disconnected. Its own queue pair is
    /// closed, and events that wait are discarded. Later steps throw [InvalidStateException]; [#disconnect]
    /// returns.
    @Override
    public void close() {
        synchronized (lock) {
            State was = state;
            if (was == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
            ports.closePorts();
            channel.remove(this).forEach(EventChannel.Step::discard);
            try {
                negotiation.close(was);
                pair.close();
                groups.close();
            } finally {
                ports.letGo(); // also when the device refuses something
            }
        }
    }

    private Optional<ConnectionEvent> onDeviceFailed(String why) {
        synchronized (lock) {
            if (state == State.CLOSED) {
                return Optional.empty();
            }
            enter(State.DISCONNECTED);
            return Optional.of(new ConnectionEvent.DeviceRemoval(this, why));
        }
    }

    @Override
    public boolean isClosed() {
        return state == State.CLOSED;
    }

    private void require(String verb, State wanted) {
        if (state != wanted) {
            throw new InvalidStateException(verb + ": " + this + " is in " + state + ", not in " + wanted);
        }
    }

    private void requireOpen(String verb) {
        if (state == State.CLOSED) {
            throw new InvalidStateException(verb + ": " + this + " is closed");
        }
    }

    @Override
    public String toString() {
        InetSocketAddress here = local;
        InetSocketAddress there = peer;
        return "connection" + (here == null ? "" : " at " + text(here)) + (there == null ? "" : " to " + text(there));
    }

    static String text(InetSocketAddress address) {
        InetAddress at = address.getAddress();
        return (at == null ? address.getHostString() : Gid.of(at).toString()) + " port " + address.getPort();
    }
}
