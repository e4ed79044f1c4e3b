package verbena.transport.rc;

import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.Receiving;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// The receiving end of an extended reliable connection (IBTA A14): a [Responder] that takes receives from the
/// shared receive queue which a request names. It sends no requests. Engine-confined.
public final class XrcTarget extends ReliableProtocol {
    private final XrcChecklist checklist;
    private final Responder responder;

    /// @param parts its receives are empty and shared, with room for as many scatter entries as any of `queues`
    ///     has; its sends are not used, and nothing ever completes in its completion rings
    /// @param queues all shared receive queues with a number
    /// @param xrcDomain whose queues peers may name
    public XrcTarget(ProtocolParts parts, XrcQueue.Finder queues, int xrcDomain) {
        super(parts);
        assert parts.receivesShared() && parts.receives().capacity() == 0;
        var receiving = new Receiving(core, parts);
        this.checklist = new XrcChecklist(core, receiving, queues, xrcDomain);
        this.responder = new Responder(core, Transport.XRC, this, receiving, checklist);
    }

    @Override
    void modifyHalves(QpState from, QpState to, long nowNanos) {
        responder.onModified(to);
        if (to == QpState.SQD && from != QpState.SQD && p.notifyWhenDrained) {
            core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED); // there was nothing to wait for
        }
    }

    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos) {
        return opcode.isResponse() ? PacketFate.DROPPED_WRONG_SERVICE : responder.onRequest(frame, opcode);
    }

    @Override
    public void flush() {
        checklist.dropReceiveOfClosed();
        responder.flush();
        core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
    }

    @Override
    public void dropResponses() {
        responder.dropResponses();
    }

    @Override
    boolean pollHalves(Frame frame, long nowNanos) {
        return pollPaced(responder, frame, nowNanos);
    }

    @Override
    long deadlineOfHalves() {
        return NEVER;
    }

    @Override
    void onDeadlineOfHalves(long nowNanos) {}
}
