package verbena.nic.iwarp;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmGuard;
import verbena.cm.CmLimits;
import verbena.cm.CmRoute;
import verbena.cm.CmSuspects;
import verbena.cm.Crowd;
import verbena.cm.mpa.MpaSecret;
import verbena.cm.mpa.MpaTimer;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceHost;
import verbena.nic.link.LinkException;
import verbena.nic.link.tcp.StreamHandler;
import verbena.nic.link.tcp.TcpLink;
import verbena.nic.link.tcp.TcpPort;
import verbena.nic.link.tcp.TcpSocket;
import verbena.transport.Scheduled;
import verbena.verbs.Capability;
import verbena.verbs.ConnectionException;
import verbena.verbs.Gid;
import verbena.verbs.UnsupportedException;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService;
import verbena.wire.Frame;

/// An iWARP device's connections: ports are TCP's, and MPA asks and answers. The engine schedules the times at which
/// it waits for peers no longer.
final class StreamConnections implements ConnectionService, Scheduled {
    private final DeviceHost host;
    private final TcpLink link;
    private final boolean isCrcWanted;
    private final EngineTask task = new EngineTask(this);

    // Engine-confined.
    private final Set<Port> ports = new HashSet<>();
    /// The connections that wait for their peers: those with the earliest deadlines first, as all of one timer wait
    /// equally long.
    private final Map<MpaTimer, SequencedSet<StreamConnection>> waiting = new EnumMap<>(MpaTimer.class);
    private final CmSuspects suspects = new CmSuspects();
    /// The judge of requests that have to prove a secret; null before the first.
    private @Nullable CmGuard guard;

    private final AtomicLong unproven = new AtomicLong();

    /// The connections that have not sent a request yet.
    private final Crowd<StreamConnection> halfOpen = new Crowd<>(StreamConnection::remote);

    /// @param isCrcWanted whether this side asks for CRCs
    StreamConnections(DeviceHost host, TcpLink link, boolean isCrcWanted) {
        this.host = host;
        this.link = link;
        this.isCrcWanted = isCrcWanted;
        for (MpaTimer timer : MpaTimer.values()) {
            waiting.put(timer, new LinkedHashSet<>());
        }
    }

    DeviceHost host() {
        return host;
    }

    TcpLink link() {
        return link;
    }

    boolean isCrcWanted() {
        return isCrcWanted;
    }

    long nowNanos() {
        return host.engine().nowNanos();
    }

    @Override
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return host.engines().attendGivingWay(isOver, nanos);
    }

    @Override
    public void wakeAttendant() {
        host.engine().wakeGuest();
    }

    @Override
    public Watch watch(Consumer<String> onFailure) {
        return host.failures().apply(onFailure);
    }

    // ---- ports

    @Override
    public BoundPort bind(PortSpace space, Gid local, int port) {
        requireStreams("bind", space);
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 0 to 65535, got " + port);
        }
        return host.engine().call(() -> {
            if (port != 0 && find(local, port) != null) {
                throw new ConnectionException(
                        ConnectionException.Reason.ADDRESS,
                        "port " + port + " of " + local + " is taken by this process");
            }
            try {
                var bound = new Port(link.bind(local, port));
                ports.add(bound);
                return bound;
            } catch (LinkException e) {
                throw unusable(e);
            }
        });
    }

    /// Checks that the port space is TCP, the only one of iWARP.
    private void requireStreams(String verb, PortSpace space) {
        if (space.isDatagram()) {
            throw new UnsupportedException(verb, Capability.UD, host.name());
        }
        if (space != PortSpace.TCP) {
            throw new IllegalArgumentException(verb + ": port space: TCP is the only one of iWARP, got " + space);
        }
    }

    /// Returns the secret of a port for a peer that has connected to it.
    MpaSecret secretOf(Port port, Gid remote, long now) {
        CmGuard judge = guard == null ? new CmGuard(host.random()) : guard;
        guard = judge;
        var route = new CmRoute(port.local(), remote);
        return MpaSecret.passive(port.secret, route, port.port(), judge, now, why -> {
            unproven.incrementAndGet();
            host.peers().unproven(remote, why, now);
        });
    }

    /// Returns how many requests have not proven a secret. Any thread.
    long unproven() {
        return unproven.get();
    }

    private static ConnectionException unusable(LinkException e) {
        return new ConnectionException(ConnectionException.Reason.ADDRESS, String.valueOf(e.getMessage()), e);
    }

    private @Nullable Port find(Gid local, int number) {
        for (Port port : ports) {
            if (port.port() == number && port.local().equals(local)) {
                return port;
            }
        }
        return null;
    }

    /// A port, and the connections whose requests wait there for a decision.
    final class Port implements BoundPort {
        private final TcpPort bound;
        private final Set<StreamConnection> undecided = new HashSet<>();
        /// The connections that have sent a request while the backlog was full, and the decision for each.
        private final Crowd<StreamConnection> waitingForRoom = new Crowd<>(StreamConnection::remote);
        private final Map<StreamConnection, Consumer<Acceptor>> decisions = new HashMap<>();
        private @Nullable Acceptor acceptor;
        private Secret secret = Secret.NONE;
        private int backlog;

        private Port(TcpPort bound) {
            this.bound = bound;
        }

        Gid local() {
            return bound.local();
        }

        @Override
        public int port() {
            return bound.number();
        }

        @Override
        public void listen(int most, Secret proven, Acceptor to) {
            host.engine().call(() -> {
                try {
                    backlog = most;
                    acceptor = to;
                    secret = proven;
                    bound.listen(this::onAccept);
                    return true;
                } catch (LinkException e) {
                    throw unusable(e);
                }
            });
        }

        /// Accepts a socket of a peer, which may never send a request.
        private @Nullable StreamHandler onAccept(TcpSocket socket, long now) {
            Gid from = socket.remote();
            if (suspects.standing(from, now) == CmSuspects.Standing.BLOCKED && !from.equals(local())) {
                return null; // but all users of this host come from its own address
            }
            if (halfOpen.size() >= CmLimits.DEFAULT.halfOpen()) {
                StreamConnection beyond = halfOpen.oldestBeyond(CmLimits.DEFAULT.perPeer());
                (beyond == null ? halfOpen.oldest() : beyond).shed();
            }
            return StreamConnection.passive(StreamConnections.this, this, socket, now);
        }

        /// Returns the listener that decides; null when there is none any more.
        @Nullable
        Acceptor acceptor() {
            return acceptor;
        }

        /// Passes a connection to the acceptor, now or when there is room. Returns false when too many wait,
        /// and no other peer has more of them.
        boolean admit(StreamConnection connection, Consumer<Acceptor> decision) {
            if (undecided.size() < backlog) {
                return decideOn(connection, decision);
            }
            if (waitingForRoom.size() >= CmLimits.DEFAULT.halfOpen()) {
                StreamConnection rival = waitingForRoom.oldestBeyond(waitingForRoom.of(connection.remote()) + 1);
                if (rival == null) {
                    return false;
                }
                rival.shed();
            }
            decisions.put(connection, decision);
            return waitingForRoom.add(connection);
        }

        private boolean decideOn(StreamConnection connection, Consumer<Acceptor> decision) {
            Acceptor to = acceptor;
            boolean is = to != null && undecided.add(connection);
            if (to != null && is) {
                decision.accept(to);
            }
            return is;
        }

        /// Releases the place of a connection that was decided on, or has ended.
        void decided(StreamConnection connection) {
            boolean _ = waitingForRoom.remove(connection);
            decisions.remove(connection);
            undecided.remove(connection);
            while (undecided.size() < backlog && acceptor != null && waitingForRoom.size() > 0) {
                StreamConnection next = waitingForRoom.oldest();
                boolean _ =
                        waitingForRoom.remove(next) && decideOn(next, Objects.requireNonNull(decisions.remove(next)));
            }
        }

        @Override
        public void close() {
            host.engine().call(() -> {
                acceptor = null;
                while (waitingForRoom.size() > 0) {
                    waitingForRoom.oldest().shed();
                }
                bound.close();
                return ports.remove(this);
            });
        }
    }

    /// Notes that a connection of this peer has asked for memory without the right to access it.
    void suspect(Gid peer) {
        if (suspects.onAccessError(peer, nowNanos())) {
            host.peers().blocked(peer);
        }
    }

    // ---- calls

    @Override
    public Exchange connect(Route call, OwnSide own, Listener listener) {
        requireStreams("connect", call.space());
        return host.engine().call(() -> {
            Port from = call.localPort() == 0 ? null : find(call.local(), call.localPort());
            try {
                return StreamConnection.active(
                        this,
                        from == null ? null : from.bound,
                        call.local(),
                        call.remote(),
                        call.remotePort(),
                        own,
                        listener);
            } catch (LinkException e) {
                throw unusable(e);
            }
        });
    }

    // ---- timers; the engine's

    private SequencedSet<StreamConnection> waiting(MpaTimer timer) {
        return Objects.requireNonNull(waiting.get(timer));
    }

    /// Schedules the timer of a connection anew.
    void schedule(StreamConnection connection) {
        MpaTimer before = connection.timer;
        MpaTimer now = connection.mpa.timer();
        if (before == now && connection.dueNanos == connection.mpa.deadlineNanos()) {
            return;
        }
        connection.timer = now;
        connection.dueNanos = connection.mpa.deadlineNanos();
        if (before != null) {
            waiting(before).remove(connection);
        }
        if (now != null) {
            waiting(now).add(connection);
            host.engine().makeReady(task);
        }
        if (before == MpaTimer.REQUEST) {
            boolean _ = halfOpen.remove(connection);
        } else if (now == MpaTimer.REQUEST) {
            boolean _ = halfOpen.add(connection);
        }
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        return false;
    }

    @Override
    public long deadlineNanos() {
        long earliest = NEVER;
        for (var these : waiting.values()) {
            earliest = these.isEmpty() ? earliest : Math.min(earliest, these.getFirst().dueNanos);
        }
        return earliest;
    }

    @Override
    public void onDeadline(long nowNanos) {
        for (var these : waiting.values()) {
            while (!these.isEmpty() && these.getFirst().dueNanos <= nowNanos) {
                these.getFirst().onDeadline(nowNanos);
            }
        }
    }
}
