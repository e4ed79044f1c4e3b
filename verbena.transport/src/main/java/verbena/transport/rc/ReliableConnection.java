package verbena.transport.rc;

import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// A reliable connection (IBTA 9.7): a [Requester] and a [Responder] that share nothing but the parameters. Each
/// arriving packet goes to exactly one of them. Engine-confined.
public final class ReliableConnection implements Protocol {
    private final Shared shared;
    private final QueuePairParameters p;
    private final Requester requester;
    private final Responder responder;
    private final boolean receivesShared;

    /// @param receivesShared whether `receives` is a shared receive queue
    /// @param signalAll whether every send request completes visibly
    public ReliableConnection(
            QueuePairParameters parameters,
            SendQueue sends,
            ReceiveQueue receives,
            boolean receivesShared,
            boolean signalAll,
            CompletionRing sendCompletions,
            CompletionRing receiveCompletions,
            MemoryTable memory,
            Counters counters,
            QueuePairEvents events) {
        this.p = parameters;
        this.shared = new Shared(parameters, memory, counters, events);
        this.requester = new Requester(shared, this, sends, sendCompletions, signalAll);
        this.responder = new Responder(shared, this, receives, receivesShared, receiveCompletions);
        this.receivesShared = receivesShared;
    }

    /// The owner has changed [QueuePairParameters#state] and whatever goes with it; called also for changes within a
    /// state.
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                shared.rootCause = null;
                requester.reset();
                responder.reset();
            }
            case RTR -> responder.start();
            case RTS -> {
                if (from == QpState.RTR) {
                    requester.start();
                }
                requester.rearmDrained();
            }
            case SQD -> {
                if (from != QpState.SQD) {
                    requester.rearmDrained();
                }
                responder.resize();
                requester.checkDrained();
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    enterError("the application moved the queue pair to ERR", false);
                }
            }
            case INIT, SQE -> {}
        }
    }

    /// Whether SQD still waits for started requests.
    public boolean isDraining() {
        return requester.isDraining();
    }

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (!pkeyMatches(Bth.pkey(frame.slot, Packet.BTH))) {
            return PacketFate.DROPPED_PKEY;
        }
        // IBTA 9.6.1.5: only the peer that this queue pair is connected to.
        if (p.state != QpState.RESET
                && p.state != QpState.INIT
                && (frame.sourceHigh != p.destinationHigh
                        || frame.sourceLow != p.destinationLow
                        || frame.destinationHigh != p.sourceHigh
                        || frame.destinationLow != p.sourceLow)) {
            return PacketFate.DROPPED_SOURCE;
        }
        return opcode.isResponse()
                ? requester.onResponse(frame, opcode, nowNanos)
                : responder.onRequest(frame, opcode, nowNanos);
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        if (responder.poll(frame)) {
            return true;
        }
        if (p.state == QpState.ERR) {
            requester.flush();
            responder.flushPosted();
            return false;
        }
        return requester.poll(frame, nowNanos);
    }

    @Override
    public long deadlineNanos() {
        return requester.deadlineNanos();
    }

    @Override
    public void onDeadline(long nowNanos) {
        requester.onDeadline(nowNanos);
    }

    /// The owner has to end the connection, for a reason of its own.
    public void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            fail(cause, false);
        }
    }

    /// One of the halves cannot go on.
    ///
    /// @param keepAnswers whether the responder still sends what it owes, a NAK at its end
    void fail(String cause, boolean keepAnswers) {
        p.state = QpState.ERR;
        shared.events.onState(QpState.ERR); // before anything is flushed: see the posters' side
        enterError(cause, keepAnswers);
    }

    private void enterError(String cause, boolean keepAnswers) {
        if (shared.rootCause == null) {
            shared.rootCause = cause;
        }
        requester.flush();
        responder.flush(keepAnswers);
        if (receivesShared) {
            shared.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }

    /// IBTA 10.9.3: the 15 low bits are equal, and at least one side is a full member.
    private boolean pkeyMatches(int pkey) {
        return ((pkey ^ p.pkey) & 0x7FFF) == 0 && ((pkey | p.pkey) & 0x8000) != 0;
    }
}
