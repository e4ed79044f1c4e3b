package verbena.cm;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;

/// One connection, from the first message about it to the end of its timewait (IBTA 12.9). Confined to whoever calls
/// its [CommunicationManager].
public final class CmConnection implements CommunicationManager.Timed {
    /// Where it stands.
    public enum State {
        /// Active: REQ is sent, again and again.
        REQ_SENT,
        /// Active: the peer has accepted, and the owner sets its queue pair up.
        REP_RECEIVED,
        /// Passive: the owner decides.
        REQ_RECEIVED,
        /// Passive: accepted, and the peer has not confirmed.
        REP_SENT,
        ESTABLISHED,
        /// DREQ is sent, again and again.
        DREQ_SENT,
        /// Over; late messages are still answered, and the numbers rest.
        TIMEWAIT,
        CLOSED
    }

    private static final int REJECTS_REQ = 0;
    private static final int REJECTS_REP = 1;
    private static final int REJECTS_OTHER = 2;

    private final CommunicationManager manager;
    private final CmEvent.Listener listener;
    private final CmRoute route;
    private final int localCommId;
    private final boolean isActive;
    private int remoteCommId;
    private long transactionId;
    private State state;

    private @Nullable Req request;
    /// What is sent again until an answer comes.
    private @Nullable CmMessage pending;
    /// The answer that a repeated message gets again.
    private @Nullable CmMessage answer;
    private int retriesLeft;
    private int sendings;
    private long retryNanos;
    private long deadlineNanos = Long.MAX_VALUE;
    private long timewaitNanos;
    private int localQpn;
    private int remoteQpn;
    /// Names the peer's host and device.
    long remoteCaGuid;

    CmConnection(
            CommunicationManager manager, CmEvent.Listener listener, CmRoute route, int localCommId, boolean isActive) {
        this.manager = manager;
        this.listener = listener;
        this.route = route;
        this.localCommId = localCommId;
        this.isActive = isActive;
        this.state = isActive ? State.REQ_SENT : State.REQ_RECEIVED;
    }

    // ---- what there is to know

    public State state() {
        return state;
    }

    public CmRoute route() {
        return route;
    }

    public int localCommId() {
        return localCommId;
    }

    /// Whether this side asked for the connection.
    public boolean isActive() {
        return isActive;
    }

    /// The REQ that it began with.
    public Req request() {
        Req first = request;
        if (first == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return first;
    }

    int remoteCommId() {
        return remoteCommId;
    }

    int remoteQpn() {
        return remoteQpn;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    // ---- what the owner does

    void begin(Req req, int maxRetries, long now) {
        request = req;
        transactionId = req.transactionId();
        localQpn = req.localQpn();
        timewaitNanos = CmTimer.nanos(req.primary().ackTimeout());
        retryNanos = CmTimer.answerNanos(req.primary().ackTimeout(), req.remoteResponseTimeout());
        ask(req, maxRetries, now);
    }

    void received(Req req) {
        request = req;
        transactionId = req.transactionId();
        remoteCommId = req.localCommId();
        remoteQpn = req.localQpn();
        timewaitNanos = CmTimer.nanos(req.primary().ackTimeout());
        retryNanos = CmTimer.answerNanos(req.primary().ackTimeout(), req.localResponseTimeout());
    }

    /// Passive: yes. The queue pair is ready to receive.
    public void accept(CmEnd own, long now) {
        require(State.REQ_RECEIVED, "accept");
        localQpn = own.qpn();
        var rep = new Rep(
                transactionId,
                localCommId,
                remoteCommId,
                0,
                own.qpn(),
                own.startingPsn(),
                own.responderResources(),
                own.initiatorDepth(),
                CommunicationManager.TARGET_ACK_DELAY,
                0,
                false,
                own.rnrRetryCount(),
                own.sharedReceiveQueue(),
                manager.caGuid(),
                own.privateData());
        state = State.REP_SENT;
        ask(rep, request().maxCmRetries(), now);
    }

    /// Either side: no. Nothing more is told of this connection.
    public void reject(RejectReason reason, PrivateData privateData, long now) {
        if (state != State.REQ_RECEIVED && state != State.REP_RECEIVED) {
            throw new IllegalStateException("reject: the connection is in " + state);
        }
        int what = state == State.REQ_RECEIVED ? REJECTS_REQ : REJECTS_REP;
        Rej rej = rej(what, reason, privateData);
        send(rej);
        answer = rej;
        enterTimewait(now);
    }

    /// Active: the queue pair is ready.
    public void ready(PrivateData privateData, long now) {
        require(State.REP_RECEIVED, "ready");
        var rtu = new Rtu(transactionId, localCommId, remoteCommId, privateData);
        send(rtu);
        answer = rtu;
        state = State.ESTABLISHED;
        settle();
        tell(new CmEvent.Established(PrivateData.NONE));
    }

    /// Passive: a packet has come through the queue pair, so the peer is ready though its RTU is late or lost
    /// (COMM_EST).
    public void communicationEstablished() {
        if (state == State.REP_SENT) {
            state = State.ESTABLISHED;
            settle();
            tell(new CmEvent.Established(PrivateData.NONE));
        }
    }

    /// Ends the connection, or gives the attempt up. [CmEvent.Disconnected] follows when there was one.
    public void disconnect(PrivateData privateData, long now) {
        switch (state) {
            case ESTABLISHED, REP_SENT -> {
                state = State.DREQ_SENT;
                ask(
                        new Dreq(
                                manager.newTransaction(localCommId), localCommId, remoteCommId, remoteQpn, privateData),
                        request().maxCmRetries(),
                        now);
            }
            case REQ_SENT -> {
                send(rej(REJECTS_OTHER, RejectReason.TIMEOUT, PrivateData.NONE));
                close();
            }
            case REQ_RECEIVED, REP_RECEIVED -> reject(RejectReason.CONSUMER_REJECT, privateData, now);
            case DREQ_SENT, TIMEWAIT, CLOSED -> {}
        }
    }

    // ---- what the peer does

    /// The same REQ again.
    void onRepeatedRequest() {
        switch (state) {
            case REQ_RECEIVED ->
                send(new Mra(
                        transactionId,
                        localCommId,
                        remoteCommId,
                        REJECTS_REQ,
                        CommunicationManager.SERVICE_TIMEOUT,
                        PrivateData.NONE));
            case REP_SENT -> sendAgain(pending);
            case TIMEWAIT -> sendAgain(answer);
            case REQ_SENT, REP_RECEIVED, ESTABLISHED, DREQ_SENT, CLOSED -> {}
        }
    }

    void onReply(Rep rep, long now) {
        switch (state) {
            case REQ_SENT -> {
                remoteCommId = rep.localCommId();
                remoteQpn = rep.localQpn();
                state = State.REP_RECEIVED;
                settle();
                manager.identified(this, rep.localCaGuid());
                tell(new CmEvent.Accepted(rep));
            }
            case ESTABLISHED, TIMEWAIT -> {
                if (isActive && rep.localCommId() == remoteCommId) {
                    sendAgain(answer); // RTU, or REJ: the last one was lost
                }
            }
            case REP_RECEIVED -> {
                if (rep.localCommId() == remoteCommId) {
                    send(new Mra(
                            transactionId,
                            localCommId,
                            remoteCommId,
                            REJECTS_REP,
                            CommunicationManager.SERVICE_TIMEOUT,
                            PrivateData.NONE));
                }
            }
            case REQ_RECEIVED, REP_SENT, DREQ_SENT, CLOSED -> {}
        }
    }

    void onReadyToUse(Rtu rtu) {
        if (state == State.REP_SENT) {
            state = State.ESTABLISHED;
            settle();
            tell(new CmEvent.Established(rtu.privateData()));
        }
    }

    void onReject(Rej rej, long now) {
        switch (state) {
            case REQ_SENT, REP_SENT, REP_RECEIVED, REQ_RECEIVED -> {
                enterTimewait(now);
                tell(new CmEvent.Rejected(rej));
            }
            // The peer knows nothing of the connection any more.
            case ESTABLISHED -> {
                enterTimewait(now);
                tell(new CmEvent.Disconnected(true, rej.privateData()));
            }
            case DREQ_SENT -> {
                enterTimewait(now);
                tell(new CmEvent.Disconnected(false, PrivateData.NONE));
            }
            case TIMEWAIT, CLOSED -> {}
        }
    }

    /// The peer needs more time.
    void onReceiptAck(Mra mra, long now) {
        if (pending != null) {
            int code = Math.min(mra.serviceTimeout(), CommunicationManager.SERVICE_TIMEOUT_MAX);
            deadlineNanos = now + retryNanos + CmTimer.nanos(code);
            manager.schedule(this);
        }
    }

    void onDisconnectRequest(Dreq dreq, long now) {
        if (dreq.remoteQpn() != localQpn) {
            return;
        }
        var drep = new Drep(dreq.transactionId(), localCommId, remoteCommId, PrivateData.NONE);
        switch (state) {
            case REP_SENT, ESTABLISHED, DREQ_SENT -> {
                boolean byPeer = state != State.DREQ_SENT;
                send(drep);
                answer = drep;
                enterTimewait(now);
                tell(new CmEvent.Disconnected(byPeer, dreq.privateData()));
            }
            case TIMEWAIT -> send(drep);
            case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, CLOSED -> {}
        }
    }

    void onDisconnectReply(Drep drep, long now) {
        if (state == State.DREQ_SENT) {
            enterTimewait(now);
            tell(new CmEvent.Disconnected(false, drep.privateData()));
        }
    }

    @Override
    public void onDeadline(long now) {
        if (state == State.TIMEWAIT) {
            close();
            return;
        }
        CmMessage message = pending;
        if (message == null) {
            deadlineNanos = Long.MAX_VALUE;
            return;
        }
        if (retriesLeft-- > 0) {
            send(message);
            deadlineNanos = now + retryNanos;
            manager.schedule(this);
            return;
        }
        boolean wasConnected = state == State.DREQ_SENT;
        String name = message.getClass().getSimpleName().toUpperCase(Locale.ROOT);
        String why = route.remote() + " did not answer " + name + ", sent " + sendings + " times";
        if (state == State.REQ_SENT) {
            send(rej(REJECTS_OTHER, RejectReason.TIMEOUT, PrivateData.NONE));
        }
        enterTimewait(now);
        tell(wasConnected ? new CmEvent.Disconnected(false, PrivateData.NONE) : new CmEvent.Unreachable(why));
    }

    // ---- leaves

    private void require(State wanted, String verb) {
        if (state != wanted) {
            throw new IllegalStateException(verb + ": the connection is in " + state + ", not in " + wanted);
        }
    }

    private Rej rej(int what, RejectReason reason, PrivateData privateData) {
        return new Rej(transactionId, localCommId, remoteCommId, what, 0, reason.code(), PrivateData.NONE, privateData);
    }

    /// Sends until an answer comes.
    private void ask(CmMessage message, int retries, long now) {
        pending = message;
        retriesLeft = retries;
        sendings = retries + 1;
        send(message);
        deadlineNanos = now + retryNanos;
        manager.schedule(this);
    }

    /// The answer has come.
    private void settle() {
        pending = null;
        deadlineNanos = Long.MAX_VALUE;
    }

    private void enterTimewait(long now) {
        settle();
        state = State.TIMEWAIT;
        deadlineNanos = now + timewaitNanos;
        manager.schedule(this);
    }

    /// Forgotten at once, without a word to anybody.
    void close() {
        settle();
        state = State.CLOSED;
        manager.forget(this);
    }

    private void send(CmMessage message) {
        manager.send(route, message);
    }

    private void sendAgain(@Nullable CmMessage message) {
        if (message != null) {
            send(message);
        }
    }

    private void tell(CmEvent event) {
        listener.onEvent(this, event);
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(localCommId) + " to " + route.remote();
    }

    /// The path that a REQ names, on RoCE: addresses, no LIDs.
    static CmPath path(CmRoute route, CmCall call) {
        return new CmPath(
                0xFFFF,
                0xFFFF,
                route.local().high(),
                route.local().low(),
                route.remote().high(),
                route.remote().low(),
                0,
                call.packetRate(),
                call.trafficClass(),
                call.hopLimit(),
                0,
                false,
                call.ackTimeout());
    }
}
