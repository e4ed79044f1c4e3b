package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.Receiving;
import verbena.transport.RequestWriter;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// A reliable connection (IBTA 9.7): a [Requester] and a [Responder] that share nothing but the parameters. Each
/// arriving packet goes to exactly one of them. Engine-confined.
public final class ReliableConnection extends ReliableProtocol {
    private final Requester requester;
    private final Responder responder;
    /// The peer has answered since RTR.
    private boolean answered;
    private final Receiving receiving;
    /// Null when all requests go by packets.
    private @Nullable PeerMemory near;

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

    @Override
    void modifyHalves(QpState from, QpState to, long nowNanos) {
        requester.onModified(from, to);
        responder.onModified(to);
        if (to == QpState.RTR) {
            answered = false;
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
            return responder.onRequest(frame, opcode);
        }
        PacketFate fate = requester.onResponse(frame, opcode, nowNanos);
        if (!answered && fate == PacketFate.ACCEPTED) {
            answered = true;
            core.events.onFirstPacket(true);
        }
        return fate;
    }

    @Override
    public void peerGone(String cause) {
        requester.peerGone(cause);
    }

    @Override
    boolean pollHalves(Frame frame, long nowNanos) {
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
    public boolean hasShortcut() {
        return near != null;
    }

    @Override
    public boolean doAtOnce() {
        return requester.doAtOnce();
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
    }
}
