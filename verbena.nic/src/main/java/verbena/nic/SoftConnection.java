package verbena.nic;

import java.time.Duration;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmEnd;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmProof;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService.End;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;

/// A connection of the communication manager, and the queue pair that it is about. When one of them ends, so does
/// the other. Verbs come from any thread and are carried out on the engine; events come from the engine.
final class SoftConnection implements Exchange, CmEvent.Listener {
    /// Transport types of a REQ.
    static final int RC = 0;

    static final int UC = 1;

    /// Bytes of private data of a REP, and of a REJ.
    private static final int ACCEPT_BYTES = 196;

    private static final int REJECT_BYTES = 148;
    /// Code of how long a peer may take to answer: 0.27 s; an application that takes longer is announced by MRA.
    static final int RESPONSE_TIMEOUT = 16;
    /// How often a message is sent again, the most there is.
    static final int RETRIES = 15;
    private static final int HOP_LIMIT = 64;
    /// `IBV_RATE_10_GBPS`.
    private static final int RATE = 3;

    private static final int MASK_24 = 0xFF_FFFF;
    /// A challenge comes twice when a proof was late, or its answer got lost.
    private static final int CHALLENGES_MAX = 6;

    private static final byte[] NOTHING = {};

    private final SoftConnections service;
    private final CmRoute route;
    private final int localPort;
    private final int remotePort;
    /// First PSN that the peer is to send.
    private final int startingPsn;

    // Confined to the first engine, which has the communication manager; the queue pair may live on another.
    private @Nullable Listener listener;
    private @Nullable CmConnection connection;
    private @Nullable LocalQueuePair queuePair;
    /// Its number, also when it has been let go; 0 while it is not known.
    private int qpn;
    private @Nullable Rep reply;
    private Secret secret = Secret.NONE;
    /// What the secret is proven for; empty while it is not known, or there is no secret.
    private byte[] challenge = NOTHING;
    /// Active: what the peer's challenge is for.
    private byte[] nonce = NOTHING;
    /// Active: how often the peer has challenged.
    private int challenges;
    /// Active: asks with an MTU.
    private @Nullable IntFunction<@Nullable CmConnection> ask;
    /// Why the queue pair is in ERR by itself; null while it is not. Written by the queue pair's engine.
    private volatile @Nullable String failure;

    private boolean ended;
    private Duration keepAlive = Duration.ZERO;

    private SoftConnection(SoftConnections service, CmRoute route, int localPort, int remotePort) {
        this.service = service;
        this.route = route;
        this.localPort = localPort;
        this.remotePort = remotePort;
        this.startingPsn = service.host().random().nextInt() & MASK_24;
    }

    static SoftConnection passive(SoftConnections service, CmConnection connection, int localPort, int remotePort) {
        var passive = new SoftConnection(service, connection.route(), localPort, remotePort);
        passive.connection = connection;
        return passive;
    }

    static SoftConnection active(
            SoftConnections service, CmRoute route, int localPort, int remotePort, Listener listener) {
        var active = new SoftConnection(service, route, localPort, remotePort);
        active.listener = listener;
        return active;
    }

    // ---- the engine's owner

    void listener(Listener to) {
        listener = to;
    }

    void begin(CommunicationManager manager, long serviceId, verbena.wire.cm.PrivateData privateData, End own) {
        ConnectionParameters parameters = own.parameters();
        secret = parameters.secret();
        nonce = freshNonce();
        CmEnd end = end(own, parameters.responderResources(), parameters.initiatorDepth(), stamp(own), privateData);
        attach(own);
        ask = mtu -> {
            var call = new CmCall(
                    serviceId,
                    own.type() == QpType.UC ? UC : RC,
                    mtu,
                    parameters.ackTimeout().code(),
                    parameters.retryCount(),
                    parameters.trafficClass(),
                    HOP_LIMIT,
                    RATE,
                    RESPONSE_TIMEOUT,
                    RETRIES);
            return manager.connect(route, call, end, this::proven, this, now());
        };
        CmConnection begun = ask.apply(service.host().mtu().code());
        if (begun == null) {
            detach();
            throw SoftConnections.tooMany("connect");
        }
        connection = begun;
    }

    /// The peer's MTU is smaller than ours, and it says which it has: asks again with that. False when it says
    /// nothing of use.
    private boolean askedWithSmallerMtu(Rej rej) {
        IntFunction<@Nullable CmConnection> again = ask;
        byte[] info = rej.info().bytes();
        if (RejectReason.of(rej.reason()) != RejectReason.INVALID_PATH_MTU || again == null || info.length == 0) {
            return false;
        }
        challenge = NOTHING;
        nonce = freshNonce();
        boolean isSmaller =
                info[0] >= Mtu.MTU_256.code() && info[0] < begun().request().pathMtu();
        CmConnection begun = isSmaller ? again.apply(info[0]) : null;
        if (begun != null) {
            connection = begun;
        }
        return begun != null;
    }

    // ---- the secret

    /// Passive: what the peer has proven, and for what.
    void proven(Secret with, byte[] by) {
        secret = with;
        challenge = by;
    }

    private byte[] freshNonce() {
        if (secret.isNone()) {
            return NOTHING;
        }
        byte[] fresh = new byte[CmProof.NONCE_BYTES];
        service.host().random().nextBytes(fresh);
        return fresh;
    }

    /// Active: a REQ with its proof, when there is something to prove.
    private Req proven(Req req) {
        return secret.isNone()
                ? req
                : CmProof.prove(req, IpCmHeader.BYTES, secret.bytes(), route.local(), route.remote(), nonce, challenge);
    }

    /// Passive: a REP with its proof.
    private Rep proven(Rep rep) {
        return secret.isNone()
                ? rep
                : CmProof.prove(rep, secret.bytes(), route.remote(), route.local(), challenge, begun().request());
    }

    /// Active: whether the peer's REP proves the secret, or there is none on either side.
    private boolean isProven(Rep rep) {
        boolean hasSecret = CmExtension.of(rep.localQkey()).hasSecret();
        return secret.isNone()
                ? !hasSecret
                : hasSecret
                        && CmProof.isProven(
                                rep, secret.bytes(), route.local(), route.remote(), challenge, begun().request());
    }

    /// Active: the peer wants the secret proven, which it was not: asks again with the proof. False when this is
    /// no challenge, or one too many.
    private boolean answeredChallenge(Rej rej) {
        IntFunction<@Nullable CmConnection> again = ask;
        if (CmRefusal.of(rej) != CmRefusal.CHALLENGE
                || secret.isNone()
                || again == null
                || ++challenges > CHALLENGES_MAX) {
            return false;
        }
        if (challenge.length == 0) {
            challenge = CmRefusal.challenge(rej);
        } else { // the proof was late, or has been taken: from the beginning
            challenge = NOTHING;
            nonce = freshNonce();
        }
        CmConnection begun = again.apply(begun().request().pathMtu());
        if (begun != null) {
            connection = begun;
        }
        return begun != null;
    }

    /// Active: the peer has accepted and does not know the secret, or somebody else has.
    private void refuseUnproven() {
        begun().reject(
                        RejectReason.VENDOR_OPTION_NOT_SUPPORTED,
                        CmRefusal.SECRET_WRONG.info(),
                        SoftConnections.NOTHING,
                        now());
        service.unproven(route, CmRefusal.SECRET_WRONG);
        end(new News.Rejected(
                RejectReason.VENDOR_OPTION_NOT_SUPPORTED.code(),
                route.remote() + " port " + remotePort + " has accepted without proving the secret",
                PrivateData.NONE));
    }

    private CmEnd end(
            End own, int responderResources, int initiatorDepth, int stamp, verbena.wire.cm.PrivateData said) {
        return new CmEnd(
                own.qpn(),
                startingPsn,
                responderResources,
                initiatorDepth,
                own.parameters().rnrRetryCount(),
                own.sharedReceiveQueue(),
                stamp,
                new CmExtension(sourcePort(own), !secret.isNone()),
                said);
    }

    /// Where the packets of this side's queue pair come from, which the peer may hold us to; 0 when we cannot say.
    private static int sourcePort(End own) {
        return own.queuePair().orElse(null) instanceof LocalQueuePair local
                ? local.engine().link().sourcePort()
                : 0;
    }

    /// Holds the peer to the port that it has promised to send from (decision 0050).
    private void expectSourcePort(CmExtension promised) {
        LocalQueuePair local = queuePair;
        if (local != null && promised.sourcePort() != 0) {
            local.engine().execute(() -> frames(local).peerSourcePort(promised.sourcePort()));
        }
    }

    /// What the peer's packets may carry in place of the ICRC; 0 for nothing. Said on loopback only.
    private int stamp(End own) {
        return own.queuePair().orElse(null) instanceof LocalQueuePair local
                        && route.remote().address().isLoopbackAddress()
                ? local.engine().link().stamp()
                : 0;
    }

    /// Both sides do without the ICRC, if both say so (decision 0035).
    private void agreeOnStamps(int own, int peers) {
        LocalQueuePair local = queuePair;
        if (local != null && own != 0 && peers != 0) {
            local.engine().execute(() -> frames(local).stamp(peers));
        }
    }

    /// How all queue pairs of this device are driven.
    private static FrameDriver frames(LocalQueuePair queuePair) {
        return (FrameDriver) queuePair.driver();
    }

    private void attach(End own) {
        qpn = own.qpn();
        if (own.queuePair().orElse(null) instanceof LocalQueuePair local) {
            local.engine().execute(() -> {
                local.failureListener(this::onQueuePairFailed);
                local.firstPacketListener(this::onFirstPacket);
                local.accessErrorListener(this::onAccessError);
            });
            keepAlive = own.parameters().keepAlive();
            queuePair = local;
        }
    }

    /// From here on both sides know the connection. A peer that does not yet cannot answer, and lives all the same.
    private void askWhetherItLives() {
        LocalQueuePair local = queuePair;
        Duration silence = keepAlive;
        if (local != null) {
            local.engine().execute(() -> local.keepAlive(silence));
        }
    }

    private void detach() {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> {
                local.failureListener(null);
                local.firstPacketListener(null);
                local.accessErrorListener(null);
            });
            queuePair = null;
        }
    }

    /// The peer uses the queue pair: if it has asked for the connection, its RTU is late or lost; if we have, and
    /// it answers a request, it needs ours no more. (That it sends one is no proof: its requests need not wait for
    /// RTU.)
    private void onFirstPacket(boolean isAnswer) {
        // Later, so that nothing is told while the packet is looked at.
        service.host().engine().later(() -> {
            if (!ended && (isAnswer || !begun().isActive())) {
                service.cm().call(manager -> {
                    begun().communicationEstablished();
                    return true;
                });
            }
        });
    }

    /// The peer has asked for memory that it may not have, by a packet that only somebody makes who knows the
    /// connection.
    private void onAccessError() {
        service.host().engine().later(() -> service.suspect(route.remote()));
    }

    /// The queue pair is in ERR by itself: the peer is gone, or has been refused something.
    private void onQueuePairFailed(String why) {
        failure = why;
        // Later, so that what the queue pair still has to say, a NAK, arrives before the end of the connection.
        service.host().engine().later(() -> {
            if (!ended) {
                end(new News.Disconnected(EndedBy.FAILURE, why));
                service.cm().call(manager -> {
                    begun().disconnect(SoftConnections.NOTHING, now());
                    return true;
                });
            }
        });
    }

    @Override
    public void onEvent(CmConnection unused, CmEvent event) {
        switch (event) {
            case CmEvent.Requested requested -> throw new AssertionError("begins a connection only: " + requested);
            case CmEvent.Accepted(Rep rep) -> {
                if (!isProven(rep)) {
                    refuseUnproven();
                    return;
                }
                reply = rep;
                agreeOnStamps(begun().request().localEecn(), rep.localEecn());
                expectSourcePort(CmExtension.of(rep.localQkey()));
                tell(new News.Accepted(new PeerParameters(
                        PrivateData.of(rep.privateData()
                                .from(secret.isNone() ? 0 : CmProof.REP_BYTES)
                                .bytes()),
                        rep.responderResources(),
                        rep.initiatorDepth(),
                        rep.localQpn(),
                        0)));
            }
            case CmEvent.Established established -> {
                askWhetherItLives();
                tell(new News.Established());
            }
            case CmEvent.Rejected(Rej rej) -> {
                if (!askedWithSmallerMtu(rej) && !answeredChallenge(rej)) {
                    end(new News.Rejected(
                            rej.reason(),
                            why(rej),
                            PrivateData.of(rej.privateData().bytes())));
                }
            }
            case CmEvent.Unreachable(String why) -> end(new News.Unreachable(why));
            case CmEvent.Disconnected(boolean byPeer, var said) -> end(disconnected(byPeer));
            case CmEvent.TimewaitExit exit -> tell(new News.TimewaitExit());
        }
    }

    /// Of both sides' words the first counts: a peer that disconnects because our request has failed comes second.
    private News.Disconnected disconnected(boolean byPeer) {
        String first = failure;
        if (first != null) {
            return new News.Disconnected(EndedBy.FAILURE, first);
        }
        return byPeer
                ? new News.Disconnected(EndedBy.PEER, route.remote() + " has disconnected")
                : new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side");
    }

    /// In words.
    private String why(Rej rej) {
        String to = route.remote() + " port " + remotePort;
        CmRefusal refusal = CmRefusal.of(rej);
        if (refusal != null) {
            return to + " " + refusal.text();
        }
        int code = rej.reason();
        RejectReason reason = RejectReason.of(code);
        return switch (reason) {
            case null -> to + " refuses for a reason that is not in the standard (" + code + ")";
            case INVALID_SERVICE_ID -> "nobody listens at " + to;
            case CONSUMER_REJECT -> "the application at " + to + " refuses";
            case NO_RESOURCES -> to + " has no room for more requests now";
            case STALE_CONNECTION -> to + " still has a connection with this queue pair's number";
            case INVALID_PATH_MTU ->
                to + " has a smaller MTU than " + service.host().mtu();
            case TIMEOUT -> to + " has given up waiting";
            default ->
                to + " refuses: " + reason.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " (" + code + ")";
        };
    }

    private void tell(News news) {
        if (!(news instanceof News.Established && begun().isActive())) { // that was told when the peer agreed
            Flight.news(service.host().name(), this, qpn, news);
        }
        Listener to = listener;
        if (to != null) {
            to.onNews(this, news);
        }
    }

    /// The last word, but for the end of timewait.
    private void end(News news) {
        if (ended) {
            return;
        }
        ended = true;
        LocalQueuePair local = queuePair;
        detach();
        if (local == null) {
            tell(news);
            return;
        }
        local.engine().execute(() -> {
            local.disconnected(news.why()); // before anybody is told: who is, finds the queue pair in ERR
            service.host().engine().execute(() -> tell(news));
        });
    }

    private CmConnection begun() {
        CmConnection begun = connection;
        if (begun == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return begun;
    }

    private long now() {
        return service.host().engine().nowNanos();
    }

    // ---- any thread

    @Override
    public Gid local() {
        return route.local();
    }

    @Override
    public Gid remote() {
        return route.remote();
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
        return service.path(route, 0);
    }

    /// Of a passive side.
    QpType type() {
        return begun().request().transportType() == UC ? QpType.UC : QpType.RC;
    }

    @Override
    public QpModification modification(QpState to, End own) {
        return on("modification", () -> {
            Req req = begun().request();
            Rep rep = reply;
            boolean isActive = begun().isActive();
            if (isActive && rep == null) {
                throw new InvalidStateException("modification: " + this + " has no answer from the peer yet");
            }
            if (!isActive) {
                toAcceptWith(own); // a mistake in it is to be known before the queue pair has moved
            }
            var step = isActive && rep != null
                    ? step(
                            to,
                            own,
                            req,
                            rep.localQpn(),
                            rep.startingPsn(),
                            rep.rnrRetryCount(),
                            rep.responderResources())
                    : step(
                            to,
                            own,
                            req,
                            req.localQpn(),
                            req.startingPsn(),
                            req.rnrRetryCount(),
                            req.responderResources());
            return step.modification();
        });
    }

    /// Of what the peer says: its queue pair, the first PSN that it expects, how often to retry after its RNR
    /// NAKs, and how many READs it serves.
    private Transition step(QpState to, End own, Req req, int qpn, int psn, int rnrRetry, int reads) {
        ConnectionParameters parameters = own.parameters();
        boolean isUc = own.type() == QpType.UC;
        AddressVector path = service.path(route, req.primary().trafficClass());
        Mtu mtu = Mtu.ofCode(req.pathMtu());
        return switch (to) {
            case RTR ->
                isUc
                        ? new Transition.ToRtrUc(path, mtu, qpn, startingPsn)
                        : new Transition.ToRtr(
                                path, mtu, qpn, startingPsn, parameters.responderResources(), parameters.minRnrTimer());
            case RTS ->
                isUc
                        ? new Transition.ToRtsUnreliable(psn)
                        : new Transition.ToRts(
                                psn,
                                new AckTimeout(req.primary().ackTimeout()),
                                req.retryCount(),
                                rnrRetry,
                                Math.min(parameters.initiatorDepth(), reads));
            case RESET, INIT, SQD, SQE, ERR -> throw new IllegalArgumentException("to: RTR or RTS, got " + to);
        };
    }

    private verbena.wire.cm.PrivateData toAcceptWith(End own) {
        int proofBytes = secret.isNone() ? 0 : CmProof.REP_BYTES;
        var said = SoftConnections.fits(
                "private data to accept with", own.parameters().privateData(), ACCEPT_BYTES - proofBytes);
        byte[] behindProof = new byte[proofBytes + said.length()];
        System.arraycopy(said.bytes(), 0, behindProof, proofBytes, said.length());
        return SoftConnections.data(behindProof);
    }

    @Override
    public void accept(End own) {
        ConnectionParameters parameters = own.parameters();
        var said = toAcceptWith(own);
        on("accept", () -> {
            Req req = begun().request();
            int stamp = req.localEecn() == 0 ? 0 : stamp(own);
            begun().accept(
                            end(
                                    own,
                                    Math.min(parameters.responderResources(), req.initiatorDepth()),
                                    Math.min(parameters.initiatorDepth(), req.responderResources()),
                                    stamp,
                                    said),
                            this::proven,
                            now());
            attach(own);
            agreeOnStamps(stamp, req.localEecn());
            expectSourcePort(CmExtension.of(req.localQkey()));
            return true;
        });
    }

    @Override
    public void reject(PrivateData privateData) {
        var said = SoftConnections.fits("private data to reject with", privateData, REJECT_BYTES);
        on("reject", () -> {
            begun().reject(RejectReason.CONSUMER_REJECT, SoftConnections.NOTHING, said, now());
            ended = true;
            detach();
            Flight.rejected(service.host().name(), this, qpn, "refused by this side");
            return true;
        });
    }

    @Override
    public void ready() {
        on("ready", () -> {
            begun().ready(SoftConnections.NOTHING, now());
            return true;
        });
    }

    @Override
    public void communicationEstablished() {
        on("communicationEstablished", () -> {
            begun().communicationEstablished();
            return true;
        });
    }

    @Override
    public void disconnect(PrivateData privateData) {
        on("disconnect", () -> {
            begun().disconnect(SoftConnections.data(privateData.bytes()), now());
            return true;
        });
    }

    private <T> T on(String verb, Supplier<T> command) {
        try {
            return service.cm().call(manager -> command.get());
        } catch (IllegalStateException e) {
            throw new InvalidStateException(verb + ": " + e.getMessage());
        }
    }

    @Override
    public String toString() {
        return "connection to " + route.remote() + " port " + remotePort;
    }
}
