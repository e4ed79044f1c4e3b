package verbena.transport.rc;

import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// What all queue pairs of a reliable connection have in common. A [ReliableConnection] has a [Requester] and a
/// [Responder]. An extended one (IBTA A14) has the requester at one end, [XrcInitiator], and the responder at the
/// other, [XrcTarget]. Engine-confined.
abstract sealed class ReliableProtocol implements QueuePairProtocol, HalfOwner
        permits ReliableConnection, XrcInitiator, XrcTarget {
    final QueuePairCore core;
    final QueuePairParameters p;

    ReliableProtocol(ProtocolParts parts) {
        this.core = new QueuePairCore(parts);
        this.p = core.parameters;
    }

    /// The halves have to know of a change, which may be one within a state. Not called for ERR.
    abstract void modifyHalves(QpState from, QpState to, long nowNanos);

    /// A packet of the peer, of whatever direction.
    abstract PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos);

    /// The connection has migrated to its alternate path.
    void onMigrated() {}

    /// ERR: the peer reaches no memory through this queue pair any more.
    void endPeerAccess() {}

    @Override
    public final void onModified(QpState from, QpState to, long nowNanos) {
        if (to != QpState.ERR) {
            if (to == QpState.RESET) {
                core.rootCause = null;
            }
            if (core.migration.migrateAsAsked()) {
                onMigrated();
            }
            modifyHalves(from, to, nowNanos);
            return;
        }
        if (from != QpState.ERR) {
            if (core.rootCause == null) {
                core.rootCause = "the application moved the queue pair to ERR";
            }
            dropResponses();
            endPeerAccess();
            flush();
        }
    }

    @Override
    public final PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (p.state == QpState.RESET || p.state == QpState.INIT) {
            return core.pkeyMatches(frame) ? onPeerPacket(frame, opcode, nowNanos) : PacketFate.DROPPED_PKEY;
        }
        boolean isMigration = core.migration.isAskedBy(frame);
        PacketFate fate = core.judgeSource(frame);
        if (fate != PacketFate.ACCEPTED) {
            return fate;
        }
        if (isMigration) {
            onMigrated();
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
            fail(cause);
        }
    }

    @Override
    public final void enterError(String cause) {
        core.enter(QpState.ERR, cause);
        endPeerAccess();
    }
}
