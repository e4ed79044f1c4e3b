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

/// The receiving end of an extended reliable connection (IBTA A14): a [Responder] that takes receives from the shared
/// receive queue which a request names. It sends no requests. Engine-confined.
public final class XrcTarget extends XrcHalf {
    private final Receiving receiving;
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
        this.receiving = new Receiving(core, none, true, completions);
        this.responder = new XrcResponder(core, this, receiving, queues, xrcDomain);
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                responder.reset();
            }
            case RTR -> responder.start();
            case SQD -> {
                responder.resize();
                if (from != QpState.SQD && p.notifyWhenDrained) {
                    core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED); // there was nothing to wait for
                }
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    onMovedToError();
                }
            }
            case INIT, RTS, SQE -> {}
        }
    }

    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos) {
        return opcode.isResponse() ? PacketFate.DROPPED_WRONG_SERVICE : responder.onRequest(frame, opcode, nowNanos);
    }

    @Override
    void flush(boolean keepAnswers) {
        responder.flush(keepAnswers);
        core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
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
