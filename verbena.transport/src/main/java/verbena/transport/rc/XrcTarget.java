package verbena.transport.rc;

import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// The receiving end of an extended reliable connection (IBTA A14): a [Responder] that takes receives from the shared
/// receive queue which a request names. It sends no requests. Engine-confined.
public final class XrcTarget extends ReliableProtocol {
    private final XrcChecklist checklist;
    private final Responder responder;

    /// @param none an empty queue, with room for as many scatter entries as any of `queues` has
    /// @param queues all shared receive queues with a number
    /// @param xrcDomain whose queues peers may name
    /// @param completions where nothing ever completes
    public XrcTarget(
            QueuePairParameters parameters,
            ReceiveQueue none,
            XrcQueue.Finder queues,
            int xrcDomain,
            CompletionRing completions,
            MemoryTable memory,
            Counters counters,
            QueuePairEvents events) {
        super(parameters, memory, counters, events);
        var receiving = new Receiving(core, none, true, completions);
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
    public boolean poll(Frame frame, long nowNanos) {
        return responder.poll(frame);
    }

    @Override
    public long deadlineNanos() {
        return NEVER;
    }

    @Override
    public void onDeadline(long nowNanos) {}
}
