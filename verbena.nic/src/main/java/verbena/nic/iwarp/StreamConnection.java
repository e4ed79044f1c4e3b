package verbena.nic.iwarp;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRoute;
import verbena.cm.mpa.MpaAction;
import verbena.cm.mpa.MpaConnection;
import verbena.cm.mpa.MpaConnection.Loss;
import verbena.cm.mpa.MpaConnection.State;
import verbena.cm.mpa.MpaEnd;
import verbena.cm.mpa.MpaEvent;
import verbena.cm.mpa.MpaSecret;
import verbena.cm.mpa.MpaTerms;
import verbena.cm.mpa.MpaTimer;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.link.LinkException;
import verbena.nic.link.tcp.StreamHandler;
import verbena.nic.link.tcp.TcpPort;
import verbena.nic.link.tcp.TcpSocket;
import verbena.nic.observe.JfrEvents;
import verbena.provider.Timeouts;
import verbena.transport.iwarp.StreamBuffer;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.StreamTerms;

/// A connection of an iWARP device: the TCP socket and the queue pair of an [MpaConnection], which says what is to
/// be done with them and when. When one of queue pair and stream ends, so does the other. Verbs come from any
/// thread and are carried out on the engine; what the socket tells comes from the engine.
final class StreamConnection implements Exchange, StreamHandler, StreamDriver.Owner {
    /// The longest time that Linux takes (TCP_KEEPIDLE).
    private static final int KEEP_ALIVE_SECONDS_MAX = 32_767;

    private final StreamConnections service;
    private final Gid local;
    /// Active, and 0 until TCP is connected, when the program has bound no port.
    private volatile int localPort;
    private final Gid remote;
    private final int remotePort;

    // Engine-confined.
    final MpaConnection mpa;
    private @Nullable TcpSocket socket;
    private @Nullable Listener listener;
    /// Passive: the port that the peer has connected to.
    private final StreamConnections.@Nullable Port port;
    private @Nullable LocalQueuePair queuePair;
    /// The number of the queue pair, also when the connection has let it go; 0 while it is not known.
    private int qpn;
    /// Active: the port that the program has bound; null for one of the system's choice.
    private @Nullable TcpPort from;

    private int keepAliveSeconds;
    /// The event that the service waits for on behalf of the connection, with its deadline.
    @Nullable
    MpaTimer timer;

    long dueNanos;

    private StreamConnection(
            StreamConnections service,
            MpaConnection mpa,
            StreamConnections.@Nullable Port port,
            Gid local,
            int localPort,
            Gid remote,
            int remotePort) {
        this.service = service;
        this.mpa = mpa;
        this.port = port;
        this.local = local;
        this.localPort = localPort;
        this.remote = remote;
        this.remotePort = remotePort;
    }

    // ---- the beginning, on the engine

    /// Returns the connection of a peer that has connected.
    static StreamConnection passive(
            StreamConnections service, StreamConnections.Port port, TcpSocket socket, long now) {
        var passive = new StreamConnection(
                service,
                MpaConnection.passive(
                        name(socket.remote(), socket.remotePort()), service.secretOf(port, socket.remote(), now), now),
                port,
                port.local(),
                port.port(),
                socket.remote(),
                socket.remotePort());
        passive.socket = socket;
        service.schedule(passive);
        return passive;
    }

    /// Connects.
    ///
    /// @throws LinkException when this host cannot even try
    static StreamConnection active(
            StreamConnections service,
            @Nullable TcpPort from,
            Gid local,
            Gid remote,
            int remotePort,
            OwnSide own,
            Listener listener) {
        MpaEnd end = mpaEnd(service, own);
        MpaSecret secret = MpaSecret.active(
                own.parameters().secret(),
                new CmRoute(local, remote),
                service.host().random());
        var mpa = MpaConnection.active(name(remote, remotePort), end, secret, from == null, service.nowNanos());
        int localPort = from == null ? 0 : from.number();
        var active = new StreamConnection(service, mpa, null, local, localPort, remote, remotePort);
        active.listener = listener;
        active.from = from;
        active.attach(own, "connect");
        active.keepAliveSeconds = keepAliveSeconds(own);
        try {
            active.open();
        } catch (LinkException e) {
            active.detach();
            throw e;
        }
        service.schedule(active);
        return active;
    }

    private static MpaEnd mpaEnd(StreamConnections service, OwnSide own) {
        ConnectionParameters parameters = own.parameters();
        return new MpaEnd(
                service.isCrcWanted(),
                parameters.responderResources(),
                parameters.initiatorDepth(),
                parameters.privateData());
    }

    private void open() {
        TcpSocket made = service.link().connect(from, local, remote, remotePort, this);
        made.keepAlive(keepAliveSeconds);
        socket = made;
    }

    private void openAgain() {
        try {
            open();
        } catch (LinkException e) {
            mpa.onLost(Loss.UNREACHABLE, String.valueOf(e.getMessage()), service.nowNanos());
        }
    }

    private static int keepAliveSeconds(OwnSide own) {
        long nanos = Timeouts.nanos(own.parameters().keepAlive());
        return (int) Math.min(KEEP_ALIVE_SECONDS_MAX, Math.ceilDiv(nanos, 1_000_000_000L));
    }

    private void attach(OwnSide own, String verb) {
        LocalQueuePair local = own.queuePair().orElse(null) instanceof LocalQueuePair made
                ? made
                : service.host().queuePairs().get(own.qpn());
        if (local == null || !(local.driver() instanceof StreamDriver)) {
            throw new InvalidStateException(
                    verb + ": " + service.host().name() + " has no queue pair 0x" + Integer.toHexString(own.qpn()));
        }
        if (local.state() != QpState.INIT) {
            throw new InvalidStateException(verb + ": " + local + " is in " + local.state() + ", not in INIT");
        }
        local.failureListener(this::onQueuePairFailed);
        local.accessErrorListener(() -> service.suspect(remote));
        queuePair = local;
        qpn = local.qpn();
    }

    private void detach() {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.failureListener(null);
            local.accessErrorListener(null);
            queuePair = null;
        }
    }

    // ---- what MPA wants

    /// Does what MPA wants after each call to it.
    private void carryOut() {
        for (MpaAction action = mpa.poll(); action != null; action = mpa.poll()) {
            switch (action) {
                case MpaAction.Connect() -> openAgain();
                case MpaAction.Send(var frame) -> begun().write(frame);
                case MpaAction.Begin(StreamTerms terms) ->
                    stream(requireQueuePair()).begin(begun(), this, terms, service.nowNanos());
                case MpaAction.Finish() -> {
                    LocalQueuePair local = queuePair;
                    if (local != null) {
                        stream(local).finish(service.nowNanos());
                    }
                }
                case MpaAction.EndOutput() -> begun().end();
                case MpaAction.Close(boolean reset) -> close(reset);
                case MpaAction.Tell(MpaEvent event) -> tell(event);
            }
        }
        if (port != null && mpa.state() != State.REQUEST_RECEIVED) {
            port.decided(this);
        }
        service.schedule(this);
    }

    private void close(boolean reset) {
        TcpSocket on = socket;
        if (on != null) {
            on.close(reset);
        }
    }

    private void tell(MpaEvent event) {
        switch (event) {
            case MpaEvent.Requested(MpaTerms terms, PrivateData data) -> onRequest(peer(terms, data));
            case MpaEvent.Accepted(MpaTerms terms, PrivateData data) -> tell(new News.Accepted(peer(terms, data)));
            case MpaEvent.Established() -> tell(new News.Established());
            case MpaEvent.Rejected(var reason, String why, PrivateData data) ->
                tellEnd(new News.Rejected(reason.code(), why, data));
            case MpaEvent.Unreachable(String why) -> tellEnd(new News.Unreachable(why));
            case MpaEvent.Disconnected(EndedBy by, String why) -> tellEnd(new News.Disconnected(by, why));
        }
    }

    private void onRequest(PeerParameters peer) {
        if (port == null || port.acceptor() == null) {
            mpa.abandon(); // no program listens any more
        } else if (!port.admit(this, to -> listener = to.onRequest(this, peer, QpType.RC))) {
            refuse(PrivateData.NONE);
        }
    }

    /// Reports the end as the last event. The queue pair ends too.
    private void tellEnd(News news) {
        LocalQueuePair local = queuePair;
        detach();
        if (local != null) {
            local.disconnected(news.why());
        }
        tell(news);
    }

    private void tell(News news) {
        JfrEvents.news(service.host().name(), this, qpn, news);
        Listener to = listener;
        if (to != null) {
            to.onNews(this, news);
        }
    }

    private static PeerParameters peer(MpaTerms said, PrivateData data) {
        return new PeerParameters(data, depth(said.ird()), depth(said.ord()), 7, 7, false, 0, 0);
    }

    /// Returns the depth of READs: the largest that this side has, where the peer names none.
    private static int depth(int said) {
        return said == MpaFrame.DEPTH_MAX ? DeviceLimits.READ_ATOMIC_MAX : said;
    }

    private TcpSocket begun() {
        TcpSocket on = socket;
        if (on == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return on;
    }

    private static StreamDriver stream(LocalQueuePair of) {
        return (StreamDriver) of.driver();
    }

    private LocalQueuePair requireQueuePair() {
        LocalQueuePair local = queuePair;
        if (local == null) {
            throw new InvalidStateException("the queue pair of the " + this + " is gone");
        }
        return local;
    }

    // ---- what the socket tells

    @Override
    public void onConnected(long nowNanos) {
        if (port == null && from == null) {
            localPort = begun().localAddress().getPort();
        }
        mpa.onConnected();
        carryOut();
    }

    @Override
    public int onBytes(StreamBuffer bytes, int from, int to, long nowNanos) {
        int done = mpa.onBytes(bytes.segment, from, to - from, begun().segmentBytes());
        carryOut();
        return done;
    }

    @Override
    public void onWritable(long nowNanos) {}

    @Override
    public void onEnd(long nowNanos) {
        onBroken(Cause.RESET, name(remote, remotePort) + " has closed the TCP connection", nowNanos);
    }

    @Override
    public void onBroken(Cause cause, String why, long nowNanos) {
        Loss loss = switch (cause) {
            case REFUSED -> Loss.REFUSED;
            case RESET -> Loss.RESET;
            case UNREACHABLE, LOCAL -> Loss.UNREACHABLE;
        };
        mpa.onLost(loss, why, nowNanos);
        carryOut();
    }

    /// Ends the connection, because the peer has missed its deadline.
    void onDeadline(long now) {
        mpa.onDeadline(now);
        carryOut();
    }

    /// Ends the connection, to make room for a peer that has connected later.
    void shed() {
        mpa.abandon();
        carryOut();
    }

    // ---- what the queue pair's stream tells

    @Override
    public void onPeerEnd(String first) {
        if (first.isEmpty()) {
            onStreamOver(EndedBy.PEER, remote + " has disconnected");
        } else {
            onStreamOver(EndedBy.FAILURE, first);
        }
    }

    @Override
    public void onStreamOver(EndedBy by, String why) {
        detach();
        mpa.onStreamOver(by, why);
        carryOut();
    }

    @Override
    public void onFinished(long nowNanos) {
        TcpSocket on = socket;
        if (mpa.state() != State.STREAMING || on == null || on.isClosed()) {
            return;
        }
        on.handler(this);
        mpa.onStreamFinished(nowNanos);
        carryOut();
    }

    /// Handles a queue pair that has gone to ERR by itself.
    private void onQueuePairFailed(String why) {
        detach();
        // Later, so that nothing is told while bytes are looked at.
        service.host().engine().later(() -> {
            mpa.onQueuePairFailed(why);
            carryOut();
        });
    }

    // ---- any thread

    @Override
    public Gid local() {
        return local;
    }

    @Override
    public Gid remote() {
        return remote;
    }

    @Override
    public int localPort() {
        return localPort;
    }

    @Override
    public int remotePort() {
        return remotePort;
    }

    @Override
    public AddressVector path() {
        throw new UnsupportedException("path", Capability.UD, service.host().name());
    }

    /// Returns an empty modification: the stream takes the queue pair to RTS when it begins.
    @Override
    public QpModification modification(QpState to, OwnSide own) {
        if (to != QpState.RTR && to != QpState.RTS) {
            throw new IllegalArgumentException("to: RTR or RTS, got " + to);
        }
        return new QpModification();
    }

    @Override
    public void accept(OwnSide own) {
        on("accept", () -> {
            MpaTerms _ = mpa.requireRequest();
            attach(own, "accept");
            boolean accepted = false;
            try {
                TcpSocket to = begun();
                mpa.accept(mpaEnd(service, own), to.segmentBytes());
                to.keepAlive(keepAliveSeconds(own));
                accepted = true;
            } finally {
                if (!accepted) {
                    detach();
                }
            }
            carryOut();
            return true;
        });
    }

    @Override
    public void ready() {
        on("ready", () -> {
            StreamTerms _ = mpa.requireReply();
            LocalQueuePair local = requireQueuePair();
            if (local.state() != QpState.INIT) {
                throw new InvalidStateException(
                        "the queue pair of the " + this + " is in " + local.state() + ", not in INIT");
            }
            mpa.ready();
            carryOut();
            return true;
        });
    }

    @Override
    public void reject(PrivateData privateData) {
        on("reject", () -> {
            refuse(privateData);
            carryOut();
            return true;
        });
    }

    private void refuse(PrivateData privateData) {
        mpa.reject(service.isCrcWanted(), privateData, service.nowNanos());
        JfrEvents.rejected(service.host().name(), this, qpn, "refused by this side");
    }

    @Override
    public void communicationEstablished() {}

    @Override
    public void disconnect(PrivateData privateData) {
        on("disconnect", () -> {
            mpa.disconnect();
            carryOut();
            return true;
        });
    }

    private <T> T on(String verb, Supplier<T> command) {
        try {
            return service.host().engine().call(command);
        } catch (IllegalStateException e) {
            throw new InvalidStateException(verb + ": " + e.getMessage());
        }
    }

    private static String name(Gid remote, int port) {
        return remote + " port " + port;
    }

    @Override
    public String toString() {
        return "connection to " + name(remote, remotePort);
    }
}
