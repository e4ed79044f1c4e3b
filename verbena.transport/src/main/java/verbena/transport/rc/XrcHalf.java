package verbena.transport.rc;

import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.memory.MemoryTable;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// What both ends of an extended reliable connection (IBTA A14) have in common. Each is one half of what a
/// [ReliableConnection] is whole: an initiator sends requests only, a target answers them only. Engine-confined.
abstract sealed class XrcHalf implements QueuePairProtocol, HalfOwner permits XrcInitiator, XrcTarget {
    final QueuePairCore core;
    final QueuePairParameters p;

    XrcHalf(QueuePairParameters parameters, MemoryTable memory, Counters counters, QueuePairEvents events) {
        this.core = new QueuePairCore(parameters, memory, counters, events);
        this.p = parameters;
    }

    /// A packet of the peer, of whatever direction.
    abstract PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos);

    /// ERR: what is posted, or in use, completes as flushed.
    abstract void flush(boolean keepAnswers);

    @Override
    public final PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (!core.pkeyMatches(frame)) {
            return PacketFate.DROPPED_PKEY;
        }
        if (p.state != QpState.RESET && p.state != QpState.INIT && !core.isFromPeer(frame)) {
            return PacketFate.DROPPED_SOURCE;
        }
        return onPeerPacket(frame, opcode, nowNanos);
    }

    @Override
    public final String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    @Override
    public final void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            fail(cause, false);
        }
    }

    @Override
    public final void fail(String cause, boolean keepAnswers) {
        core.enter(QpState.ERR, cause);
        flush(keepAnswers);
    }

    /// The owner has moved the queue pair to ERR.
    final void onMovedToError() {
        if (core.rootCause == null) {
            core.rootCause = "the application moved the queue pair to ERR";
        }
        flush(false);
    }
}
