package verbena.nic.kind.iwarp;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmLimits;
import verbena.cm.CmSuspects;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceHost;
import verbena.nic.link.LinkException;
import verbena.nic.link.StreamHandler;
import verbena.nic.link.TcpLink;
import verbena.nic.link.TcpPort;
import verbena.nic.link.TcpSocket;
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
    /// How long a peer is waited for.
    enum Patience {
        /// For the reply to a request, TCP's own connecting included; as soft-iWARP waits.
        ASK(10_000_000_000L),
        /// For the request of somebody who has connected; as soft-iWARP waits.
        EXPECT(5_000_000_000L),
        /// For the end of a stream that this side has ended.
        END(5_000_000_000L),
        /// Before whoever does not listen yet is tried again.
        AGAIN(5_000_000L);

        private final long nanos;

        Patience(long nanos) {
            this.nanos = nanos;
        }
    }

    private final DeviceHost host;
    private final TcpLink link;
    private final boolean isCrcWanted;
    private final EngineTask station = new EngineTask(this);

    // Engine-confined.
    private final Set<Port> ports = new HashSet<>();
    /// Those that wait for their peers, the oldest first, which is the first to lose patience.
    private final List<LinkedHashSet<StreamConnection>> waiting = Stream.of(Patience.values())
            .map(_ -> new LinkedHashSet<StreamConnection>())
            .toList();
    private final CmSuspects suspects = new CmSuspects();
    /// How many of each peer have connected and not asked.
    private final Map<Gid, Integer> halfOpen = new HashMap<>();

    /// @param isCrcWanted whether this side asks for CRCs
    StreamConnections(DeviceHost host, TcpLink link, boolean isCrcWanted) {
        this.host = host;
        this.link = link;
        this.isCrcWanted = isCrcWanted;
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

    /// TCP is all that iWARP has.
    private void requireStreams(String verb, PortSpace space) {
        if (space.isDatagram()) {
            throw new UnsupportedException(verb, Capability.UD, host.name());
        }
        if (space != PortSpace.TCP) {
            throw new IllegalArgumentException(verb + ": port space: TCP is the only one of iWARP, got " + space);
        }
    }

    /// MPA's exchange is one request and one reply: there is no room for a challenge.
    private void requireNoSecret(String verb, Secret secret) {
        if (!secret.isNone()) {
            throw new UnsupportedException(verb, Capability.CONNECTION_SECRETS, host.name());
        }
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

    /// A port, and those who have asked there and are not answered.
    final class Port implements BoundPort {
        private final TcpPort bound;
        private final Set<StreamConnection> undecided = new HashSet<>();
        private @Nullable Acceptor acceptor;
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
        public void listen(int most, Secret secret, Acceptor to) {
            requireNoSecret("listen", secret);
            host.engine().call(() -> {
                try {
                    backlog = most;
                    acceptor = to;
                    bound.listen(this::onAccept);
                    return true;
                } catch (LinkException e) {
                    throw unusable(e);
                }
            });
        }

        /// Somebody has connected, and may have nothing to ask.
        private @Nullable StreamHandler onAccept(TcpSocket socket, long now) {
            Gid from = socket.remote();
            if (suspects.standing(from, now) == CmSuspects.Standing.BLOCKED && !from.equals(local())) {
                return null; // but all users of this host come from its own address
            }
            var oldest = waiting.get(Patience.EXPECT.ordinal());
            if (halfOpen.getOrDefault(from, 0) >= CmLimits.DEFAULT.perPeer()) {
                oldest.stream()
                        .filter(each -> each.remote().equals(from))
                        .findFirst()
                        .ifPresent(StreamConnection::shed);
            } else if (oldest.size() >= CmLimits.DEFAULT.halfOpen()) {
                oldest.getFirst().shed();
            }
            var made = StreamConnection.passive(StreamConnections.this, this, socket);
            halfOpen.merge(from, 1, Integer::sum);
            await(made, Patience.EXPECT, now);
            return made;
        }

        /// Who is to decide; null when nobody listens any more.
        @Nullable
        Acceptor acceptor() {
            return acceptor;
        }

        /// Whether there is room for one more to be decided on.
        boolean admit(StreamConnection connection) {
            return undecided.size() < backlog && undecided.add(connection);
        }

        void decided(StreamConnection connection) {
            undecided.remove(connection);
        }

        @Override
        public void close() {
            host.engine().call(() -> {
                acceptor = null;
                bound.close();
                return ports.remove(this);
            });
        }
    }

    /// A connection of this peer has asked for memory that it may not have.
    void suspect(Gid peer) {
        if (suspects.onAccessError(peer, nowNanos())) {
            host.peers().blocked(peer);
        }
    }

    // ---- calls

    @Override
    public Exchange connect(Call call, End own, Listener listener) {
        requireStreams("connect", call.space());
        requireNoSecret("connect", own.parameters().secret());
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

    // ---- patience; the engine's

    /// Gives a connection's peer so much time, and forgets what it was given before.
    void await(StreamConnection connection, Patience patience, long now) {
        unwait(connection);
        connection.dueNanos = now + patience.nanos;
        waiting.get(patience.ordinal()).add(connection);
        host.engine().makeReady(station);
    }

    void unwait(StreamConnection connection) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i).remove(connection) && i == Patience.EXPECT.ordinal()) {
                halfOpen.computeIfPresent(connection.remote(), (peer, n) -> n == 1 ? null : n - 1);
            }
        }
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        return false;
    }

    @Override
    public long deadlineNanos() {
        long earliest = NEVER;
        for (int i = 0; i < waiting.size(); i++) {
            var these = waiting.get(i);
            earliest = these.isEmpty() ? earliest : Math.min(earliest, these.getFirst().dueNanos);
        }
        return earliest;
    }

    @Override
    public void onDeadline(long nowNanos) {
        for (var these : waiting) {
            while (!these.isEmpty() && these.getFirst().dueNanos <= nowNanos) {
                these.getFirst().onLate();
            }
        }
    }
}
