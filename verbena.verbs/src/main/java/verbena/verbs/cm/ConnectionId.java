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
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Call;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;

/// A listener or a connection, as a socket is one or the other (`struct rdma_cm_id`, rdma_create_id(3)). The
/// active side resolves the address and the route, makes a queue pair and connects; the passive side binds,
/// listens, and gets an identifier with every request. The [EventChannel] reports the results. Any thread.
public final class ConnectionId implements VerbsObject {
    public enum State {
        IDLE,
        BOUND,
        LISTENING,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        /// Asked, and not answered.
        CONNECTING,
        /// Passive: a request waits for a decision.
        REQUESTED,
        /// Passive: accepted, and not confirmed.
        ACCEPTED,
        CONNECTED,
        DISCONNECTED,
        CLOSED
    }

    /// Q_Key of datagrams of the port space UDP (`RDMA_UDP_QKEY`).
    public static final int UDP_QKEY = OwnQueuePair.UDP_QKEY;

    private final PortSpace space;
    private volatile EventChannel channel;
    private volatile State state = State.IDLE;

    // Guarded by this.
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

    public PortSpace space() {
        return space;
    }

    public State state() {
        return state;
    }

    public EventChannel channel() {
        return channel;
    }

    /// Returns the device, once an address is bound or resolved. Not for closing.
    ///
    /// @throws InvalidStateException before, and for a listener at several devices: on all addresses, or with a
    ///     channel of [EventChannel#openNearest()]
    public synchronized Context context() {
        if (ports.devices() != 1) {
            throw new InvalidStateException("context: " + this + " is at "
                    + (ports.devices() == 0 ? "no device: bind it or resolve an address first" : "several devices"));
        }
        return ports.context();
    }

    /// Asks about its devices.
    synchronized <T extends @Nullable Object> T ofPorts(Function<OwnPorts, T> question) {
        return question.apply(ports);
    }

    /// Returns the own address and port, once an address is bound or resolved. Resolving takes a free port for an
    /// identifier that has none. At a device whose ports are TCP's (iWARP) the port is 0 until the connection is
    /// established.
    public Optional<InetSocketAddress> localAddress() {
        return Optional.ofNullable(local);
    }

    public Optional<InetSocketAddress> peerAddress() {
        return Optional.ofNullable(peer);
    }

    /// Returns the queue pair that [#createQueuePair] made.
    public synchronized Optional<QueuePair> queuePair() {
        return pair.queuePair();
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

    /// Does the same.
    ///
    /// @param oneFamily whether `::` is to stand for IPv6 addresses only, so that another identifier may have
    ///     the port of the IPv4 addresses (`RDMA_OPTION_ID_AFONLY`, rdma_set_option(3)). On a host without IPv6
    ///     addresses this binds none and does not fail, for programs that bind one family after the other
    public synchronized void bind(InetSocketAddress address, boolean oneFamily) {
        require("bind", State.IDLE);
        InetAddress at = OwnPorts.resolved("address", address);
        local = new InetSocketAddress(at, ports.bind(channel.devices(), at, address.getPort(), oneFamily));
        state = State.BOUND;
    }

    /// Finds the device and the own address that reach a peer (rdma_resolve_addr(3)). That is the address from
    /// which the system would send. Towards a peer on this host it is a free address of 127.0.0.0/8 when another
    /// user's process has the system's choice. [ConnectionEvent.AddressResolved] or
    /// [ConnectionEvent.AddressError] follows. The own address and port ([#localAddress()]) are known when this
    /// returns.
    ///
    /// A wildcard address as the destination stands for this host, as with rdma_cm: for the own address if that is
    /// chosen, or else for that of loopback.
    ///
    /// @throws IllegalArgumentException when the name of the destination was not resolved
    public void resolveAddress(InetSocketAddress destination) {
        resolve(Optional.empty(), destination);
    }

    /// Resolves an address from a local address and port; port 0 takes any that is free.
    public void resolveAddress(InetSocketAddress source, InetSocketAddress destination) {
        resolve(Optional.of(source), destination);
    }

    private synchronized void resolve(Optional<InetSocketAddress> source, InetSocketAddress destination) {
        if (state != State.BOUND) {
            require("resolveAddress", State.IDLE);
        }
        InetSocketAddress to;
        try {
            InetSocketAddress meant =
                    OwnPorts.meant(channel.devices(), destination, local == null ? source : Optional.of(local));
            to = LocalDevices.answering(channel.devices().only(), space, meant);
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

    /// Finds the way to the peer (rdma_resolve_route(3)). [ConnectionEvent.RouteResolved] or
    /// [ConnectionEvent.RouteError] follows.
    public synchronized void resolveRoute() {
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

    // ---- the queue pair

    /// Makes a queue pair that connecting and accepting bring to RTS, and disconnecting to ERR
    /// (rdma_create_qp(3)). Receives can be posted at once; datagrams can be sent at once. Closed with this
    /// identifier, if not before.
    ///
    /// @param domain of [#context()]
    public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
        requireOpen("createQueuePair");
        return pair.create(domain, options);
    }

    /// Uses a queue pair that the program has made and brought to INIT: connecting and accepting bring it to RTS,
    /// and disconnecting to ERR. It stays the program's to close; one of [#createQueuePair] becomes so.
    public synchronized void useQueuePair(QueuePair made) {
        requireOpen("useQueuePair");
        pair.use(made);
    }

    /// Describes a queue pair that the program has made and moves itself.
    public synchronized void useQueuePair(QpType type, int qpn) {
        requireOpen("useQueuePair");
        pair.describe(type, qpn);
    }

    /// Returns the attributes that bring the program's own queue pair to RTR and then to RTS
    /// (rdma_init_qp_attr(3)). The program brings it to INIT by itself. Active: after
    /// [ConnectionEvent.ConnectResponse]; passive: before [#accept].
    ///
    /// @param parameters passive: those that [#accept] will be called with; active: those of [#connect]
    public synchronized QpModification modification(QpState to, ConnectionParameters parameters) {
        return negotiation.exchange("modification").modification(to, pair.end(parameters));
    }

    // ---- the active side

    /// Asks the peer for a connection (rdma_connect(3)). [ConnectionEvent.Established], [ConnectionEvent.Rejected],
    /// [ConnectionEvent.Unreachable] or [ConnectionEvent.ConnectError] follows; with a queue pair of the
    /// program's own, [ConnectionEvent.ConnectResponse]; of datagrams, [ConnectionEvent.DatagramEstablished].
    ///
    /// @throws IllegalArgumentException when the private data are too long
    public synchronized void connect(ConnectionParameters parameters) {
        require("connect", State.ROUTE_RESOLVED);
        if (pair.isMissing() && !space.isDatagram()) {
            throw new InvalidStateException(
                    "connect: " + this + " has no queue pair: createQueuePair, or useQueuePair for one of your own");
        }
        var from = Objects.requireNonNull(local);
        var to = Objects.requireNonNull(peer);
        var call = new Call(space, ports.lease().local(), from.getPort(), Gid.of(to.getAddress()), to.getPort());
        negotiation.connect(context().connectionService(), call, pair.end(parameters), this::onNews);
        state = State.CONNECTING;
    }

    /// Does the same. When the peer has accepted, the thread that takes the event asks `isWanted`. If it says no,
    /// the peer is refused, and has had no connection; over iWARP it has one, which ends. Then comes
    /// [ConnectionEvent.ConnectError].
    public synchronized void connect(ConnectionParameters parameters, BooleanSupplier isWanted) {
        negotiation.confirmIf(isWanted);
        connect(parameters);
    }

    /// Tells the peer that the program's own queue pair is in RTS (rdma_establish(3)).
    public synchronized void establish() {
        require("establish", State.CONNECTING);
        negotiation.exchange("establish").ready();
        state = State.CONNECTED;
    }

    // ---- the passive side

    /// Takes requests from now on (rdma_listen(3)); each is a [ConnectionEvent.ConnectRequest].
    ///
    /// @param backlog requests that may wait for a decision, at least 1; who asks when there are so many is to wait
    public void listen(int backlog) {
        listen(backlog, Secret.NONE);
    }

    /// Does the same for peers that prove that they know a secret ([ConnectionParameters#withSecret]): requests of
    /// other peers are refused.
    ///
    /// @param secret [Secret#NONE] for all peers except those that ask with a secret
    /// @throws verbena.verbs.UnsupportedException when the device cannot have it proven
    public synchronized void listen(int backlog, Secret secret) {
        require("listen", State.BOUND);
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog: at least 1, got " + backlog);
        }
        ports.listen(backlog, secret, at -> (begun, from, type) -> onRequest(at, begun, from, type));
        state = State.LISTENING;
    }

    /// Called by the device: a peer asks for a connection.
    private ConnectionService.Listener onRequest(
            LocalDevices.Lease at, Exchange begun, PeerParameters from, QpType type) {
        var theirs = new ConnectionId(channel, space);
        channel.offer(this, new IncomingRequest(this, theirs, at, begun, from, type));
        return theirs::onNews;
    }

    /// Becomes the identifier of a request.
    synchronized void begin(EventChannel where, IncomingRequest request) {
        Exchange begun = request.exchange();
        channel = where;
        where.add(this);
        ports.hold(request.at().again());
        negotiation.begin(begun, request.from());
        pair.expect(request.type());
        LocalDevices.Lease at = request.at();
        local = new InetSocketAddress(at.address(begun.local()), begun.localPort());
        peer = new InetSocketAddress(at.address(begun.remote()), begun.remotePort());
        state = State.REQUESTED;
    }

    /// Accepts the request (rdma_accept(3)); [ConnectionEvent.Established] follows when the peer has confirmed. Of
    /// datagrams nothing follows.
    ///
    /// @throws InvalidStateException when the request is not there any more
    public synchronized void accept(ConnectionParameters parameters) {
        require("accept", State.REQUESTED);
        if (pair.isMissing()) {
            throw new InvalidStateException(
                    "accept: " + this + " has no queue pair: createQueuePair, or useQueuePair for one of your own");
        }
        negotiation.accept(pair.end(parameters));
        state = space.isDatagram() ? State.CONNECTED : State.ACCEPTED;
    }

    /// Rejects the request (rdma_reject(3)).
    public synchronized void reject(PrivateData privateData) {
        require("reject", State.REQUESTED);
        negotiation.exchange("reject").reject(privateData);
        state = State.DISCONNECTED;
    }

    // ---- either side

    /// Establishes the connection: a packet has arrived on the program's own queue pair, so the peer is ready
    /// (rdma_notify(3) with COMM_EST).
    public synchronized void communicationEstablished() {
        negotiation.exchange("communicationEstablished").communicationEstablished();
    }

    /// Ends the connection (rdma_disconnect(3)): the queue pair goes to ERR, and [ConnectionEvent.Disconnected]
    /// follows when the peer knows. Does nothing when the connection has ended.
    public synchronized void disconnect() {
        switch (state) {
            case CONNECTED, ACCEPTED, CONNECTING -> {
                pair.breakDown();
                negotiation.exchange("disconnect").disconnect(PrivateData.NONE);
            }
            case DISCONNECTED, CLOSED -> {}
            case IDLE, BOUND, LISTENING, ADDRESS_RESOLVED, ROUTE_RESOLVED, REQUESTED ->
                throw new InvalidStateException("disconnect: " + this + " is in " + state + ": there is no connection");
        }
    }

    /// Joins a multicast group (rdma_join_multicast(3)); the queue pair of [#createQueuePair] is attached to it.
    /// [ConnectionEvent.MulticastJoined] or [ConnectionEvent.MulticastError] follows.
    ///
    /// @param group an IPv4 or IPv6 multicast address
    public void joinMulticast(InetAddress group) {
        joinMulticast(group, false);
    }

    /// Does the same, or as a sender that does not receive from the group: the queue pair is not attached then
    /// (rdma_join_multicast_ex(3)).
    public synchronized void joinMulticast(InetAddress group, boolean sendOnly) {
        Gid gid = Gid.of(group);
        if (!gid.isMulticast()) {
            throw new IllegalArgumentException(
                    "joinMulticast: group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got " + group.getHostAddress());
        }
        if (!space.isDatagram() || ports.devices() != 1) {
            throw new InvalidStateException("joinMulticast: " + this + " is in " + state + " and of port space " + space
                    + ": bind it or resolve an address first, in port space UDP or IPOIB");
        }
        groups.join(
                context().connectionService(),
                new ConnectionService.GroupJoin(gid, ports.lease().gidIndex(), UDP_QKEY, sendOnly));
    }

    /// Leaves a multicast group (rdma_leave_multicast(3)).
    ///
    /// @throws InvalidStateException when it was not joined
    public synchronized void leaveMulticast(InetAddress group) {
        if (!groups.leave(Gid.of(group), pair.queuePair().orElse(null))) {
            throw new InvalidStateException("leaveMulticast: " + this + " has not joined " + group.getHostAddress());
        }
    }

    /// Sends its events to another channel from now on (rdma_migrate_id(3)); waiting events move too.
    public synchronized void migrate(EventChannel to) {
        requireOpen("migrate");
        if (state == State.LISTENING) {
            throw new InvalidStateException("migrate: " + this + " is listening; close it and make another");
        }
        EventChannel from = channel;
        to.add(this);
        channel = to;
        from.remove(this).forEach(step -> to.offer(this, step));
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
    private synchronized Optional<ConnectionEvent> learn(Exchange begun, News news) {
        if (state == State.CLOSED) {
            return Optional.empty();
        }
        InetSocketAddress at = local;
        if (at != null && at.getPort() == 0) {
            local = new InetSocketAddress(at.getAddress(), begun.localPort());
        }
        return negotiation.learn(begun, news);
    }

    void enter(State next) {
        state = next;
    }

    // ---- the end

    /// Ends its activity without waiting for the peer. A listener's port becomes free and its waiting requests are
    /// refused; a request is rejected; a connection is disconnected. The identifier's queue pair is closed.
    @Override
    public synchronized void close() {
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

    private synchronized Optional<ConnectionEvent> onDeviceFailed(String why) {
        if (state == State.CLOSED) {
            return Optional.empty();
        }
        enter(State.DISCONNECTED);
        return Optional.of(new ConnectionEvent.DeviceRemoval(this, why));
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
        return "connection identifier" + (here == null ? "" : " at " + text(here))
                + (there == null ? "" : " to " + text(there));
    }

    static String text(InetSocketAddress address) {
        InetAddress at = address.getAddress();
        return (at == null ? address.getHostString() : Gid.of(at).toString()) + " port " + address.getPort();
    }
}
