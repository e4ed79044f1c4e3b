package verbena.transport.rc;

import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// The sending end of an extended reliable connection (IBTA A14): a [Requester] whose packets name the shared
/// receive queue that they are for. It serves no requests. Engine-confined.
public final class XrcInitiator extends ReliableProtocol {
    private final Requester requester;

    /// @param parts its receives are not used
    public XrcInitiator(ProtocolParts parts) {
        super(parts);
        this.requester = new Requester(
                core,
                this,
                new XrcRequestWriter(core),
                parts.sends(),
                parts.sendCompletions(),
                parts.signalAll(),
                reaction);
    }

    /// Sends packets by this [PacketWay] from now on, which shows whether the peer has read them.
    public void watch(PacketWay way) {
        requester.watch(way);
    }

    @Override
    void modifyHalves(QpState from, QpState to, long nowNanos) {
        requester.onModified(from, to);
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
        if (!opcode.isResponse()) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        requester.heard(nowNanos);
        return requester.onResponse(frame, opcode, nowNanos);
    }

    @Override
    public void flush() {
        requester.flush();
    }

    /// Drops nothing: an initiator owes no responses.
    @Override
    public void dropResponses() {}

    @Override
    public void peerGone(String cause) {
        requester.peerGone(cause);
    }

    @Override
    boolean pollHalves(Frame frame, long nowNanos) {
        if (p.state == QpState.ERR) {
            requester.flush();
            return false;
        }
        return requester.pollAgain(frame, nowNanos) || requester.poll(frame, nowNanos);
    }

    @Override
    long deadlineOfHalves() {
        return requester.deadlineNanos();
    }

    @Override
    void onDeadlineOfHalves(long nowNanos) {
        requester.onDeadline(nowNanos);
    }
}
