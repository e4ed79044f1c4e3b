package verbena.cm;

import java.util.Locale;
import java.util.function.UnaryOperator;
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

/// One connection, from the first message about it to the end of its timewait (IBTA 12.9). Confined to the caller
/// that calls its [CommunicationManager].
public final class CmConnection extends Timed {
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

    /// How often an RTU is repeated, at 1, 3 and 7 times what the peer would have waited for it, unless something
    /// shows before that it has arrived (decision 0020).
    private static final int RTU_REPEATS = 3;

    private static final int REJECTS_REQ = 0;
    private static final int REJECTS_REP = 1;
    private static final int REJECTS_OTHER = 2;

    private final CommunicationManager manager;
    private CmEvent.Listener listener;
    private final CmRoute route;
    private final int localCommId;
    private final boolean isActive;
    /// The service that was asked, when the peer asked for the connection.
    private final @Nullable CmService service;

    private int remoteCommId;
    private long transactionId;
    private State state;

    private @Nullable Req request;
    /// What is sent again until an answer comes.
    private @Nullable CmMessage pending;
    /// RTU or REJ: what a repeated REP gets.
    private @Nullable CmMessage confirmation;

    private int retriesLeft;
    private int rtusLeft;
    private long rtuNanos;
    private int sendings;
    private long retryNanos;
    private boolean mayBePutOff;
    private long timewaitNanos;
    private int localQpn;
    private int remoteQpn;
    /// Names the peer's host and device.
    private long remoteCaGuid;
    /// The peer has shown that it receives at its address: it knows a number that was sent there.
    private boolean isProven;

    CmConnection(
            CommunicationManager manager,
            CmEvent.Listener listener,
            CmRoute route,
            int localCommId,
            @Nullable CmService service) {
        this.manager = manager;
        this.listener = listener;
        this.route = route;
        this.localCommId = localCommId;
        this.service = service;
        this.isActive = service == null;
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

    long remoteCaGuid() {
        return remoteCaGuid;
    }

    /// Whether a stranger may have brought it about.
    boolean isHalfOpen() {
        return !isActive && !isProven && state != State.TIMEWAIT && state != State.CLOSED;
    }

    // ---- what the owner does

    /// Tells another receiver from now on.
    public void listener(CmEvent.Listener to) {
        listener = to;
    }

    void begin(Req req, int maxRetries, long now) {
        take(req, req.remoteResponseTimeout());
        localQpn = req.localQpn();
        send(req);
        await(req, maxRetries, now);
    }

    void received(Req req) {
        take(req, req.localResponseTimeout());
        remoteCommId = req.localCommId();
        remoteQpn = req.localQpn();
        remoteCaGuid = req.localCaGuid();
    }

    private void take(Req req, int responseTimeout) {
        request = req;
        transactionId = req.transactionId();
        timewaitNanos = CmTimer.timewaitNanos(req.primary().ackTimeout());
        retryNanos = CmTimer.answerNanos(req.primary().ackTimeout(), responseTimeout);
    }

    /// Passive: yes. The queue pair is ready to receive.
    public void accept(CmEnd own, long now) {
        accept(own, UnaryOperator.identity(), now);
    }

    /// The same, with a last word on the REP.
    public void accept(CmEnd own, UnaryOperator<Rep> seal, long now) {
        require(State.REQ_RECEIVED, "accept");
        localQpn = own.qpn();
        boolean asksForAlternate = !request().alternate().equals(CmPath.NONE);
        Rep rep = seal.apply(new Rep(
                transactionId,
                localCommId,
                remoteCommId,
                own.extension().bits(),
                own.qpn(),
                own.stamp(),
                own.startingPsn(),
                own.responderResources(),
                own.initiatorDepth(),
                CommunicationManager.TARGET_ACK_DELAY,
                asksForAlternate ? CommunicationManager.FAILOVER_NOT_SUPPORTED : 0,
                false,
                own.rnrRetryCount(),
                own.sharedReceiveQueue(),
                manager.caGuid(),
                own.privateData()));
        enter(State.REP_SENT);
        send(rep);
        await(rep, request().maxCmRetries(), now);
    }

    /// Either side: no. Nothing more is told of this connection.
    public void reject(RejectReason reason, PrivateData privateData, long now) {
        reject(reason, PrivateData.NONE, privateData, now);
    }

    /// The same, and says what would have been right.
    ///
    /// @param info additional reject information (IBTA 12.6.7.2), at most [Rej#INFO_BYTES]
    public void reject(RejectReason reason, PrivateData info, PrivateData privateData, long now) {
        switch (state) {
            case REQ_RECEIVED -> {
                send(rej(REJECTS_REQ, reason, info, privateData));
                close(); // as though it had never been: what a stranger asks for leaves nothing behind
            }
            case REP_RECEIVED -> {
                Rej rej = rej(REJECTS_REP, reason, info, privateData);
                send(rej);
                confirmation = rej;
                enterTimewait(now);
            }
            case REQ_SENT, REP_SENT, ESTABLISHED, DREQ_SENT, TIMEWAIT, CLOSED ->
                throw new IllegalStateException("reject: the connection is in " + state);
        }
    }

    /// Active: the queue pair is ready.
    public void ready(PrivateData privateData, long now) {
        require(State.REP_RECEIVED, "ready");
        var rtu = new Rtu(transactionId, localCommId, remoteCommId, privateData);
        send(rtu);
        confirmation = rtu;
        enter(State.ESTABLISHED);
        settle();
        rtusLeft = RTU_REPEATS;
        rtuNanos = CmTimer.answerNanos(0, request().localResponseTimeout());
        manager.schedule(this, now + rtuNanos);
        tell(new CmEvent.Established(PrivateData.NONE));
    }

    /// A packet has come through the queue pair: the peer is ready though its RTU is late or lost (COMM_EST), or
    /// it has got ours.
    public void communicationEstablished() {
        if (isActive) {
            if (state == State.ESTABLISHED) {
                settle();
            }
        } else {
            prove();
            establish(PrivateData.NONE);
        }
    }

    /// Ends the connection, or gives the attempt up. [CmEvent.Disconnected] follows when there was one.
    public void disconnect(PrivateData privateData, long now) {
        switch (state) {
            case ESTABLISHED, REP_SENT -> {
                var dreq = new Dreq(
                        manager.newTransaction(localCommId), localCommId, remoteCommId, remoteQpn, privateData);
                enter(State.DREQ_SENT);
                if (isActive || isProven) {
                    send(dreq);
                }
                await(dreq, request().maxCmRetries(), now);
            }
            case REQ_SENT -> {
                giveUpRequest();
                close();
            }
            case REQ_RECEIVED, REP_RECEIVED -> reject(RejectReason.CONSUMER_REJECT, privateData, now);
            case DREQ_SENT, TIMEWAIT, CLOSED -> {}
        }
    }

    // ---- what the peer does

    /// A REQ with the same communication ID.
    void onRepeatedRequest(Req again, long now) {
        Req first = request();
        boolean isSame = again.transactionId() == first.transactionId()
                && again.localQpn() == first.localQpn()
                && again.startingPsn() == first.startingPsn()
                && again.serviceId() == first.serviceId();
        if (!isSame) {
            manager.refuse(
                    again,
                    route,
                    state == State.TIMEWAIT ? RejectReason.STALE_CONNECTION : RejectReason.DUPLICATE_LOCAL_COMM_ID);
            return;
        }
        manager.count(CmCounter.DUPLICATES);
        switch (state) {
            case REQ_RECEIVED -> send(mra(REJECTS_REQ));
            case REP_SENT -> {
                retriesLeft--;
                sendAgain(pending);
                manager.schedule(this, now + retryNanos);
            }
            case TIMEWAIT -> manager.refuse(again, route, RejectReason.STALE_CONNECTION);
            case DREQ_SENT -> { // it has been accepted, and taken back
                send(rej(REJECTS_REQ, RejectReason.CONSUMER_REJECT, PrivateData.NONE, PrivateData.NONE));
            }
            case REQ_SENT, REP_RECEIVED, ESTABLISHED, CLOSED -> {}
        }
    }

    void onReply(Rep rep, long now) {
        if (state == State.REQ_SENT) {
            onFirstReply(rep, now);
            return;
        }
        if (rep.localCommId() != remoteCommId) {
            manager.count(CmCounter.STRAYS);
            return;
        }
        manager.count(CmCounter.DUPLICATES);
        switch (state) {
            case REP_RECEIVED -> send(mra(REJECTS_REP));
            case ESTABLISHED, DREQ_SENT -> sendAgain(confirmation);
            case TIMEWAIT -> {
                if (confirmation instanceof Rej) {
                    sendAgain(confirmation);
                } else { // an RTU would bring to life at the peer what is over here
                    send(rej(REJECTS_REP, RejectReason.STALE_CONNECTION, PrivateData.NONE, PrivateData.NONE));
                }
            }
            case REQ_SENT, REQ_RECEIVED, REP_SENT, CLOSED -> {}
        }
    }

    private void onFirstReply(Rep rep, long now) {
        remoteCommId = rep.localCommId();
        remoteQpn = rep.localQpn();
        remoteCaGuid = rep.localCaGuid();
        isProven = true;
        if (!manager.identified(this)) {
            // IBTA 12.9.8.3: another connection has, or has just had, the peer's queue pair or communication ID.
            manager.count(CmCounter.STALE);
            Rej rej = rej(REJECTS_REP, RejectReason.STALE_CONNECTION, PrivateData.NONE, PrivateData.NONE);
            send(rej);
            confirmation = rej;
            enterTimewait(now);
            tell(new CmEvent.Unreachable(route.remote() + " accepted with queue pair 0x"
                    + Integer.toHexString(remoteQpn) + ", which has, or has just had, another connection"));
            return;
        }
        enter(State.REP_RECEIVED);
        settle();
        // The peer sends REP again after this time, unless it hears before that we are at it.
        manager.schedule(this, now + CmTimer.nanos(request().localResponseTimeout()) / 2);
        tell(new CmEvent.Accepted(rep));
    }

    void onReadyToUse(Rtu rtu) {
        if (!prove()) {
            manager.count(CmCounter.DUPLICATES);
        }
        establish(rtu.privateData());
    }

    /// The peer is there: false when that was known.
    private boolean prove() {
        if (isActive || isProven || (state != State.REP_SENT && state != State.DREQ_SENT)) {
            return false;
        }
        isProven = true;
        manager.moved(this);
        if (state == State.DREQ_SENT && pending != null) { // now it can be told
            sendings++;
            send(pending);
        }
        return true;
    }

    private void establish(PrivateData privateData) {
        if (state == State.REP_SENT) {
            enter(State.ESTABLISHED);
            settle();
            tell(new CmEvent.Established(privateData));
        }
    }

    void onReject(Rej rej, long now) {
        switch (state) {
            // The peer has no such connection, and has had none.
            case REQ_SENT, REQ_RECEIVED -> {
                close();
                tell(new CmEvent.Rejected(rej));
            }
            case REP_SENT, REP_RECEIVED -> {
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
            case TIMEWAIT, CLOSED -> manager.count(CmCounter.DUPLICATES);
        }
    }

    /// The peer needs more time. Once for each time that it was asked, so that it gets no more than that many
    /// times.
    void onReceiptAck(Mra mra, long now) {
        int what = mra.messageReceived();
        if (state == State.DREQ_SENT && what == REJECTS_REP && prove()) {
            return;
        }
        boolean fits =
                (state == State.REQ_SENT && what == REJECTS_REQ) || (state == State.REP_SENT && what == REJECTS_REP);
        if (!fits || !mayBePutOff) {
            manager.count(fits ? CmCounter.DUPLICATES : CmCounter.STRAYS);
            return;
        }
        mayBePutOff = false;
        prove();
        int code = Math.min(mra.serviceTimeout(), CommunicationManager.SERVICE_TIMEOUT_MAX);
        manager.schedule(this, now + retryNanos + CmTimer.nanos(code));
    }

    void onDisconnectRequest(Dreq dreq, long now) {
        if (dreq.remoteQpn() != localQpn) {
            manager.count(CmCounter.STRAYS);
            return;
        }
        switch (state) {
            case REP_SENT, REP_RECEIVED, ESTABLISHED, DREQ_SENT -> {
                boolean byPeer = state != State.DREQ_SENT;
                send(drep(dreq));
                enterTimewait(now);
                tell(new CmEvent.Disconnected(byPeer, dreq.privateData()));
            }
            case TIMEWAIT -> {
                manager.count(CmCounter.DUPLICATES);
                send(drep(dreq));
            }
            case REQ_SENT, REQ_RECEIVED, CLOSED -> manager.count(CmCounter.STRAYS);
        }
    }

    void onDisconnectReply(Drep drep, long now) {
        if (state == State.DREQ_SENT) {
            enterTimewait(now);
            tell(new CmEvent.Disconnected(false, drep.privateData()));
        } else {
            manager.count(CmCounter.DUPLICATES);
        }
    }

    @Override
    void onDeadline(long now) {
        switch (state) {
            case TIMEWAIT -> {
                close();
                tell(new CmEvent.TimewaitExit());
            }
            case REP_RECEIVED -> send(mra(REJECTS_REP));
            case REQ_SENT, REP_SENT, DREQ_SENT -> {
                if (retriesLeft-- > 0) {
                    repeat(now);
                } else {
                    giveUp(now);
                }
            }
            case ESTABLISHED -> {
                sendAgain(confirmation);
                if (--rtusLeft > 0) {
                    rtuNanos *= 2;
                    manager.schedule(this, now + rtuNanos);
                }
            }
            case REQ_RECEIVED, CLOSED -> {}
        }
    }

    private void repeat(long now) {
        if (isActive || isProven) { // to a peer that may not be there nothing goes but answers (decision 0020)
            sendAgain(pending);
        }
        mayBePutOff = true;
        manager.schedule(this, now + retryNanos);
    }

    private void giveUp(long now) {
        String why = silence();
        switch (state) {
            case REQ_SENT -> {
                giveUpRequest();
                close();
                tell(new CmEvent.Unreachable(why));
            }
            case REP_SENT -> {
                enterTimewait(now);
                tell(new CmEvent.Unreachable(why));
            }
            default -> {
                enterTimewait(now);
                tell(new CmEvent.Disconnected(false, PrivateData.NONE));
            }
        }
    }

    private String silence() {
        CmMessage message = pending;
        String name = message == null ? "" : message.getClass().getSimpleName().toUpperCase(Locale.ROOT);
        return route.remote() + " did not answer " + name + ", sent " + sendings + " times";
    }

    /// Too many strangers: the owner is told, and so is the peer if it has had no answer yet.
    void shed(String why) {
        if (state == State.REQ_RECEIVED) {
            send(rej(REJECTS_REQ, RejectReason.NO_RESOURCES, PrivateData.NONE, PrivateData.NONE));
        }
        close();
        tell(new CmEvent.Unreachable(why));
    }

    /// Timewait is cut short.
    void hurry() {
        close();
        tell(new CmEvent.TimewaitExit());
    }

    // ---- leaves

    private void require(State wanted, String verb) {
        if (state != wanted) {
            throw new IllegalStateException(verb + ": the connection is in " + state + ", not in " + wanted);
        }
    }

    private Rej rej(int what, RejectReason reason, PrivateData info, PrivateData privateData) {
        return new Rej(transactionId, localCommId, remoteCommId, what, info.length(), reason.code(), info, privateData);
    }

    private Mra mra(int what) {
        return new Mra(
                transactionId, localCommId, remoteCommId, what, CommunicationManager.SERVICE_TIMEOUT, PrivateData.NONE);
    }

    private Drep drep(Dreq dreq) {
        return new Drep(dreq.transactionId(), localCommId, remoteCommId, PrivateData.NONE);
    }

    /// The peer may not have told us its name for the connection: it finds its own by ours and our GUID (IBTA
    /// 12.6.7.2).
    private void giveUpRequest() {
        send(rej(REJECTS_OTHER, RejectReason.TIMEOUT, CommunicationManager.info(manager.caGuid()), PrivateData.NONE));
    }

    /// Waits for the answer to what has been sent, and sends it again.
    private void await(CmMessage message, int retries, long now) {
        pending = message;
        retriesLeft = retries;
        sendings = 1;
        mayBePutOff = true;
        manager.schedule(this, now + retryNanos);
    }

    /// The answer has come.
    private void settle() {
        pending = null;
        manager.schedule(this, NEVER);
    }

    private void enter(State next) {
        State before = state;
        state = next;
        if (before == State.REQ_RECEIVED && service != null) {
            service.remove(this);
        }
        manager.moved(this);
    }

    private void enterTimewait(long now) {
        settle();
        enter(State.TIMEWAIT);
        manager.schedule(this, now + timewaitNanos);
    }

    /// Forgotten at once, without a word to anybody.
    private void close() {
        settle();
        enter(State.CLOSED);
        manager.forget(this);
    }

    private void send(CmMessage message) {
        manager.send(route, message);
    }

    private void sendAgain(@Nullable CmMessage message) {
        if (message != null) {
            sendings++;
            manager.sendAgain(route, message);
        }
    }

    private void tell(CmEvent event) {
        listener.onEvent(this, event);
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(localCommId) + " to " + route.remote() + " in " + state;
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
