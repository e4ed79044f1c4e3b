package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.Receiving;
import verbena.transport.RequestWriter;
import verbena.transport.Shortcut;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// A reliable connection (IBTA 9.7): a [Requester] and a [Responder] that share nothing but the parameters. Each
/// arriving packet goes to exactly one of them. Engine-confined.
public final class ReliableConnection extends ReliableProtocol implements Shortcut {
    private final Requester requester;
    private final Responder responder;
    /// The peer has answered since RTR.
    private boolean answered;
    private final Receiving receiving;
    /// Null when all requests go by packets.
    private @Nullable PeerMemory near;
    /// Null when all messages go and come by packets.
    private @Nullable DirectMessages messages;

    private @Nullable DirectArrivals arrivals;

    public ReliableConnection(ProtocolParts parts) {
        super(parts);
        this.receiving = new Receiving(core, parts);
        this.requester = new Requester(
                core,
                this,
                new RequestWriter(core, Transport.RC),
                parts.sends(),
                parts.sendCompletions(),
                parts.signalAll(),
                reaction);
        this.responder = new Responder(core, Transport.RC, this, receiving, new Checklist(core, receiving));
    }

    /// One-sided requests are tried on the peer's memory first, from now on, and go by packets when it declines.
    public void peerMemory(PeerMemory memory) {
        near = memory;
        requester.peerMemory(memory);
    }

    /// Messages go to the peer's device there first, from now on, and by packets when it declines. Comes after
    /// [#peerMemory], if that is called.
    public void peerMessages(PeerMessages way) {
        arrivals = new DirectArrivals(core, receiving, requester.packets());
        messages = requester.peerMessages(way, arrivals, near);
    }

    @Override
    void modifyHalves(QpState from, QpState to, long nowNanos) {
        requester.onModified(from, to);
        responder.onModified(to);
        if (to == QpState.RTR) {
            answered = false;
        }
        if (arrivals != null) {
            switch (to) {
                case RTR -> arrivals.start();
                case RESET -> arrivals.forget();
                case INIT, RTS, SQD, SQE, ERR -> arrivals.onModified();
            }
        }
        if (to == QpState.RTS) {
            requester.armKeepAlive(nowNanos);
        }
        tellNear();
    }

    private void tellNear() {
        if (near != null) {
            near.onModified();
        }
    }

    @Override
    public void onMigrated() {
        super.onMigrated();
        requester.followPath();
    }

    @Override
    public boolean isDraining() {
        return requester.isDraining();
    }

    @Override
    PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos) {
        requester.heard(nowNanos);
        if (!opcode.isResponse()) {
            PacketFate fate = responder.onRequest(frame, opcode);
            if (arrivals != null && fate == PacketFate.ACCEPTED) {
                arrivals.proven();
            }
            return fate;
        }
        PacketFate fate = requester.onResponse(frame, opcode, nowNanos);
        if (!answered && fate == PacketFate.ACCEPTED) {
            answered = true;
            core.events.onFirstPacket(true);
        }
        return fate;
    }

    /// A [DirectMessage] has arrived, which is well-formed and comes from the device that its source belongs to. False
    /// when it is not for this connection. Then the device answers a sender that asks.
    public boolean onMessage(Frame frame, long nowNanos) {
        if (messages == null
                || arrivals == null
                || !isConnected()
                || DirectMessage.sourceQp(frame) != p.destinationQpn) {
            return false;
        }
        requester.heard(nowNanos);
        requester.onAnswer(messages, frame);
        if (!isConnected()) {
            return false; // completing a request has ended the connection
        }
        switch (DirectMessage.kind(frame)) {
            case DirectMessage.SEND, DirectMessage.WRITE ->
                arrivals.onMessage(frame, messages.isOpen() && responder.isFree(), responder.expected());
            case DirectMessage.QUERY -> arrivals.onQuery(frame);
            default -> {} // an answer only
        }
        return true;
    }

    @Override
    public void peerGone(String cause) {
        requester.peerGone(cause);
    }

    @Override
    boolean pollHalves(Frame frame, long nowNanos) {
        boolean isPacket = pollPackets(frame, nowNanos);
        if (messages != null) {
            messages.finishTurn();
        }
        return isPacket;
    }

    private boolean pollPackets(Frame frame, long nowNanos) {
        if (pollPaced(responder, frame, nowNanos)) {
            return true;
        }
        if (p.state == QpState.ERR) {
            requester.flush();
            receiving.flush();
            return false;
        }
        return requester.poll(frame, nowNanos);
    }

    @Override
    public boolean mayCarryOut() {
        return near != null || (messages != null && messages.isOpen());
    }

    @Override
    public boolean carryOut() {
        boolean isDone = requester.carryOut();
        if (messages != null) {
            messages.finishTurn();
        }
        return isDone;
    }

    @Override
    long deadlineOfHalves() {
        return requester.deadlineNanos();
    }

    @Override
    void onDeadlineOfHalves(long nowNanos) {
        requester.onDeadline(nowNanos);
    }

    @Override
    void endPeerAccess() {
        tellNear();
    }

    @Override
    public void flush() {
        requester.flush();
        responder.flush();
        if (receiving.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }

    @Override
    public void dropResponses() {
        responder.dropResponses();
        if (arrivals != null) {
            arrivals.forget();
        }
    }
}
