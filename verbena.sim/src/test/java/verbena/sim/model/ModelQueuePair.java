package verbena.sim.model;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcStatus;

/// A queue pair (IBTA 10.2.4, 10.3): its state and attributes, what is posted on it, and what ends with it. Each end
/// of an extended connection is one too (IBTA A14): an initiator only sends, and a target only receives.
public final class ModelQueuePair extends ModelObject {
    /// Why the oldest send request does not end.
    enum Waiting {
        FOR_NOTHING,
        /// No peer answers: retries will run out.
        FOR_AN_ANSWER,
        /// The peer has no receive.
        FOR_A_RECEIVE
    }

    private final ModelDomain domain;
    private final QueuePairOptions options;
    private final ModelCompletionQueue sendCq;
    private final ModelCompletionQueue receiveCq;
    private final @Nullable ModelSharedReceiveQueue shared;
    private final ModelReceiveQueue receives;
    private final @Nullable ModelXrcDomain xrcDomain;
    private final Queue<ModelSend> sends = new ArrayDeque<>();
    private final int qpn;

    private QpState state = QpState.RESET;
    private final ModelAttributes attributes = new ModelAttributes();
    private boolean drainIsTold;
    private boolean fatalTold;
    /// UC and UD: a receive whose message has broken off.
    private @Nullable ModelReceive kept;

    // Of the connection, while there is one.
    int nextPsn;
    int expectedPsn;
    Waiting waiting = Waiting.FOR_NOTHING;
    /// The oldest request has been begun; in SQD nothing else goes on.
    boolean begun;
    /// Bytes of the oldest request that have arrived and will not be sent again.
    long arrived;
    /// That packets are missing has been told.
    boolean gapTold;
    private boolean established;
    /// Of a target: the shared receive queue that the present request names.
    private @Nullable ModelSharedReceiveQueue aim;

    ModelQueuePair(
            ModelDomain domain,
            QueuePairOptions options,
            ModelCompletionQueue sendCq,
            ModelCompletionQueue receiveCq,
            @Nullable ModelSharedReceiveQueue shared,
            @Nullable ModelXrcDomain xrcDomain,
            int qpn) {
        super(domain, sendCq, receiveCq);
        if (shared != null) {
            use(shared);
        }
        if (xrcDomain != null) {
            use(xrcDomain);
        }
        this.xrcDomain = xrcDomain;
        this.domain = domain;
        this.options = options;
        this.sendCq = sendCq;
        this.receiveCq = receiveCq;
        this.shared = shared;
        this.receives = shared != null
                ? shared.queue()
                : new ModelReceiveQueue(options.maxReceiveWr(), options.maxReceiveSge(), () -> {});
        this.qpn = qpn;
        sendCq.addReporter(this);
        receiveCq.addReporter(this);
    }

    // ---- what it is

    ModelDevice device() {
        return domain.device();
    }

    public ModelDomain domain() {
        return domain;
    }

    public int qpn() {
        return qpn;
    }

    public QpType type() {
        return options.type();
    }

    public QpState state() {
        return state;
    }

    public QueuePairOptions options() {
        return options;
    }

    public ModelCompletionQueue sendCq() {
        return sendCq;
    }

    public ModelCompletionQueue receiveCq() {
        return receiveCq;
    }

    /// What the memory of its receives has to belong to (IBTA 10.2.9).
    ModelDomain receiveDomain() {
        ModelSharedReceiveQueue from = aim == null ? shared : aim;
        return from == null ? domain : from.domain();
    }

    /// What the memory has to belong to that a peer's request touches.
    ModelDomain remoteDomain() {
        return aim == null ? domain : aim.domain();
    }

    /// A request names the shared receive queue that it is for; false when a target has none of that number.
    boolean aim(int srqNumber) {
        aim = device().numbered(srqNumber)
                .filter(named -> named.xrcDomain().equals(Optional.ofNullable(xrcDomain)))
                .orElse(null);
        return aim != null;
    }

    private ModelCompletionQueue receivesReportTo() {
        return aim == null ? receiveCq : aim.completions();
    }

    public Optional<ModelXrcDomain> xrcDomain() {
        return Optional.ofNullable(xrcDomain);
    }

    /// Whether what gets lost is sent again.
    boolean isReliable() {
        return type() == QpType.RC || type().isXrc();
    }

    public Optional<ModelSharedReceiveQueue> shared() {
        return Optional.ofNullable(shared);
    }

    /// Send requests that have not ended.
    public int unfinished() {
        return sends.size();
    }

    List<ModelSend> unfinishedSends() {
        return List.copyOf(sends);
    }

    /// Receives of its own that have not ended.
    public int receivesPosted() {
        return shared == null ? receives.size() + (kept == null ? 0 : 1) : 0;
    }

    ModelAttributes attributes() {
        return attributes;
    }

    int number(QpAttribute name) {
        return attributes.number(name);
    }

    int mtuBytes() {
        return attributes.mtu(defaultMtu()).bytes();
    }

    /// A datagram's is the port's.
    private Mtu defaultMtu() {
        return type() == QpType.UD ? device().activeMtu() : Mtu.MTU_1024;
    }

    /// Where its packets come from.
    Gid source() {
        return device().gids().get(attributes.way().sourceGidIndex());
    }

    /// Where its packets go to.
    Gid destination() {
        return attributes.way().destination();
    }

    /// ibv_query_qp(3).
    public QueuePairAttributes query(QueuePairOptions asMade) {
        return attributes.query(state, defaultMtu(), state == QpState.SQD && begun, asMade);
    }

    // ---- verbs

    public List<Refusal> mayQuery() {
        return mayBeUsed();
    }

    public List<Refusal> mayModify(QpModification change) {
        return ModifyRules.mayModify(this, change);
    }

    public void modify(QpModification change) {
        QpState to = change.get(QpAttribute.STATE, state);
        attributes.change(change);
        QpState from = state;
        state = to;
        switch (to) {
            case RESET -> forgetEverything();
            case RTR -> {
                expectedPsn = number(QpAttribute.RQ_PSN);
                established = false;
                gapTold = false;
            }
            case RTS -> {
                if (from == QpState.RTR) {
                    nextPsn = number(QpAttribute.SQ_PSN);
                }
            }
            case SQD -> {
                if (from == QpState.RTS) {
                    drainIsTold = !change.get(QpAttribute.EN_SQD_ASYNC_NOTIFY, false);
                }
                tellWhenDrained();
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    enterError();
                }
            }
            case INIT, SQE -> {}
        }
    }

    public List<Refusal> mayConnect(Endpoint remote, EndpointOptions choices) {
        return ConnectRules.mayConnect(this, remote, choices);
    }

    /// The three changes of state.
    ///
    /// @param own what this queue pair's peer was told
    public void connect(Endpoint own, Endpoint remote, EndpointOptions choices) {
        ConnectRules.steps(this, own, remote, choices).forEach(this::modify);
    }

    /// Whether a batch may begin.
    public List<Refusal> maySend() {
        return PostRules.maySend(this);
    }

    /// The same of one request.
    ///
    /// @param alreadyInBatch requests before it that are not handed over yet
    public List<Refusal> maySend(int alreadyInBatch, ModelSend request) {
        return PostRules.maySend(this, alreadyInBatch, request);
    }

    public void send(ModelSend request) {
        sends.add(request);
    }

    public List<Refusal> mayReceive() {
        return PostRules.mayReceive(this);
    }

    public List<Refusal> mayReceive(int alreadyInBatch, ModelReceive receive) {
        return PostRules.mayReceive(receives, alreadyInBatch, receive, "maxReceiveWr", "maxReceiveSge");
    }

    public void receive(ModelReceive receive) {
        receives.post(receive);
    }

    public List<Refusal> mayAttach(Gid group) {
        return new Reasons()
                .and(mayBeUsed())
                .when(type() != QpType.UD, InvalidStateException.class, "UD")
                .when(!group.isMulticast(), IllegalArgumentException.class, "group")
                .list();
    }

    public void attach(Gid group) {
        device().attached(group).add(this);
    }

    public List<Refusal> mayDetach(Gid group) {
        return new Reasons()
                .and(mayAttach(group))
                .when(!device().attached(group).contains(this), InvalidStateException.class, "not attached")
                .list();
    }

    public void detach(Gid group) {
        device().attached(group).remove(this);
    }

    // ---- how requests end

    @Nullable
    ModelSend oldestSend() {
        return sends.peek();
    }

    /// Whether the oldest request may go on: in SQD only what has begun (IBTA 10.3.1.5).
    boolean isSending() {
        return state == QpState.RTS || (state == QpState.SQD && begun);
    }

    boolean isReceiving() {
        return state == QpState.RTR || state == QpState.RTS || state == QpState.SQD || state == QpState.SQE;
    }

    /// A packet has come that is for this queue pair.
    void onPacket() {
        if (state == QpState.RTR && !established) {
            established = true;
            device().raise(AsyncEvent.Type.COMM_EST, this);
        }
    }

    /// The oldest request is done.
    void succeed() {
        ModelSend request = endOldest();
        tellWhenDrained();
        if (request.signaled() || options.signalAll()) {
            sendCq.add(ModelCompletion.ofSend(this, request));
        }
    }

    /// The oldest request has failed: a reliable connection is at its end; of others, the send queue (IBTA
    /// 10.3.1.6).
    void fail(WcStatus status) {
        ModelSend request = endOldest();
        if (isReliable()) {
            sendCq.add(ModelCompletion.failure(this, false, request.wrId(), status));
            breakDown();
        } else {
            state = QpState.SQE;
            sendCq.add(ModelCompletion.failure(this, false, request.wrId(), status));
            flushSends();
        }
    }

    void end(WcStatus status) {
        if (status == WcStatus.SUCCESS) {
            succeed();
        } else {
            fail(status);
        }
    }

    private ModelSend endOldest() {
        begun = false;
        arrived = 0;
        waiting = Waiting.FOR_NOTHING;
        return Objects.requireNonNull(sends.poll());
    }

    /// The oldest receive; nothing when none is posted.
    @Nullable
    ModelReceive takeReceive() {
        return aim == null ? receives.take() : aim.queue().take();
    }

    /// The receive for the next message of UC or UD: the one that a broken message has left, or the oldest.
    @Nullable
    ModelReceive openReceive() {
        if (kept == null) {
            kept = receives.take();
        }
        return kept;
    }

    /// It is used.
    void closeReceive() {
        kept = null;
    }

    /// The message breaks off. Its receive is for the next one; one of a shared queue ends with an error, because
    /// others may wait for it.
    void breakOff(WcStatus status) {
        ModelReceive open = kept;
        if (shared != null && open != null) {
            kept = null;
            fail(open, status);
        }
    }

    void succeed(ModelCompletion ofReceive) {
        receivesReportTo().add(ofReceive);
    }

    void fail(ModelReceive receive, WcStatus status) {
        receivesReportTo().add(ModelCompletion.failure(this, true, receive.wrId(), status));
    }

    /// It cannot tell of its completions any more.
    ///
    /// @param lost it has just lost one
    void loseVoice(boolean lost) {
        if (!fatalTold && (lost || (state != QpState.RESET && state != QpState.ERR))) {
            fatalTold = true;
            device().raise(AsyncEvent.Type.QP_FATAL, this);
        }
        breakDown();
    }

    /// To ERR, by itself.
    void breakDown() {
        if (state != QpState.RESET && state != QpState.ERR) {
            state = QpState.ERR;
            enterError();
        }
    }

    /// IBTA 10.3.1.7: what is posted ends as flushed, in order. Receives of a shared queue stay there; that this
    /// queue pair takes no more of them is told.
    private void flushSends() {
        while (!sends.isEmpty()) {
            sendCq.add(ModelCompletion.failure(this, false, endOldest().wrId(), WcStatus.WR_FLUSH_ERR));
        }
    }

    private void enterError() {
        flush();
        if (shared != null || xrcDomain != null) {
            device().raise(AsyncEvent.Type.QP_LAST_WQE_REACHED, this);
        }
    }

    /// Also what is posted in ERR, and, of sends, in SQE.
    void flush() {
        flushSends();
        if (state != QpState.ERR) {
            return;
        }
        ModelReceive open = kept;
        kept = null;
        if (open != null) {
            fail(open, WcStatus.WR_FLUSH_ERR);
        }
        while (shared == null && receives.size() > 0) {
            fail(Objects.requireNonNull(receives.take()), WcStatus.WR_FLUSH_ERR);
        }
    }

    /// IBTA 10.3.1.5: in SQD, and nothing that has begun is left.
    private void tellWhenDrained() {
        if (state == QpState.SQD && !begun && !drainIsTold) {
            drainIsTold = true;
            device().raise(AsyncEvent.Type.SQ_DRAINED, this);
        }
    }

    private void forgetEverything() {
        fatalTold = false;
        attributes.forgetAll();
        sends.clear();
        kept = null;
        begun = false;
        arrived = 0;
        waiting = Waiting.FOR_NOTHING;
        if (shared == null) {
            receives.forgetAll();
        }
    }

    @Override
    void end() {
        state = QpState.RESET;
        forgetEverything();
        sendCq.removeReporter(this);
        receiveCq.removeReporter(this);
        if (xrcDomain != null) {
            xrcDomain.forget(this);
        }
        device().forget(this);
    }
}
