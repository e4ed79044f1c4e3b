package verbena.sim.model;

import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpAttributes;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// A queue pair (IBTA 10.2.4, 10.3): its state and attributes, what is posted on it, and what ends with it.
public final class ModelQueuePair extends ModelObject {
    private static final Set<Access> REMOTE = EnumSet.of(
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);

    /// Before one is set.
    static final AddressVector NO_WAY = AddressVector.to(new Gid(0, 0), 0);

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
    private final Queue<ModelSend> sends = new ArrayDeque<>();
    private final int qpn;

    private QpState state = QpState.RESET;
    private final Map<QpAttribute, Object> attributes = new EnumMap<>(QpAttribute.class);
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

    ModelQueuePair(
            ModelDomain domain,
            QueuePairOptions options,
            ModelCompletionQueue sendCq,
            ModelCompletionQueue receiveCq,
            @Nullable ModelSharedReceiveQueue shared,
            int qpn) {
        super(
                shared == null
                        ? new ModelObject[] {domain, sendCq, receiveCq}
                        : new ModelObject[] {domain, sendCq, receiveCq, shared});
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
        return shared == null ? domain : shared.domain();
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

    <T> T attribute(QpAttribute name, Class<T> type, T otherwise) {
        Object value = attributes.get(name);
        return value == null ? otherwise : type.cast(value);
    }

    int number(QpAttribute name) {
        return attribute(name, Integer.class, 0);
    }

    Set<Access> access() {
        var access = EnumSet.noneOf(Access.class);
        for (Object right : attribute(QpAttribute.ACCESS_FLAGS, Set.class, Set.of())) {
            access.add((Access) right);
        }
        access.retainAll(REMOTE);
        return access;
    }

    /// A datagram's is the port's.
    private Mtu mtu() {
        return attribute(QpAttribute.PATH_MTU, Mtu.class, type() == QpType.UD ? device().activeMtu() : Mtu.MTU_1024);
    }

    int mtuBytes() {
        return mtu().bytes();
    }

    int rnrTimerCode() {
        return attribute(QpAttribute.MIN_RNR_TIMER, RnrTimer.class, new RnrTimer(0))
                .code();
    }

    private AddressVector way() {
        return attribute(QpAttribute.AV, AddressVector.class, NO_WAY);
    }

    /// Where its packets come from.
    Gid source() {
        return device().gids().get(way().sourceGidIndex());
    }

    /// Where its packets go to.
    Gid destination() {
        return way().destination();
    }

    /// ibv_query_qp(3): what has been set, and the defaults of what has not.
    public QpAttributes query(QueuePairOptions asMade) {
        return new QpAttributes(
                state,
                mtu(),
                number(QpAttribute.QKEY),
                number(QpAttribute.RQ_PSN),
                number(QpAttribute.SQ_PSN),
                number(QpAttribute.DEST_QPN),
                access(),
                Optional.ofNullable((AddressVector) attributes.get(QpAttribute.AV)),
                0,
                1,
                state == QpState.SQD && begun,
                number(QpAttribute.MAX_QP_RD_ATOMIC),
                number(QpAttribute.MAX_DEST_RD_ATOMIC),
                attribute(QpAttribute.MIN_RNR_TIMER, RnrTimer.class, new RnrTimer(0)),
                attribute(QpAttribute.TIMEOUT, AckTimeout.class, AckTimeout.NEVER),
                number(QpAttribute.RETRY_CNT),
                number(QpAttribute.RNR_RETRY),
                asMade);
    }

    // ---- verbs

    public List<Refusal> mayQuery() {
        return mayBeUsed();
    }

    public List<Refusal> mayModify(QpModification change) {
        return ModifyRules.mayModify(this, change);
    }

    public void modify(QpModification change) {
        QpState to = change.get(QpAttribute.STATE, QpState.class, state);
        for (QpAttribute attribute : change.mask()) {
            attributes.put(attribute, change.get(attribute, Object.class, ""));
        }
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
                    drainIsTold = !change.get(QpAttribute.EN_SQD_ASYNC_NOTIFY, Boolean.class, false);
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

    /// [verbena.verbs.QueuePair#connect(Endpoint, ConnectOptions)]: three steps at once.
    public List<Refusal> mayConnect(Endpoint remote, ConnectOptions choices) {
        return new Reasons()
                .and(mayBeUsed())
                .when(type() == QpType.UD, InvalidStateException.class, "UD")
                .when(state != QpState.RESET && state != QpState.INIT, InvalidStateException.class, state.name())
                .when(
                        choices.mtu().orElse(Mtu.MTU_256).compareTo(remote.mtu()) > 0,
                        InvalidAttributesException.class,
                        "MTU")
                .list();
    }

    /// Those steps.
    ///
    /// @param own what this queue pair's peer was told
    public void connect(Endpoint own, Endpoint remote, ConnectOptions choices) {
        var init = new QpModification().access(choices.access());
        modify(state == QpState.RESET ? init.state(QpState.INIT).port(1).pkeyIndex(0) : init);
        var rtr = new QpModification()
                .state(QpState.RTR)
                .path(AddressVector.to(remote.gid(), device().gids().indexOf(own.gid()))
                        .withTrafficClass(choices.trafficClass()))
                .pathMtu(choices.mtu().orElse(own.mtu().min(remote.mtu())))
                .destinationQpn(remote.qpn())
                .rqPsn(remote.psn());
        var rts = new QpModification().state(QpState.RTS).sqPsn(own.psn());
        if (type() == QpType.RC) {
            rtr.maxDestinationReadAtomic(choices.maxReadAtomic()).minRnrTimer(choices.minRnrTimer());
            rts.ackTimeout(choices.ackTimeout())
                    .retryCount(choices.retryCount())
                    .rnrRetry(choices.rnrRetry())
                    .maxReadAtomic(choices.maxReadAtomic());
        }
        modify(rtr);
        modify(rts);
    }

    /// ibv_post_send(3): from RTS on.
    public List<Refusal> maySend() {
        return new Reasons()
                .and(mayBeUsed())
                .when(
                        state == QpState.RESET || state == QpState.INIT || state == QpState.RTR,
                        InvalidStateException.class,
                        state.name())
                .list();
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

    /// ibv_post_recv(3): from INIT on, and never with a shared receive queue.
    public List<Refusal> mayReceive() {
        return new Reasons()
                .and(mayBeUsed())
                .when(state == QpState.RESET, InvalidStateException.class, "RESET")
                .when(shared != null, InvalidStateException.class, "shared receive queue")
                .list();
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
            sendCq.add(new ModelCompletion(
                    qpn,
                    false,
                    request.wrId(),
                    WcStatus.SUCCESS,
                    request.operation().completion(),
                    request.operation().hasResult() ? request.bytes() : -1,
                    OptionalInt.empty(),
                    OptionalInt.empty(),
                    0,
                    false,
                    false));
        }
    }

    /// The oldest request has failed: a reliable connection is at its end; of others, the send queue (IBTA 10.3.1.6).
    void fail(WcStatus status) {
        ModelSend request = endOldest();
        if (type() == QpType.RC) {
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
        return receives.take();
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

    void succeedDatagram(ModelReceive receive, long bytes, OptionalInt immediate, int sourceQpn, boolean solicited) {
        receiveCq.add(new ModelCompletion(
                qpn,
                true,
                receive.wrId(),
                WcStatus.SUCCESS,
                WcOpcode.RECV,
                bytes,
                immediate,
                OptionalInt.empty(),
                sourceQpn,
                true,
                solicited));
    }

    void succeed(
            ModelReceive receive,
            WcOpcode opcode,
            long bytes,
            OptionalInt immediate,
            OptionalInt invalidated,
            boolean solicited) {
        receiveCq.add(new ModelCompletion(
                qpn,
                true,
                receive.wrId(),
                WcStatus.SUCCESS,
                opcode,
                bytes,
                immediate,
                invalidated,
                0,
                false,
                solicited));
    }

    void fail(ModelReceive receive, WcStatus status) {
        receiveCq.add(ModelCompletion.failure(this, true, receive.wrId(), status));
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
        if (shared != null) {
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
        attributes.clear();
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
        device().forget(this);
    }
}
