package verbena.nic.kind.iwarp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.link.LinkException;
import verbena.nic.link.StreamHandler;
import verbena.nic.link.TcpPort;
import verbena.nic.link.TcpSocket;
import verbena.nic.observe.JfrEvents;
import verbena.transport.iwarp.MpaTerms;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamTerms;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.UnsupportedException;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.Acceptor;
import verbena.verbs.spi.ConnectionService.End;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.wire.cm.RejectReason;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.TerminateCode;

/// A connection made by MPA: a TCP connection, a request and a reply on it (RFC 5044, 7.1), and then the queue
/// pair's stream. When one of queue pair and stream ends, so does the other. Verbs come from any thread and are
/// carried out on the engine; what the socket tells comes from the engine.
final class StreamConnection implements Exchange, StreamHandler {
    /// Where it stands.
    private enum Stage {
        /// Active: TCP's turn.
        CONNECTING,
        /// Active: nobody listens yet; to be tried again.
        TOO_EARLY,
        /// Active: the request is out.
        ASKING,
        /// Active: the peer has said yes, and this side's queue pair is to follow.
        ANSWERED,
        /// Passive: no request yet.
        EXPECTING,
        /// Passive: somebody is to decide.
        REQUESTED,
        /// The stream is the queue pair's.
        RUNNING,
        /// This side has ended it, and waits for the peer to do so.
        ENDING,
        ENDED
    }

    /// So long this side tries again when nobody listens: see decision 0048.
    private static final long PATIENCE_NANOS = 100_000_000;

    /// IRD and ORD of somebody who does not say: what this side can, too.
    private static final int UNSAID = MpaFrame.DEPTH_MAX;

    private final StreamConnections service;
    private final Gid local;
    private final int localPort;
    private final Gid remote;
    private final int remotePort;

    // Engine-confined.
    private Stage stage;
    private @Nullable TcpSocket socket;
    private @Nullable Listener listener;
    /// Passive: who listens, until it has been told.
    private final StreamConnections.@Nullable Port port;
    private @Nullable LocalQueuePair queuePair;
    /// Its number, also when it has been let go; 0 while it is not known.
    private int qpn;
    /// What this side has asked for, or the peer has.
    private @Nullable MpaTerms request;
    private MemorySegment frame = MemorySegment.NULL;
    /// Active: what to serve, and to have outstanding.
    private int ird;
    private int ord;
    private @Nullable StreamTerms terms;
    /// Active, from no port of its own: until when to try again; in the past otherwise.
    private long patientUntil = Long.MIN_VALUE;
    private int keepAliveSeconds;
    /// The end has been told.
    private boolean told;
    /// When whoever waits for the peer gives up.
    long dueNanos;

    private StreamConnection(
            StreamConnections service,
            Stage stage,
            StreamConnections.@Nullable Port port,
            Gid local,
            int localPort,
            Gid remote,
            int remotePort) {
        this.service = service;
        this.stage = stage;
        this.port = port;
        this.local = local;
        this.localPort = localPort;
        this.remote = remote;
        this.remotePort = remotePort;
    }

    // ---- the beginning, on the engine

    /// Somebody has connected.
    static StreamConnection passive(StreamConnections service, StreamConnections.Port port, TcpSocket socket) {
        var passive = new StreamConnection(
                service, Stage.EXPECTING, port, port.local(), port.port(), socket.remote(), socket.remotePort());
        passive.socket = socket;
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
            End own,
            Listener listener) {
        int localPort = from == null ? 0 : from.number();
        var active = new StreamConnection(service, Stage.CONNECTING, null, local, localPort, remote, remotePort);
        ConnectionParameters parameters = own.parameters();
        active.listener = listener;
        active.ird = parameters.responderResources();
        active.ord = parameters.initiatorDepth();
        var offer = MpaTerms.enhanced(service.isCrcWanted(), active.ird, active.ord);
        active.request = offer;
        active.frame = active.frame(offer, false, false, "connect", parameters.privateData());
        active.attach(own, "connect");
        active.keepAliveSeconds = keepAliveSeconds(own);
        if (from == null) {
            active.patientUntil = service.nowNanos() + PATIENCE_NANOS;
        }
        try {
            active.open(from);
        } catch (LinkException e) {
            active.detach();
            throw e;
        }
        return active;
    }

    private void open(@Nullable TcpPort from) {
        TcpSocket made = service.link().connect(from, local, remote, remotePort, this);
        made.keepAlive(keepAliveSeconds);
        socket = made;
        stage = Stage.CONNECTING;
        service.await(this, StreamConnections.Patience.ASK, service.nowNanos());
    }

    private void openAgain() {
        try {
            open(null);
        } catch (LinkException e) {
            tellEnd(new News.Unreachable(String.valueOf(e.getMessage())));
        }
    }

    private MemorySegment frame(MpaTerms say, boolean isReply, boolean reject, String to, PrivateData privateData) {
        if (privateData.length() > say.privateDataMax()) {
            throw new IllegalArgumentException("private data to " + to + " with: at most " + say.privateDataMax()
                    + " bytes, got " + privateData.length());
        }
        MemorySegment whole = MemorySegment.ofArray(new byte[MpaFrame.HEADER_BYTES + MpaFrame.PRIVATE_DATA_MAX]);
        return whole.asSlice(0, say.write(whole, 0, isReply, reject, MemorySegment.ofArray(privateData.bytes())));
    }

    private static int keepAliveSeconds(End own) {
        return (int) Math.min(
                Integer.MAX_VALUE, Math.ceilDiv(own.parameters().keepAlive().toMillis(), 1_000L));
    }

    private void attach(End own, String verb) {
        LocalQueuePair local = own.queuePair().orElse(null) instanceof LocalQueuePair made
                ? made
                : service.host().queuePairs().apply(own.qpn());
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
    }

    private void detach() {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.failureListener(null);
            local.accessErrorListener(null);
            queuePair = null;
        }
    }

    // ---- what the socket tells

    @Override
    public void onConnected(long nowNanos) {
        stage = Stage.ASKING;
        begun().write(frame);
    }

    @Override
    public int onBytes(StreamBuffer bytes, int from, int to, long nowNanos) {
        return switch (stage) {
            case ASKING -> onReply(bytes, from, to);
            case EXPECTING -> onRequest(bytes, from, to);
            // It belongs to the queue pair, which is on its way.
            case ANSWERED -> 0;
            case REQUESTED -> {
                lose(RejectReason.UNSUPPORTED_REQUEST, remoteName() + " sends before it is answered");
                yield to - from;
            }
            case CONNECTING, TOO_EARLY, RUNNING, ENDING, ENDED -> to - from;
        };
    }

    private int onReply(StreamBuffer bytes, int from, int to) {
        int length = MpaFrame.length(bytes.segment, from, to - from, true);
        if (length == 0) {
            return 0;
        }
        if (length < 0) {
            lose(RejectReason.UNSUPPORTED_REQUEST, remoteName() + " does not speak iWARP: its answer is no MPA reply");
            return to - from;
        }
        var said = MpaTerms.read(bytes.segment, from);
        PrivateData data = privateData(bytes.segment, from);
        MpaTerms asked = request;
        if (MpaTerms.isReject(bytes.segment, from) || asked == null) {
            close(true);
            tellEnd(new News.Rejected(
                    RejectReason.CONSUMER_REJECT.code(), "the application at " + remoteName() + " refuses", data));
            return length;
        }
        MpaTerms.Outcome outcome = MpaTerms.ofInitiator(asked, said, ird, ord, begun().segmentBytes());
        StreamTerms agreed = outcome.terms();
        if (agreed == null) {
            TerminateCode code = outcome.code();
            lose(
                    RejectReason.INSUFFICIENT_RESPONDER_RESOURCES,
                    remoteName() + " answers with what does not fit the request (" + code + ")");
            return to - from;
        }
        terms = agreed;
        stage = Stage.ANSWERED;
        service.unwait(this);
        tell(new News.Accepted(peer(said, data)));
        return length;
    }

    private int onRequest(StreamBuffer bytes, int from, int to) {
        int length = MpaFrame.length(bytes.segment, from, to - from, false);
        if (length == 0) {
            return 0;
        }
        Acceptor acceptor = port == null ? null : port.acceptor();
        if (length < 0 || length < to - from || acceptor == null) {
            close(true); // nobody who speaks iWARP: an initiator sends nothing before it is answered (RFC 5044, 7.1.2)
            return to - from;
        }
        var asked = MpaTerms.read(bytes.segment, from);
        request = asked;
        PrivateData data = privateData(bytes.segment, from);
        service.unwait(this);
        if (port == null || !port.admit(this)) {
            answerNo(PrivateData.NONE);
            return length;
        }
        stage = Stage.REQUESTED;
        listener = acceptor.onRequest(this, peer(asked, data), verbena.verbs.QpType.RC);
        return length;
    }

    private PeerParameters peer(MpaTerms said, PrivateData data) {
        return new PeerParameters(
                data,
                said.ird() == UNSAID ? DeviceLimits.READ_ATOMIC_MAX : said.ird(),
                said.ord() == UNSAID ? DeviceLimits.READ_ATOMIC_MAX : said.ord(),
                0,
                0);
    }

    private static PrivateData privateData(MemorySegment segment, long at) {
        return PrivateData.of(
                segment.asSlice(at + MpaFrame.privateDataOffset(segment, at), MpaFrame.privateDataLength(segment, at))
                        .toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void onWritable(long nowNanos) {}

    @Override
    public void onEnd(long nowNanos) {
        onBroken(Cause.RESET, remoteName() + " has closed the TCP connection", nowNanos);
    }

    @Override
    public void onBroken(Cause cause, String why, long nowNanos) {
        if (stage == Stage.CONNECTING && cause == Cause.REFUSED && nowNanos < patientUntil) {
            stage = Stage.TOO_EARLY;
            service.await(this, StreamConnections.Patience.AGAIN, nowNanos);
            return;
        }
        switch (stage) {
            case CONNECTING, ASKING -> {
                close(false);
                tellEnd(
                        switch (cause) {
                            case REFUSED ->
                                new News.Rejected(RejectReason.INVALID_SERVICE_ID.code(), why, PrivateData.NONE);
                            case RESET ->
                                new News.Rejected(
                                        RejectReason.NO_RESOURCES.code(),
                                        why + " instead of answering",
                                        PrivateData.NONE);
                            case UNREACHABLE, LOCAL -> new News.Unreachable(why);
                        });
            }
            case ANSWERED, REQUESTED -> {
                close(false);
                tellEnd(new News.Disconnected(EndedBy.PEER, why));
            }
            case EXPECTING -> close(false);
            case ENDING -> {
                close(false);
                tellEnd(new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side"));
            }
            case TOO_EARLY, RUNNING, ENDED -> {}
        }
    }

    /// The peer is not what it should be.
    private void lose(RejectReason reason, String why) {
        boolean isActive = stage == Stage.ASKING;
        close(true);
        tellEnd(
                isActive
                        ? new News.Rejected(reason.code(), why, PrivateData.NONE)
                        : new News.Disconnected(EndedBy.FAILURE, why));
    }

    /// The peer has not done what it has to for too long.
    void onLate() {
        Stage was = stage;
        close(true);
        switch (was) {
            case CONNECTING, ASKING ->
                tellEnd(new News.Unreachable(remoteName() + " does not answer"
                        + (was == Stage.ASKING ? ": there is TCP, but no MPA reply; does it speak iWARP?" : "")));
            case TOO_EARLY -> openAgain();
            case ENDING -> tellEnd(new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side"));
            default -> {}
        }
    }

    /// There is no room for one more who has not asked.
    void shed() {
        close(true);
    }

    // ---- what the queue pair's stream tells

    /// The peer has ended the stream in order.
    ///
    /// @param first why the queue pair was in ERR before; empty when it was not
    void onPeerEnd(String first) {
        detach();
        close(false);
        tellEnd(
                first.isEmpty()
                        ? new News.Disconnected(EndedBy.PEER, remote + " has disconnected")
                        : new News.Disconnected(EndedBy.FAILURE, first));
    }

    /// It is broken.
    void onStreamBroken(String why) {
        detach();
        close(false);
        tellEnd(new News.Disconnected(EndedBy.FAILURE, why));
    }

    /// This side has said its last word; what still comes is of no interest.
    void onFinished(long nowNanos) {
        TcpSocket on = socket;
        if (stage != Stage.RUNNING || on == null || on.isClosed()) {
            return;
        }
        stage = Stage.ENDING;
        on.handler(this);
        service.await(this, StreamConnections.Patience.END, nowNanos);
    }

    /// The queue pair is in ERR by itself.
    private void onQueuePairFailed(String why) {
        detach();
        // Later, so that nothing is told while bytes are looked at.
        service.host().engine().later(() -> tellEnd(new News.Disconnected(EndedBy.FAILURE, why)));
    }

    // ---- the end

    private void close(boolean reset) {
        Stage was = stage;
        stage = Stage.ENDED;
        service.unwait(this);
        if (port != null && was == Stage.REQUESTED) {
            port.decided(this);
        }
        TcpSocket on = socket;
        if (on != null) {
            on.close(reset);
        }
    }

    /// The last word, once. The queue pair ends too.
    private void tellEnd(News news) {
        if (told) {
            return;
        }
        told = true;
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

    private TcpSocket begun() {
        TcpSocket on = socket;
        if (on == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return on;
    }

    private String remoteName() {
        return remote + " port " + remotePort;
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

    /// Nothing: the stream takes the queue pair to RTS when it begins.
    @Override
    public QpModification modification(QpState to, End own) {
        if (to != QpState.RTR && to != QpState.RTS) {
            throw new IllegalArgumentException("to: RTR or RTS, got " + to);
        }
        return new QpModification();
    }

    @Override
    public void accept(End own) {
        on("accept", () -> {
            MpaTerms asked = request;
            if (stage != Stage.REQUESTED || asked == null) {
                throw new InvalidStateException("accept: the request of " + remoteName() + " is not there any more");
            }
            ConnectionParameters parameters = own.parameters();
            ird = parameters.responderResources();
            ord = parameters.initiatorDepth();
            MpaTerms answer = MpaTerms.enhanced(service.isCrcWanted(), ird, ord).reply(asked);
            MemorySegment yes = frame(answer, true, false, "accept", parameters.privateData());
            attach(own, "accept");
            if (port != null) {
                port.decided(this);
            }
            TcpSocket to = begun();
            to.keepAlive(keepAliveSeconds(own));
            to.write(yes);
            run(MpaTerms.ofResponder(asked, answer, ird, ord, to.segmentBytes()));
            tell(new News.Established());
            return true;
        });
    }

    @Override
    public void ready() {
        on("ready", () -> {
            StreamTerms agreed = terms;
            if (stage != Stage.ANSWERED || agreed == null) {
                throw new InvalidStateException("ready: the connection to " + remoteName() + " is not there any more");
            }
            run(agreed);
            return true;
        });
    }

    private void run(StreamTerms agreed) {
        LocalQueuePair local = queuePair;
        StreamDriver stream = local == null ? null : (StreamDriver) local.driver();
        if (local == null || stream == null || local.state() != QpState.INIT) {
            throw new InvalidStateException("the queue pair of the connection to " + remoteName()
                    + (local == null ? " is gone" : " is in " + local.state() + ", not in INIT"));
        }
        stage = Stage.RUNNING;
        stream.begin(begun(), this, agreed, service.nowNanos());
    }

    @Override
    public void reject(PrivateData privateData) {
        on("reject", () -> {
            if (stage != Stage.REQUESTED) {
                throw new InvalidStateException("reject: the request of " + remoteName() + " is not there any more");
            }
            answerNo(privateData);
            return true;
        });
    }

    private void answerNo(PrivateData privateData) {
        MpaTerms asked = request;
        TcpSocket to = begun();
        if (asked != null) {
            MpaTerms answer = MpaTerms.enhanced(service.isCrcWanted(), 0, 0).reply(asked);
            to.write(frame(answer, true, true, "reject", privateData));
        }
        if (port != null && stage == Stage.REQUESTED) {
            port.decided(this);
        }
        told = true; // whoever says no needs not hear that it is over
        JfrEvents.rejected(service.host().name(), this, qpn, "refused by this side");
        stage = Stage.RUNNING;
        to.end();
        onFinished(service.nowNanos());
    }

    @Override
    public void communicationEstablished() {}

    @Override
    public void disconnect(PrivateData privateData) {
        on("disconnect", () -> {
            LocalQueuePair local = queuePair;
            StreamDriver stream = local == null ? null : (StreamDriver) local.driver();
            switch (stage) {
                case RUNNING -> {
                    if (stream != null) {
                        stream.finish(service.nowNanos());
                    }
                }
                case ENDING, ENDED -> {}
                case CONNECTING, TOO_EARLY, ASKING, ANSWERED, EXPECTING, REQUESTED -> {
                    close(true);
                    tellEnd(new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side"));
                }
            }
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

    @Override
    public String toString() {
        return "connection to " + remoteName();
    }
}
