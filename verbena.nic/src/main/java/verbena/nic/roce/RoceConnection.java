package verbena.nic.roce;

import java.util.Objects;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmEnd;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.nic.observe.JfrEvents;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;

/// A connection of the communication manager, and the queue pair that it is about. When one of them ends, so does
/// the other. Verbs come from any thread and are carried out on the engine; events come from the engine.
final class RoceConnection implements Exchange, CmEvent.Listener, ConnectedQueuePair.Listener {
    /// Transport types of a REQ.
    static final int RC = 0;

    static final int UC = 1;

    /// The bytes of private data of a REP, and of a REJ.
    private static final int ACCEPT_BYTES = 196;

    private static final int REJECT_BYTES = 148;
    /// Code of how long a peer may take to answer: 0.27 s; an application that takes longer is announced by MRA.
    static final int RESPONSE_TIMEOUT = 16;
    /// The number of times that a message is sent again: the largest that the field can hold.
    static final int RETRIES = 15;

    private final ConnectionHost service;
    private final CmRoute route;
    private final int localPort;
    private final int remotePort;
    private final SecretProof proof;
    private final QueuePairSteps steps;
    private final ConnectedQueuePair queuePair = new ConnectedQueuePair();
    private final AlternatePaths paths;

    // Confined to the first engine, which has the communication manager; the queue pair may live on another.
    private @Nullable Listener listener;
    private @Nullable CmConnection connection;
    private @Nullable Rep reply;
    /// Active: asks with an MTU.
    private @Nullable IntFunction<@Nullable CmConnection> ask;
    /// The reason for which the queue pair is in ERR by itself; null while it is not. Written by the queue pair's
    /// engine.
    private volatile @Nullable String failure;

    /// Whether the active side has sent no request yet, because the path to the peer is not known.
    private boolean isWaitingForItsWay = true;

    private boolean isBeginning;
    private boolean ended;

    private RoceConnection(ConnectionHost service, CmRoute route, int localPort, int remotePort) {
        this.service = service;
        this.route = route;
        this.localPort = localPort;
        this.remotePort = remotePort;
        this.steps = new QueuePairSteps(service, route);
        this.paths = new AlternatePaths(service, steps, queuePair);
        this.proof = new SecretProof(route, service.host().random());
    }

    static RoceConnection passive(ConnectionHost service, CmConnection connection, int localPort, int remotePort) {
        var passive = new RoceConnection(service, connection.route(), localPort, remotePort);
        passive.connection = connection;
        return passive;
    }

    static RoceConnection active(
            ConnectionHost service, CmRoute route, int localPort, int remotePort, Listener listener) {
        var active = new RoceConnection(service, route, localPort, remotePort);
        active.listener = listener;
        return active;
    }

    // ---- the engine's owner

    void listener(Listener to) {
        listener = to;
    }

    void begin(CommunicationManager manager, long serviceId, verbena.wire.cm.PrivateData privateData, OwnSide own) {
        ConnectionParameters parameters = own.parameters();
        proof.begin(parameters.secret());
        CmEnd end = end(own, parameters.responderResources(), parameters.initiatorDepth(), privateData);
        queuePair.attach(own, this);
        ask = mtu -> {
            CmCall call = service.call(serviceId, route, own, mtu);
            return manager.connect(route, call, end, proof::prove, this, now());
        };
        isBeginning = true;
        service.ways().find(route.local(), route.remote(), this::onWay);
        isBeginning = false;
        if (!isWaitingForItsWay && connection == null && !ended) {
            queuePair.detach();
            throw ConnectionHost.tooMany("connect");
        }
    }

    /// Goes on when the path to the peer is known, or there is none.
    private void onWay(boolean isThere) {
        isWaitingForItsWay = false;
        if (ended) {
            return;
        }
        connection =
                isThere ? Objects.requireNonNull(ask).apply(service.host().mtu().code()) : null;
        if (connection == null && !(isThere && isBeginning)) {
            end(new News.Unreachable(
                    isThere
                            ? "there are too many connections"
                            : "the subnet administration knows no way to " + route.remote()));
        }
        service.cm().look();
    }

    /// Asks again with the peer's MTU, which is smaller than ours and in the REJ. Returns false when the REJ has no
    /// useful MTU.
    private boolean askedWithSmallerMtu(Rej rej) {
        IntFunction<@Nullable CmConnection> again = ask;
        byte[] info = rej.info().bytes();
        if (RejectReason.of(rej.reason()) != RejectReason.INVALID_PATH_MTU || again == null || info.length == 0) {
            return false;
        }
        proof.restart();
        boolean isSmaller =
                info[0] >= Mtu.MTU_256.code() && info[0] < begun().request().pathMtu();
        return isSmaller && asksAgain(again, info[0]);
    }

    /// Tries again, on the active side, with a proof of the secret, because the peer wants one. Returns false when
    /// this is no challenge, or one too many.
    private boolean answeredChallenge(Rej rej) {
        IntFunction<@Nullable CmConnection> again = ask;
        return again != null
                && proof.takesChallenge(rej)
                && asksAgain(again, begun().request().pathMtu());
    }

    private boolean asksAgain(IntFunction<@Nullable CmConnection> again, int mtu) {
        CmConnection begun = again.apply(mtu);
        if (begun != null) {
            connection = begun;
        }
        return begun != null;
    }

    /// Notes, on the passive side, the secret that the peer has proven and the bytes that prove it.
    void proven(Secret with, byte[] by) {
        proof.proven(with, by);
    }

    /// Refuses, on the active side, a REP that does not prove the secret. The peer does not know the secret, or
    /// another sender forged the REP.
    private void refuseUnproven() {
        begun().reject(
                        RejectReason.VENDOR_OPTION_NOT_SUPPORTED,
                        CmRefusal.SECRET_WRONG.info(),
                        ConnectionHost.NOTHING,
                        now());
        service.unproven(route, CmRefusal.SECRET_WRONG);
        end(new News.Rejected(
                RejectReason.VENDOR_OPTION_NOT_SUPPORTED.code(),
                remoteName() + " has accepted without proving the secret",
                PrivateData.NONE));
    }

    private CmEnd end(OwnSide own, int responderResources, int initiatorDepth, verbena.wire.cm.PrivateData said) {
        return new CmEnd(
                own.qpn(),
                steps.startingPsn(),
                responderResources,
                initiatorDepth,
                own.parameters().rnrRetryCount(),
                own.hasSharedReceiveQueue(),
                new CmExtension(ConnectedQueuePair.sourcePort(own, route), proof.hasSecret(), true, true),
                said);
    }

    /// Handles the first packet that the peer sends through the queue pair. If the peer has asked for the
    /// connection, its RTU is late or lost. If this side has asked and the peer answers a request, the peer has our
    /// RTU. (A request of the peer is no proof, because it need not wait for the RTU.)
    @Override
    public void onFirstPacket(boolean isAnswer) {
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

    @Override
    public void onAccessError() {
        service.host().engine().later(() -> service.suspect(route.remote()));
    }

    @Override
    public void onMigrated() {
        service.host().engine().later(() -> {
            if (!ended) {
                paths.onMigrated(begun());
            }
        });
    }

    @Override
    public void onFailed(String why) {
        failure = why;
        // Later, so that what the queue pair still has to say, a NAK, arrives before the end of the connection.
        service.host().engine().later(() -> {
            if (!ended) {
                end(new News.Disconnected(EndedBy.FAILURE, why));
                service.cm().call(manager -> {
                    begun().disconnect(ConnectionHost.NOTHING, now());
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
                if (!proof.isProven(rep, begun().request())) {
                    refuseUnproven();
                    return;
                }
                reply = rep;
                queuePair.heed(CmExtension.of(rep.localQkey()));
                tell(new News.Accepted(new PeerParameters(
                        PrivateData.of(
                                rep.privateData().from(proof.replyBytes()).bytes()),
                        rep.responderResources(),
                        rep.initiatorDepth(),
                        begun().request().retryCount(),
                        rep.rnrRetryCount(),
                        rep.sharedReceiveQueue(),
                        rep.localQpn(),
                        0)));
            }
            case CmEvent.Established established -> {
                queuePair.keepAlive();
                tell(new News.Established());
            }
            case CmEvent.Rejected(Rej rej) -> {
                if (!askedWithSmallerMtu(rej) && !answeredChallenge(rej)) {
                    end(new News.Rejected(
                            rej.reason(),
                            Refusals.why(remoteName(), rej, service.host().mtu()),
                            PrivateData.of(rej.privateData().bytes())));
                }
            }
            case CmEvent.Unreachable(String why) -> end(new News.Unreachable(why));
            case CmEvent.Disconnected(boolean byPeer, var said) -> end(disconnected(byPeer));
            case CmEvent.AlternateAsked(var path) -> paths.onAsked(begun(), path);
            case CmEvent.AlternateAnswered(var path, int status) -> paths.onAnswered(path, status);
            case CmEvent.TimewaitExit exit -> tell(new News.TimewaitExit());
        }
    }

    /// Reports the end by its first reason. A peer that disconnects because our request has failed comes second.
    private News.Disconnected disconnected(boolean byPeer) {
        String first = failure;
        if (first != null) {
            return new News.Disconnected(EndedBy.FAILURE, first);
        }
        return byPeer
                ? new News.Disconnected(EndedBy.PEER, route.remote() + " has disconnected")
                : new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side");
    }

    private void tell(News news) {
        if (!(news instanceof News.Established && begun().isActive())) { // that was told when the peer agreed
            JfrEvents.news(service.host().name(), this, queuePair.qpn(), news);
        }
        Listener to = listener;
        if (to != null) {
            to.onNews(this, news);
        }
    }

    /// Reports the end: the last event but for the end of timewait.
    private void end(News news) {
        if (ended) {
            return;
        }
        ended = true;
        // First, so that the thread that is told finds the queue pair in ERR.
        queuePair.end(news.why(), () -> service.host().engine().execute(() -> tell(news)));
    }

    private CmConnection begun() {
        CmConnection begun = connection;
        if (begun == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return begun;
    }

    private String remoteName() {
        return route.remote() + " port " + remotePort;
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

    /// Returns the type of queue pair that the peer asks for; on the passive side.
    QpType type() {
        return begun().request().transportType() == UC ? QpType.UC : QpType.RC;
    }

    @Override
    public QpModification modification(QpState to, OwnSide own) {
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
            return rep != null ? steps.active(to, own, req, rep) : steps.passive(to, own, req);
        });
    }

    private verbena.wire.cm.PrivateData toAcceptWith(OwnSide own) {
        int proofBytes = proof.replyBytes();
        var said = ConnectionHost.fits(
                "private data to accept with", own.parameters().privateData(), ACCEPT_BYTES - proofBytes);
        byte[] behindProof = new byte[proofBytes + said.length()];
        System.arraycopy(said.bytes(), 0, behindProof, proofBytes, said.length());
        return ConnectionHost.data(behindProof);
    }

    @Override
    public void accept(OwnSide own) {
        ConnectionParameters parameters = own.parameters();
        var said = toAcceptWith(own);
        on("accept", () -> {
            Req req = begun().request();
            begun().accept(
                            end(
                                    own,
                                    Math.min(parameters.responderResources(), req.initiatorDepth()),
                                    Math.min(parameters.initiatorDepth(), req.responderResources()),
                                    said),
                            rep -> proof.prove(steps.judged(rep, req), req),
                            now());
            queuePair.attach(own, this);
            queuePair.heed(CmExtension.of(req.localQkey()));
            return true;
        });
    }

    @Override
    public void reject(PrivateData privateData) {
        var said = ConnectionHost.fits("private data to reject with", privateData, REJECT_BYTES);
        on("reject", () -> {
            begun().reject(RejectReason.CONSUMER_REJECT, ConnectionHost.NOTHING, said, now());
            ended = true;
            queuePair.detach();
            JfrEvents.rejected(service.host().name(), this, queuePair.qpn(), "refused by this side");
            return true;
        });
    }

    @Override
    public void ready() {
        on("ready", () -> {
            begun().ready(ConnectionHost.NOTHING, now());
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
            if (connection == null && isWaitingForItsWay) {
                end(disconnected(false));
                return true;
            }
            begun().disconnect(ConnectionHost.data(privateData.bytes()), now());
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
        return "connection to " + remoteName();
    }
}
