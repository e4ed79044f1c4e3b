package verbena.transport.rc;

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
    private final SendSteps steps;
    private Detour detour = Detour.NONE;

    public ReliableConnection(ProtocolParts parts) {
        super(parts);
        this.receiving = new Receiving(core, parts);
        var writer = new RequestWriter(core, Transport.RC);
        this.requester =
                new Requester(core, this, writer, parts.sends(), parts.sendCompletions(), parts.signalAll(), reaction);
        this.responder = new Responder(core, Transport.RC, this, receiving, new Checklist(core, receiving));
        this.steps = new SendSteps(core, requester, writer, parts.sends());
    }

    // ---- for a protocol around it

    /// Lets a detour carry out requests from now on, by the steps that are returned.
    public SendSteps detour(Detour by) {
        detour = by;
        requester.detour(by);
        return steps;
    }

    /// Sends packets by this [PacketWay] from now on, which shows whether the peer has read them.
    public void watch(PacketWay way) {
        requester.watch(way);
    }

    /// Returns the receives that messages of the peer go to, however they have come.
    public Receiving receiving() {
        return receiving;
    }

    /// Returns whether no message of the peer has begun by packets and not ended.
    public boolean isBetweenMessages() {
        return responder.isFree();
    }

    /// Returns the PSN of the peer's next request.
    public int psnExpected() {
        return responder.expected();
    }

    /// Notes that the peer lives: something of it has come that is no packet.
    public void heard(long nowNanos) {
        requester.heard(nowNanos);
    }

    /// Sends packets that are owed or have to be sent again, before any request has its turn.
    public boolean pollOwed(Frame frame, long nowNanos) {
        return pollNotification(frame) || pollOwedByHalves(frame, nowNanos);
    }

    // ---- life

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
        return pollOwedByHalves(frame, nowNanos) || requester.poll(frame, nowNanos);
    }

    private boolean pollOwedByHalves(Frame frame, long nowNanos) {
        if (pollPaced(responder, frame, nowNanos)) {
            return true;
        }
        if (p.state == QpState.ERR) {
            requester.flush();
            receiving.flush();
            return false;
        }
        return requester.pollAgain(frame, nowNanos);
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
        detour.onAccessEnded();
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
        detour.onAnswersDropped();
    }
}
