package verbena.cm;

import static verbena.cm.ConnectionMessages.ABOUT_REP;
import static verbena.cm.ConnectionMessages.ABOUT_REQ;

import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.CmMessage;
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
    /// The state of a connection.
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
        CLOSED;

        /// Returns whether one message, or one call of the owner, can lead from here to `next` (IBTA 12.9.7).
        boolean leadsTo(State next) {
            return switch (this) {
                case REQ_SENT -> next == REP_RECEIVED || next == TIMEWAIT || next == CLOSED;
                case REP_RECEIVED -> next == ESTABLISHED || next == TIMEWAIT;
                case REQ_RECEIVED -> next == REP_SENT || next == CLOSED;
                case REP_SENT -> next == ESTABLISHED || next == DREQ_SENT || next == TIMEWAIT || next == CLOSED;
                case ESTABLISHED -> next == DREQ_SENT || next == TIMEWAIT;
                case DREQ_SENT -> next == TIMEWAIT || next == CLOSED;
                case TIMEWAIT -> next == CLOSED;
                case CLOSED -> false;
            };
        }
    }

    /// The book of all connections of a manager, which has to know of each change.
    interface Registry {
        /// Notes the peer's names for the connection; returns false, and changes nothing, when another
        /// connection has them.
        boolean identified(CmConnection connection);

        /// Handles a change of the connection's state, or the proof that its peer is there.
        void moved(CmConnection connection);

        /// Forgets a connection that is closed.
        void forget(CmConnection connection);
    }

    private final CmOutbox outbox;
    private final Registry registry;
    private CmEvent.Listener listener;
    private final CmRoute route;
    /// Takes it when the owner of the service that the peer asked for has decided; null when this side asked.
    private final @Nullable Consumer<CmConnection> decided;

    private final ConnectionMessages messages;
    private final Repetition repetition;
    private final PathLoading paths;
    private State state;

    private @Nullable Req request;
    private long timewaitNanos;
    /// The peer has shown that it receives at its address: it knows a number that was sent there.
    private boolean isProven;

    CmConnection(
            CmOutbox outbox,
            Registry registry,
            CmEvent.Listener listener,
            CmRoute route,
            int localCommId,
            @Nullable Consumer<CmConnection> decided) {
        this.outbox = outbox;
        this.registry = registry;
        this.listener = listener;
        this.route = route;
        this.messages = new ConnectionMessages(outbox, route, localCommId);
        this.repetition = new Repetition(outbox, route, this);
        this.paths = new PathLoading(outbox, this);
        this.decided = decided;
        this.state = isActive() ? State.REQ_SENT : State.REQ_RECEIVED;
    }

    // ---- what there is to know

    public State state() {
        return state;
    }

    public CmRoute route() {
        return route;
    }

    public int localCommId() {
        return messages.localCommId();
    }

    /// Returns whether this side asked for the connection.
    public boolean isActive() {
        return decided == null;
    }

    /// Returns the REQ that it began with.
    public Req request() {
        Req first = request;
        if (first == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return first;
    }

    ConnectionMessages messages() {
        return messages;
    }

    /// Returns the part that loads another alternate path.
    public PathLoading paths() {
        return paths;
    }

    /// Returns the time that an answer of the peer may take.
    long answerNanos() {
        return repetition.retryNanos();
    }

    /// Returns whether a stranger may have caused the connection.
    boolean isHalfOpen() {
        return !isActive() && !isProven && state != State.TIMEWAIT && state != State.CLOSED;
    }

    // ---- what the owner does

    /// Reports events to another listener from now on.
    public void listener(CmEvent.Listener to) {
        listener = to;
    }

    void begin(Req req, int maxRetries, long now) {
        take(req, req.remoteResponseTimeout());
        messages.localQpn(req.localQpn());
        send(req);
        repetition.await(req, maxRetries, now);
    }

    void received(Req req) {
        take(req, req.localResponseTimeout());
        messages.peer(req.localCommId(), req.localQpn(), req.localCaGuid());
    }

    private void take(Req req, int responseTimeout) {
        request = req;
        messages.transactionId(req.transactionId());
        timewaitNanos = CmTimer.timewaitNanos(req.primary().ackTimeout());
        repetition.retryNanos(CmTimer.answerNanos(req.primary().ackTimeout(), responseTimeout));
    }

    /// Accepts the connection on the passive side, whose queue pair is ready to receive.
    public void accept(CmEnd own, long now) {
        accept(own, UnaryOperator.identity(), now);
    }

    /// Accepts the connection likewise, after `seal` has changed the REP.
    public void accept(CmEnd own, UnaryOperator<Rep> seal, long now) {
        require(State.REQ_RECEIVED, "accept");
        messages.localQpn(own.qpn());
        Rep rep = seal.apply(messages.rep(own, request()));
        enter(State.REP_SENT);
        send(rep);
        repetition.await(rep, request().maxCmRetries(), now);
    }

    /// Rejects the connection on either side. No event follows for it.
    public void reject(RejectReason reason, PrivateData privateData, long now) {
        reject(reason, PrivateData.NONE, privateData, now);
    }

    /// Rejects the connection likewise, and adds what would have been right.
    ///
    /// @param info additional reject information (IBTA 12.6.7.2), at most [Rej#INFO_BYTES]
    public void reject(RejectReason reason, PrivateData info, PrivateData privateData, long now) {
        switch (state) {
            case REQ_RECEIVED -> {
                send(messages.rej(ABOUT_REQ, reason, info, privateData));
                close(); // as though it had never been: what a stranger asks for leaves nothing behind
            }
            case REP_RECEIVED -> {
                Rej rej = messages.rej(ABOUT_REP, reason, info, privateData);
                send(rej);
                repetition.confirm(rej);
                enterTimewait(now);
            }
            case REQ_SENT, REP_SENT, ESTABLISHED, DREQ_SENT, TIMEWAIT, CLOSED ->
                throw new IllegalStateException("reject: the connection is in " + state);
        }
    }

    /// Confirms the connection on the active side, whose queue pair is ready.
    public void ready(PrivateData privateData, long now) {
        require(State.REP_RECEIVED, "ready");
        Rtu rtu = messages.rtu(privateData);
        send(rtu);
        repetition.confirm(rtu);
        enter(State.ESTABLISHED);
        repetition.settle();
        repetition.confirmRepeatedly(CmTimer.answerNanos(0, request().localResponseTimeout()), now);
        tell(new CmEvent.Established(PrivateData.NONE));
    }

    /// Handles a packet that has come through the queue pair: the peer is ready though its RTU is late or lost
    /// (COMM_EST), or it has got ours.
    public void communicationEstablished() {
        if (isActive()) {
            if (state == State.ESTABLISHED) {
                repetition.settle();
            }
        } else {
            prove();
            establish(PrivateData.NONE);
        }
    }

    /// Disconnects, or gives the attempt up. [CmEvent.Disconnected] follows when there was a connection.
    public void disconnect(PrivateData privateData, long now) {
        switch (state) {
            case ESTABLISHED, REP_SENT -> {
                Dreq dreq = messages.dreq(privateData);
                enter(State.DREQ_SENT);
                if (isActive() || isProven) {
                    send(dreq);
                }
                repetition.await(dreq, request().maxCmRetries(), now);
            }
            case REQ_SENT -> {
                send(messages.withdrawal());
                close();
            }
            case REQ_RECEIVED, REP_RECEIVED -> reject(RejectReason.CONSUMER_REJECT, privateData, now);
            case DREQ_SENT, TIMEWAIT, CLOSED -> {}
        }
    }

    // ---- what the peer does

    /// Handles a REQ with the same communication ID.
    void onRepeatedRequest(Req again, long now) {
        if (!ConnectionMessages.isSame(request(), again)) {
            outbox.refuse(
                    again,
                    route,
                    state == State.TIMEWAIT ? RejectReason.STALE_CONNECTION : RejectReason.DUPLICATE_LOCAL_COMM_ID,
                    PrivateData.NONE);
            return;
        }
        outbox.count(CmCounter.DUPLICATES);
        switch (state) {
            case REQ_RECEIVED -> send(messages.mra(ABOUT_REQ));
            case REP_SENT -> repetition.answerAgain(now);
            case TIMEWAIT -> outbox.refuse(again, route, RejectReason.STALE_CONNECTION, PrivateData.NONE);
            // It has been accepted, and taken back.
            case DREQ_SENT -> send(messages.rej(ABOUT_REQ, RejectReason.CONSUMER_REJECT));
            case REQ_SENT, REP_RECEIVED, ESTABLISHED, CLOSED -> {}
        }
    }

    void onReply(Rep rep, long now) {
        if (state == State.REQ_SENT) {
            onFirstReply(rep, now);
            return;
        }
        if (rep.localCommId() != messages.remoteCommId()) {
            outbox.count(CmCounter.STRAYS);
            return;
        }
        outbox.count(CmCounter.DUPLICATES);
        switch (state) {
            case REP_RECEIVED -> send(messages.mra(ABOUT_REP));
            case ESTABLISHED, DREQ_SENT -> repetition.confirmAgain();
            case TIMEWAIT -> {
                if (repetition.confirmation() instanceof Rej) {
                    repetition.confirmAgain();
                } else { // an RTU would bring to life at the peer what is over here
                    send(messages.rej(ABOUT_REP, RejectReason.STALE_CONNECTION));
                }
            }
            case REQ_SENT, REQ_RECEIVED, REP_SENT, CLOSED -> {}
        }
    }

    private void onFirstReply(Rep rep, long now) {
        messages.peer(rep.localCommId(), rep.localQpn(), rep.localCaGuid());
        isProven = true;
        if (!registry.identified(this)) {
            // IBTA 12.9.8.3: another connection has, or has just had, the peer's queue pair or communication ID.
            outbox.count(CmCounter.STALE);
            Rej rej = messages.rej(ABOUT_REP, RejectReason.STALE_CONNECTION);
            send(rej);
            repetition.confirm(rej);
            enterTimewait(now);
            tell(new CmEvent.Unreachable(route.remote() + " accepted with queue pair 0x"
                    + Integer.toHexString(messages.remoteQpn()) + ", which has, or has just had, another connection"));
            return;
        }
        enter(State.REP_RECEIVED);
        repetition.settle();
        // The peer sends REP again after this time, unless it hears before that its REP has arrived.
        outbox.schedule(this, now + CmTimer.nanos(request().localResponseTimeout()) / 2);
        tell(new CmEvent.Accepted(rep));
    }

    void onReadyToUse(Rtu rtu) {
        if (!prove()) {
            outbox.count(CmCounter.DUPLICATES);
        }
        establish(rtu.privateData());
    }

    /// Notes that the peer is there; returns false when that was known.
    private boolean prove() {
        if (isActive() || isProven || (state != State.REP_SENT && state != State.DREQ_SENT)) {
            return false;
        }
        isProven = true;
        registry.moved(this);
        if (state == State.DREQ_SENT) { // now it can be told
            repetition.sendPending();
        }
        return true;
    }

    private void establish(PrivateData privateData) {
        if (state == State.REP_SENT) {
            enter(State.ESTABLISHED);
            repetition.settle();
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
            case TIMEWAIT, CLOSED -> outbox.count(CmCounter.DUPLICATES);
        }
    }

    /// Handles an MRA: the peer needs more time ([Repetition#putOff]).
    void onReceiptAck(Mra mra, long now) {
        int about = mra.messageReceived();
        if (state == State.DREQ_SENT && about == ABOUT_REP && prove()) {
            return;
        }
        boolean fits =
                (state == State.REQ_SENT && about == ABOUT_REQ) || (state == State.REP_SENT && about == ABOUT_REP);
        if (!fits || !repetition.putOff()) {
            outbox.count(fits ? CmCounter.DUPLICATES : CmCounter.STRAYS);
            return;
        }
        prove();
        int code = Math.min(mra.serviceTimeout(), CmTimer.SERVICE_TIMEOUT_MAX);
        repetition.wait(CmTimer.nanos(code), now);
    }

    void onDisconnectRequest(Dreq dreq, long now) {
        if (dreq.remoteQpn() != messages.localQpn()) {
            outbox.count(CmCounter.STRAYS);
            return;
        }
        switch (state) {
            case REP_SENT, REP_RECEIVED, ESTABLISHED, DREQ_SENT -> {
                boolean byPeer = state != State.DREQ_SENT;
                send(messages.drep(dreq));
                enterTimewait(now);
                tell(new CmEvent.Disconnected(byPeer, dreq.privateData()));
            }
            case TIMEWAIT -> {
                outbox.count(CmCounter.DUPLICATES);
                send(messages.drep(dreq));
            }
            case REQ_SENT, REQ_RECEIVED, CLOSED -> outbox.count(CmCounter.STRAYS);
        }
    }

    void onDisconnectReply(Drep drep, long now) {
        if (state == State.DREQ_SENT) {
            enterTimewait(now);
            tell(new CmEvent.Disconnected(false, drep.privateData()));
        } else {
            outbox.count(CmCounter.DUPLICATES);
        }
    }

    @Override
    void onDeadline(long now) {
        switch (state) {
            case TIMEWAIT -> {
                close();
                tell(new CmEvent.TimewaitExit());
            }
            case REP_RECEIVED -> send(messages.mra(ABOUT_REP));
            case REQ_SENT, REP_SENT, DREQ_SENT -> {
                if (repetition.takeRetry()) {
                    // To a peer that may not be there nothing goes but answers (decision 20).
                    repetition.repeat(isActive() || isProven, now);
                } else {
                    giveUp(now);
                }
            }
            case ESTABLISHED -> repetition.onConfirmationDue(now);
            case REQ_RECEIVED, CLOSED -> {}
        }
    }

    private void giveUp(long now) {
        String why = repetition.silence(now);
        switch (state) {
            case REQ_SENT -> {
                send(messages.withdrawal());
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

    /// Drops the connection, because there are too many of strangers: the owner gets an event, and the peer a REJ
    /// if it has had no answer yet.
    void shed(String why) {
        if (state == State.REQ_RECEIVED) {
            send(messages.rej(ABOUT_REQ, RejectReason.NO_RESOURCES));
        }
        close();
        tell(new CmEvent.Unreachable(why));
    }

    /// Cuts timewait short.
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

    private void enter(State next) {
        State before = state;
        assert before.leadsTo(next) : before + " does not lead to " + next;
        state = next;
        if (before == State.REQ_RECEIVED && decided != null) {
            decided.accept(this);
        }
        registry.moved(this);
    }

    private void enterTimewait(long now) {
        repetition.settle();
        enter(State.TIMEWAIT);
        outbox.schedule(this, now + timewaitNanos);
    }

    /// Closes the connection at once, without an event to the owner or a message to the peer.
    private void close() {
        repetition.settle();
        enter(State.CLOSED);
        registry.forget(this);
    }

    private void send(CmMessage message) {
        outbox.send(route, message);
    }

    void tell(CmEvent event) {
        listener.onEvent(this, event);
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(localCommId()) + " to " + route.remote() + " in " + state;
    }
}
