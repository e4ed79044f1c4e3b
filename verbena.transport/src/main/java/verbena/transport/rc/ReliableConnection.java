package verbena.transport.rc;

import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// A reliable connection (IBTA 9.7): a [Requester] and a [Responder] that share nothing but the parameters. Each
/// arriving packet goes to exactly one of them. Engine-confined.
public final class ReliableConnection implements QueuePairProtocol, HalfOwner {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Requester requester;
    private final Responder responder;
    /// The peer has answered since RTR.
    private boolean answered;
    private final Receiving receiving;

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
        this.core = new QueuePairCore(parameters, memory, counters, events);
        this.receiving = new Receiving(core, receives, receivesShared, receiveCompletions);
        this.requester =
                new Requester(core, this, new RequestWriter(core, Transport.RC), sends, sendCompletions, signalAll);
        this.responder = new Responder(core, Transport.RC, this, receiving);
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                requester.reset();
                responder.reset();
            }
            case RTR -> {
                answered = false;
                responder.start();
            }
            case RTS -> {
                if (from == QpState.RTR) {
                    requester.start();
                }
                requester.rearmDrained();
                requester.armKeepAlive(nowNanos);
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

    @Override
    public boolean isDraining() {
        return requester.isDraining();
    }

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (!core.pkeyMatches(frame)) {
            return PacketFate.DROPPED_PKEY;
        }
        if (p.state != QpState.RESET && p.state != QpState.INIT && !core.isFromPeer(frame)) {
            return PacketFate.DROPPED_SOURCE;
        }
        requester.heard(nowNanos);
        if (!opcode.isResponse()) {
            return responder.onRequest(frame, opcode, nowNanos);
        }
        PacketFate fate = requester.onResponse(frame, opcode, nowNanos);
        if (!answered && fate == PacketFate.ACCEPTED) {
            answered = true;
            core.events.onFirstPacket(true);
        }
        return fate;
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        if (responder.poll(frame)) {
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
    public long deadlineNanos() {
        return requester.deadlineNanos();
    }

    @Override
    public void onDeadline(long nowNanos) {
        requester.onDeadline(nowNanos);
    }

    @Override
    public String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    @Override
    public void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            fail(cause, false);
        }
    }

    @Override
    public void fail(String cause, boolean keepAnswers) {
        core.enter(QpState.ERR, cause);
        enterError(cause, keepAnswers);
    }

    private void enterError(String cause, boolean keepAnswers) {
        if (core.rootCause == null) {
            core.rootCause = cause;
        }
        requester.flush();
        responder.flush(keepAnswers);
        if (receiving.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }
}
