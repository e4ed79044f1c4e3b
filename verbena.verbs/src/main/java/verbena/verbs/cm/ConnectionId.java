package verbena.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
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
import verbena.verbs.Transition;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.BoundPort;
import verbena.verbs.spi.ConnectionService.Call;
import verbena.verbs.spi.ConnectionService.End;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;

/// A listener or a connection, as a socket is one or the other (`struct rdma_cm_id`, rdma_create_id(3)). The
/// active side resolves the address and the route, makes a queue pair and connects; the passive side binds,
/// listens, and gets an identifier with every request. The [EventChannel] reports the results. Safe for
/// use by any thread.
public final class ConnectionId implements VerbsObject {
    /// Its state.
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
    public static final int UDP_QKEY = 0x0123_4567;

    private static final int MULTICAST_QPN = 0xFF_FFFF;
    private static final int EPHEMERAL_MIN = 0xC000;
    private static final int PORTS = 0x1_0000;

    private final PortSpace space;
    private volatile EventChannel channel;
    private volatile State state = State.IDLE;

    // Guarded by this.
    private final List<LocalDevices.Lease> leases = new ArrayList<>();
    private final List<ConnectionService.Watch> watches = new ArrayList<>();
    private final List<BoundPort> ports = new ArrayList<>();
    /// Those joined, and whether to send only.
    private final Map<Gid, Boolean> groups = new HashMap<>();
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private @Nullable QueuePair queuePair;
    /// Whether it is closed with this identifier.
    private boolean isOwned;
    private int ownQpn;
    private QpType ownType = QpType.RC;
    private @Nullable Exchange exchange;
    private @Nullable End own;
    /// Passive: who asks.
    private @Nullable PeerParameters asking;
    private volatile String endedBecause = "";

    ConnectionId(EventChannel channel, PortSpace space) {
        this.channel = channel;
        this.space = space;
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

    /// The device, once an address is bound or resolved. Not for closing.
    ///
    /// @throws InvalidStateException before, and for a listener on all addresses
    public synchronized Context context() {
        if (leases.size() != 1) {
            throw new InvalidStateException("context: " + this + " is at "
                    + (leases.isEmpty() ? "no device: bind it or resolve an address first" : "several devices"));
        }
        return leases.getFirst().context();
    }

    /// Own address and port; port 0 until there is one.
    public Optional<InetSocketAddress> localAddress() {
        return Optional.ofNullable(local);
    }

    public Optional<InetSocketAddress> peerAddress() {
        return Optional.ofNullable(peer);
    }

    /// The queue pair that [#createQueuePair] made.
    public synchronized Optional<QueuePair> queuePair() {
        return Optional.ofNullable(queuePair);
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

    /// The same.
    ///
    /// @param oneFamily whether `::` is to stand for IPv6 addresses only, so that another identifier may have
    ///     the port of the IPv4 addresses (`RDMA_OPTION_ID_AFONLY`, rdma_set_option(3)). On a host without IPv6
    ///     addresses this binds none and does not fail, for programs that bind one family after the other
    public synchronized void bind(InetSocketAddress address, boolean oneFamily) {
        require("bind", State.IDLE);
        InetAddress at = resolved("address", address);
        List<Gid> gids = at.isAnyLocalAddress() ? LocalDevices.all(channel.only(), at, oneFamily) : List.of(Gid.of(at));
        if (gids.isEmpty() && !oneFamily) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS,
                    "bind: this host has no address that is up, not even loopback's: set an interface up first");
        }
        int port = address.getPort();
        boolean done = false;
        try {
            for (Gid gid : gids) {
                LocalDevices.Lease lease = LocalDevices.at(channel, gid);
                hold(lease);
                BoundPort bound = lease.context().connectionService().bind(space, gid, port);
                ports.add(bound);
                port = bound.port();
            }
            if (port == 0) {
                port = ThreadLocalRandom.current().nextInt(EPHEMERAL_MIN, PORTS); // no address, so none is taken
            }
            done = true;
        } finally {
            if (!done) {
                letGo();
            }
        }
        local = new InetSocketAddress(at, port);
        state = State.BOUND;
    }

    /// Finds the device and the own address that reach a peer (rdma_resolve_addr(3)). That is the address from
    /// which the system would send. Towards a peer on this host it is a free address of 127.0.0.0/8 when another
    /// user's process has the system's choice. [ConnectionEvent.AddressResolved] or
    /// [ConnectionEvent.AddressError] follows.
    ///
    /// @throws IllegalArgumentException when the name of the destination was not resolved, or is a wildcard address
    public void resolveAddress(InetSocketAddress destination) {
        resolveAddress(Optional.empty(), destination);
    }

    /// The same from an own address and port of choice; port 0 leaves the port open.
    public synchronized void resolveAddress(Optional<InetSocketAddress> source, InetSocketAddress destination) {
        if (state != State.BOUND) {
            require("resolveAddress", State.IDLE);
        }
        InetAddress to = resolved("destination", destination);
        if (to.isAnyLocalAddress()) {
            throw new IllegalArgumentException("destination: an address of a peer, got " + to.getHostAddress());
        }
        try {
            if (state == State.IDLE) {
                Optional<Gid> wanted = source.map(from -> resolved("source", from))
                        .filter(from -> !from.isAnyLocalAddress())
                        .map(Gid::of);
                LocalDevices.Lease lease = wanted.isPresent()
                        ? LocalDevices.at(channel, wanted.get())
                        : LocalDevices.reaching(channel, to);
                hold(lease);
                Gid from = lease.local();
                int port = source.map(InetSocketAddress::getPort).orElse(0);
                if (port != 0) {
                    ports.add(context().connectionService().bind(space, from, port));
                }
                local = new InetSocketAddress(from.address(), port);
            } else {
                local = onAddressTowards(to);
            }
        } catch (VerbsException e) {
            letGo();
            String why = String.valueOf(e.getMessage());
            offer(() -> Optional.of(new ConnectionEvent.AddressError(this, why)));
            return;
        }
        peer = destination;
        state = State.ADDRESS_RESOLVED;
        offer(() -> Optional.of(new ConnectionEvent.AddressResolved(this)));
    }

    /// Bound to all addresses: from now on to the one that reaches the peer.
    private InetSocketAddress onAddressTowards(InetAddress to) {
        InetSocketAddress bound = Objects.requireNonNull(local);
        if (!bound.getAddress().isAnyLocalAddress()) {
            return bound;
        }
        Gid from = LocalDevices.towards(channel.only(), to);
        for (int i = leases.size() - 1; i >= 0; i--) {
            if (!leases.get(i).local().equals(from)) {
                ports.remove(i).close();
                watches.remove(i).close();
                leases.remove(i).close();
            }
        }
        return new InetSocketAddress(from.address(), bound.getPort());
    }

    private static InetAddress resolved(String name, InetSocketAddress address) {
        InetAddress at = address.getAddress();
        if (at == null) {
            throw new IllegalArgumentException(name + ": \"" + address.getHostString() + "\" is no known host");
        }
        return at;
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
        if (queuePair != null && !queuePair.isClosed()) {
            throw new InvalidStateException("createQueuePair: " + this + " has one already");
        }
        if (domain.context() != context()) {
            throw new IllegalArgumentException(
                    "createQueuePair: domain: of another context than the connection's, which is at "
                            + context().device().name());
        }
        if (options.type().isXrc() || space.isDatagram() != (options.type() == QpType.UD)) {
            throw new IllegalArgumentException(
                    "createQueuePair: options: type " + options.type() + " does not go with port space " + space);
        }
        QueuePair made = domain.createQueuePair(options);
        boolean done = false;
        try {
            if (options.type() == QpType.UD) {
                made.modify(new Transition.ToInitUd(1, 0, UDP_QKEY));
                made.modify(new Transition.ToRtrUd());
                made.modify(new Transition.ToRtsUnreliable(0));
            } else {
                made.modify(new Transition.ToInit(Access.remoteAll()));
            }
            done = true;
        } finally {
            if (!done) {
                made.close();
            }
        }
        queuePair = made;
        isOwned = true;
        return made;
    }

    /// For a queue pair that the program has made, and brought to INIT: connecting and accepting bring it to
    /// RTS, and disconnecting to ERR. It stays the program's to close; one of
    /// [#createQueuePair] becomes so.
    public synchronized void useQueuePair(QueuePair made) {
        requireOpen("useQueuePair");
        QueuePair before = queuePair;
        if (before != null && before != made && !before.isClosed()) {
            throw new InvalidStateException("useQueuePair: " + this + " has one already");
        }
        if (made.type().isXrc() || space.isDatagram() != (made.type() == QpType.UD)) {
            throw new IllegalArgumentException(
                    "useQueuePair: type " + made.type() + " does not go with port space " + space);
        }
        isOwned = false;
        queuePair = made;
    }

    /// Describes a queue pair that the program has made and moves itself.
    public synchronized void useQueuePair(QpType type, int qpn) {
        requireOpen("useQueuePair");
        if (qpn < 0 || qpn > MULTICAST_QPN) {
            throw new IllegalArgumentException("qpn: 0 to 0xffffff, got " + qpn);
        }
        ownType = type;
        ownQpn = qpn;
    }

    /// The attributes that bring the program's own queue pair to RTR and then to RTS (rdma_init_qp_attr(3)). The
    /// program brings it to INIT by itself. Active: after [ConnectionEvent.ConnectResponse]; passive: before
    /// [#accept].
    ///
    /// @param parameters passive: those that [#accept] will be called with; active: those of [#connect]
    public synchronized QpModification modification(QpState to, ConnectionParameters parameters) {
        return exchange("modification").modification(to, end(parameters));
    }

    private End end(ConnectionParameters parameters) {
        QueuePair made = queuePair;
        if (made == null) {
            return new End(Optional.empty(), ownType, ownQpn, UDP_QKEY, false, parameters);
        }
        QueuePairOptions options = made.query().options();
        return new End(
                Optional.of(made),
                made.type(),
                made.qpn(),
                UDP_QKEY,
                options.sharedReceiveQueue().isPresent(),
                parameters);
    }

    private Exchange exchange(String verb) {
        Exchange begun = exchange;
        if (begun == null) {
            throw new InvalidStateException(verb + ": " + this + " is in " + state + " and has no peer yet");
        }
        return begun;
    }

    // ---- the active side

    /// Asks the peer for a connection (rdma_connect(3)). [ConnectionEvent.Established], [ConnectionEvent.Rejected],
    /// [ConnectionEvent.Unreachable] or [ConnectionEvent.ConnectError] follows; with a queue pair of the
    /// program's own, [ConnectionEvent.ConnectResponse]; of datagrams, [ConnectionEvent.DatagramEstablished].
    ///
    /// @throws IllegalArgumentException when the private data are too long
    public synchronized void connect(ConnectionParameters parameters) {
        require("connect", State.ROUTE_RESOLVED);
        if (queuePair == null && ownQpn == 0 && !space.isDatagram()) {
            throw new InvalidStateException(
                    "connect: " + this + " has no queue pair: createQueuePair, or useQueuePair for one of your own");
        }
        var from = Objects.requireNonNull(local);
        var to = Objects.requireNonNull(peer);
        var call = new Call(space, leases.getFirst().local(), from.getPort(), Gid.of(to.getAddress()), to.getPort());
        End mine = end(parameters);
        own = mine;
        exchange = service().connect(call, mine, this::onNews);
        state = State.CONNECTING;
    }

    private ConnectionService service() {
        return context().connectionService();
    }

    /// The program's own queue pair is in RTS: says so to the peer (rdma_establish(3)).
    public synchronized void establish() {
        require("establish", State.CONNECTING);
        exchange("establish").ready();
        state = State.CONNECTED;
    }

    // ---- the passive side

    /// Takes requests from now on (rdma_listen(3)); each is a [ConnectionEvent.ConnectRequest].
    ///
    /// @param backlog requests that may wait for a decision, at least 1; more are refused
    public void listen(int backlog) {
        listen(backlog, Secret.NONE);
    }

    /// The same for peers that prove that they know a secret ([ConnectionParameters#withSecret]): requests of other
    /// peers are refused.
    ///
    /// @param secret [Secret#NONE] for all peers except those that ask with a secret
    /// @throws verbena.verbs.UnsupportedException when the device cannot have it proven
    public synchronized void listen(int backlog, Secret secret) {
        require("listen", State.BOUND);
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog: at least 1, got " + backlog);
        }
        for (int i = 0; i < ports.size(); i++) {
            LocalDevices.Lease at = leases.get(i);
            ports.get(i).listen(backlog, secret, (begun, from, type) -> onRequest(at, begun, from, type));
        }
        state = State.LISTENING;
    }

    /// Called by the device: a peer asks for a connection.
    private ConnectionService.Listener onRequest(
            LocalDevices.Lease at, Exchange begun, PeerParameters from, QpType type) {
        var theirs = new ConnectionId(channel, space);
        channel.offer(this, new EventChannel.Step() {
            @Override
            public Optional<ConnectionEvent> take() {
                synchronized (ConnectionId.this) { // it may come before listen has returned
                    if (state != State.LISTENING) {
                        discard();
                        return Optional.empty();
                    }
                    boolean taken = false;
                    try {
                        theirs.begin(channel, at, begun, from, type);
                        taken = true;
                    } finally {
                        if (!taken) {
                            discard(); // the channel is closed
                        }
                    }
                }
                return Optional.of(new ConnectionEvent.ConnectRequest(theirs, ConnectionId.this, from));
            }

            @Override
            public void discard() {
                refuse(begun);
            }
        });
        return theirs::onNews;
    }

    /// A request gets its identifier.
    private synchronized void begin(
            EventChannel where, LocalDevices.Lease at, Exchange begun, PeerParameters from, QpType type) {
        channel = where;
        where.add(this);
        hold(at.again());
        exchange = begun;
        asking = from;
        ownType = type;
        local = new InetSocketAddress(begun.local().address(), begun.localPort());
        peer = new InetSocketAddress(begun.remote().address(), begun.remotePort());
        state = State.REQUESTED;
    }

    private static void refuse(Exchange begun) {
        try {
            begun.reject(PrivateData.NONE);
        } catch (InvalidStateException e) {
            // the peer has given up meanwhile
        }
    }

    /// Accepts the request (rdma_accept(3)); [ConnectionEvent.Established] follows when the peer has confirmed. Of
    /// datagrams nothing follows.
    ///
    /// @throws InvalidStateException when the request is not there any more
    public synchronized void accept(ConnectionParameters parameters) {
        require("accept", State.REQUESTED);
        if (queuePair == null && ownQpn == 0) {
            throw new InvalidStateException(
                    "accept: " + this + " has no queue pair: createQueuePair, or useQueuePair for one of your own");
        }
        End mine = end(parameters);
        Exchange begun = exchange("accept");
        if (!space.isDatagram()) {
            bringUp(begun, mine);
        }
        begun.accept(mine);
        state = space.isDatagram() ? State.CONNECTED : State.ACCEPTED;
    }

    private void bringUp(Exchange begun, End mine) {
        QueuePair made = queuePair;
        if (made != null) {
            made.modify(begun.modification(QpState.RTR, mine));
            made.modify(begun.modification(QpState.RTS, mine));
        }
    }

    /// Rejects the request (rdma_reject(3)).
    public synchronized void reject(PrivateData privateData) {
        require("reject", State.REQUESTED);
        exchange("reject").reject(privateData);
        state = State.DISCONNECTED;
    }

    // ---- either side

    /// A packet has arrived on the program's own queue pair, so the peer is ready though it has not said so
    /// (rdma_notify(3) with COMM_EST).
    public synchronized void communicationEstablished() {
        exchange("communicationEstablished").communicationEstablished();
    }

    /// Ends the connection (rdma_disconnect(3)): the queue pair goes to ERR, and [ConnectionEvent.Disconnected]
    /// follows when the peer knows. Does nothing when the connection has ended.
    public synchronized void disconnect() {
        switch (state) {
            case CONNECTED, ACCEPTED, CONNECTING -> {
                breakDown();
                exchange("disconnect").disconnect(PrivateData.NONE);
            }
            case DISCONNECTED, CLOSED -> {}
            case IDLE, BOUND, LISTENING, ADDRESS_RESOLVED, ROUTE_RESOLVED, REQUESTED ->
                throw new InvalidStateException("disconnect: " + this + " is in " + state + ": there is no connection");
        }
    }

    private void breakDown() {
        QueuePair made = queuePair;
        if (made == null || made.isClosed() || made.type() == QpType.UD || made.state() == QpState.RESET) {
            return;
        }
        try {
            made.modify(new Transition.ToError());
        } catch (InvalidStateException e) {
            // the program closes it at this moment, and nothing is in flight any more
        }
    }

    /// Joins a multicast group (rdma_join_multicast(3)); the queue pair of [#createQueuePair] is attached to it.
    /// [ConnectionEvent.MulticastJoined] or [ConnectionEvent.MulticastError] follows.
    ///
    /// @param group an IPv4 or IPv6 multicast address
    public void joinMulticast(InetAddress group) {
        joinMulticast(group, false);
    }

    /// The same, or as a sender that does not receive from the group: the queue pair is not attached then
    /// (rdma_join_multicast_ex(3)).
    public synchronized void joinMulticast(InetAddress group, boolean sendOnly) {
        Gid gid = Gid.of(group);
        if (!gid.isMulticast()) {
            throw new IllegalArgumentException(
                    "joinMulticast: group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got " + group.getHostAddress());
        }
        if (!space.isDatagram() || leases.size() != 1) {
            throw new InvalidStateException("joinMulticast: " + this + " is in " + state + " and of port space " + space
                    + ": bind it or resolve an address first, in port space UDP or IPOIB");
        }
        try {
            QueuePair made = queuePair;
            if (made != null && !sendOnly) {
                made.attachMulticast(gid);
            }
        } catch (VerbsException e) {
            String why = String.valueOf(e.getMessage());
            offer(() -> Optional.of(new ConnectionEvent.MulticastError(this, gid, why)));
            return;
        }
        groups.put(gid, sendOnly);
        LocalDevices.Lease at = leases.getFirst();
        var path = AddressVector.to(gid, at.gidIndex());
        offer(() -> Optional.of(new ConnectionEvent.MulticastJoined(this, gid, path, MULTICAST_QPN, UDP_QKEY)));
    }

    /// Leaves a multicast group (rdma_leave_multicast(3)).
    ///
    /// @throws InvalidStateException when it was not joined
    public synchronized void leaveMulticast(InetAddress group) {
        Gid gid = Gid.of(group);
        Boolean sendOnly = groups.remove(gid);
        if (sendOnly == null) {
            throw new InvalidStateException("leaveMulticast: " + this + " has not joined " + group.getHostAddress());
        }
        QueuePair made = queuePair;
        if (made != null && !made.isClosed() && !sendOnly) {
            made.detachMulticast(gid);
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

    private void offer(EventChannel.Step step) {
        EventChannel to = channel;
        to.offer(this, step);
        while (to != channel) { // it has moved, and may have taken along what was there before this
            EventChannel next = channel;
            to.remove(this).forEach(late -> next.offer(this, late));
            to = next;
        }
    }

    /// On the thread that takes the event.
    private synchronized Optional<ConnectionEvent> learn(Exchange begun, News news) {
        if (state == State.CLOSED) {
            return Optional.empty();
        }
        return switch (news) {
            case News.Accepted(PeerParameters from) -> onAccepted(begun, from);
            case News.Established() -> {
                PeerParameters from = asking;
                if (state != State.ACCEPTED || from == null) {
                    yield Optional.empty(); // the active side has said so itself
                }
                state = State.CONNECTED;
                yield Optional.of(new ConnectionEvent.Established(this, from));
            }
            case News.Rejected(int reason, String why, PrivateData data) -> {
                end(why);
                yield Optional.of(new ConnectionEvent.Rejected(this, reason, why, data));
            }
            case News.Unreachable(String why) -> {
                end(why);
                yield Optional.of(new ConnectionEvent.Unreachable(this, why));
            }
            case News.Disconnected(EndedBy by, String why) -> {
                end(why);
                yield Optional.of(new ConnectionEvent.Disconnected(this, by, why));
            }
            case News.TimewaitExit() -> Optional.of(new ConnectionEvent.TimewaitExit(this));
        };
    }

    private Optional<ConnectionEvent> onAccepted(Exchange begun, PeerParameters from) {
        if (state != State.CONNECTING) {
            return Optional.empty(); // given up meanwhile
        }
        if (space.isDatagram()) {
            state = State.CONNECTED;
            return Optional.of(new ConnectionEvent.DatagramEstablished(this, begun.path(), from));
        }
        if (queuePair == null) {
            return Optional.of(new ConnectionEvent.ConnectResponse(this, from));
        }
        try {
            bringUp(begun, Objects.requireNonNull(own));
            begun.ready();
        } catch (VerbsException | IllegalArgumentException e) {
            refuse(begun);
            String why = String.valueOf(e.getMessage());
            end(why);
            return Optional.of(new ConnectionEvent.ConnectError(this, why));
        }
        state = State.CONNECTED;
        return Optional.of(new ConnectionEvent.Established(this, from));
    }

    private void end(String why) {
        state = State.DISCONNECTED;
        endedBecause = why;
    }

    /// Why it has ended; empty when it has not.
    String endedBecause() {
        return endedBecause;
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
        ports.forEach(BoundPort::close); // from here on nobody asks
        ports.clear();
        channel.remove(this).forEach(EventChannel.Step::discard);
        Exchange begun = exchange;
        QueuePair made = queuePair;
        try {
            if (begun != null) {
                if (was == State.REQUESTED) {
                    refuse(begun);
                } else if (was != State.DISCONNECTED) {
                    begun.disconnect(PrivateData.NONE);
                }
            }
            if (made != null && isOwned) {
                made.close();
            }
        } finally {
            letGo(); // also when the device refuses something
        }
    }

    /// From now on it is told when the device fails.
    private void hold(LocalDevices.Lease lease) {
        leases.add(lease);
        watches.add(lease.context().connectionService().watch(why -> offer(() -> onDeviceFailed(why))));
    }

    private synchronized Optional<ConnectionEvent> onDeviceFailed(String why) {
        if (state == State.CLOSED) {
            return Optional.empty();
        }
        end(why);
        return Optional.of(new ConnectionEvent.DeviceRemoval(this, why));
    }

    private void letGo() {
        watches.forEach(ConnectionService.Watch::close);
        watches.clear();
        ports.forEach(BoundPort::close);
        ports.clear();
        leases.forEach(LocalDevices.Lease::close);
        leases.clear();
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
