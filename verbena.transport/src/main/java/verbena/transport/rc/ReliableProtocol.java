package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.congestion.NotificationPoint;
import verbena.transport.congestion.ReactionPoint;
import verbena.verbs.QpState;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// The common part of all queue pairs of a reliable connection. A [ReliableConnection] has a [Requester] and a
/// [Responder]. An extended connection (IBTA A14) has the requester at one end, [XrcInitiator], and the responder at
/// the other, [XrcTarget]. Engine-confined.
abstract class ReliableProtocol implements QueuePairProtocol, HalfOwner {
    final QueuePairCore core;
    final QueuePairParameters p;
    final ReactionPoint reaction;
    /// The notifications to the peer; null when marks of switches mean nothing here.
    private final @Nullable NotificationPoint notifications;

    ReliableProtocol(ProtocolParts parts) {
        this.core = new QueuePairCore(parts);
        this.p = core.parameters;
        this.reaction = new ReactionPoint(p.congestion);
        this.notifications = p.congestion.marks() ? new NotificationPoint(p.congestion) : null;
        p.ecnBits = p.congestion.marks() ? CongestionRule.MAY_BE_MARKED : 0;
    }

    /// Passes a change to the halves, which may be a change within a state. Not called for ERR.
    abstract void modifyHalves(QpState from, QpState to, long nowNanos);

    /// Handles a packet of the peer, a request or a response.
    abstract PacketFate onPeerPacket(Frame frame, Opcode opcode, long nowNanos);

    /// Restarts the reaction to congestion: nothing is known of the alternate path that the connection has migrated
    /// to.
    @Override
    public void onMigrated() {
        reaction.start(p.path, p.pathMtu);
    }

    /// Polls the next packet of a half.
    abstract boolean pollHalves(Frame frame, long nowNanos);

    abstract long deadlineOfHalves();

    abstract void onDeadlineOfHalves(long nowNanos);

    /// Takes the peer's access away (ERR): it reaches no memory through this queue pair any more.
    void endPeerAccess() {}

    @Override
    public final void onModified(QpState from, QpState to, long nowNanos) {
        onModified(from, to);
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

    private void onModified(QpState from, QpState to) {
        if (to == from || (to != QpState.RESET && to != QpState.RTR && to != QpState.ERR)) {
            return;
        }
        if (to == QpState.RTR) {
            reaction.start(p.path, p.pathMtu);
        } else {
            reaction.pace().stop();
        }
        if (notifications != null) {
            notifications.reset();
        }
    }

    // ---- packets and time

    @Override
    public final boolean poll(Frame frame, long nowNanos) {
        return pollNotification(frame) || pollHalves(frame, nowNanos);
    }

    final boolean pollNotification(Frame frame) {
        boolean isOwed = notifications != null && notifications.take() && isConnected();
        if (isOwed) {
            writeNotification(frame);
        }
        return isOwed;
    }

    /// Polls the next packet of a responder; data leaves at the rate of the connection.
    final boolean pollPaced(Responder responder, Frame frame, long nowNanos) {
        boolean isPaced = responder.owesData();
        if (isPaced && !reaction.pace().mayLeave(nowNanos)) {
            return false;
        }
        boolean isSent = responder.poll(frame);
        if (isPaced && isSent) {
            reaction.sent(p.path, frame.length, nowNanos);
        }
        return isSent;
    }

    final boolean isConnected() {
        return p.state == QpState.RTR || p.state == QpState.RTS || p.state == QpState.SQD;
    }

    @Override
    public final long deadlineNanos() {
        return Math.min(deadlineOfHalves(), reaction.pace().dueNanos());
    }

    @Override
    public final void onDeadline(long nowNanos) {
        reaction.pace().onDue(nowNanos);
        onDeadlineOfHalves(nowNanos);
    }

    @Override
    public final PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (opcode == Opcode.CNP) {
            return onNotification(frame, nowNanos);
        }
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
        if (notifications != null && NotificationPoint.isMarked(frame.trafficClass) && isConnected()) {
            core.counters.count(Counter.MARKED_PACKETS);
            if (Packet.payloadBytes(frame, opcode) > 0) { // a peer that only answers cannot go slower
                notifications.marked(nowNanos);
            }
        }
        return onPeerPacket(frame, opcode, nowNanos);
    }

    // ---- notifications of congestion (IBTA A17.9.3)

    /// Writes a congestion notification. It has the default P_Key, whatever that of the queue pair is.
    private void writeNotification(Frame frame) {
        int bytes = Opcode.CNP.payload().bytesMax();
        core.begin(frame, Opcode.CNP, bytes, false, false, 0);
        Bth.setPkey(frame.slot, frame.start, Bth.PKEY_DEFAULT);
        Bth.setBecn(frame.slot, frame.start, true);
        long payload = Packet.payloadOffset(frame, Opcode.CNP);
        for (int i = 0; i < bytes; i += Long.BYTES) {
            BigEndian.put64(frame.slot, payload + i, 0);
        }
        frame.trafficClass = p.congestion.notificationClass();
        core.counters.count(Counter.SENT_NOTIFICATIONS);
    }

    /// Handles a congestion notification. Only the peer can lower the rate of a connection.
    private PacketFate onNotification(Frame frame, long nowNanos) {
        if (!isConnected()) {
            return PacketFate.DROPPED_STATE;
        }
        if (!core.isFromPeer(frame)) {
            return PacketFate.DROPPED_SOURCE;
        }
        if (!reaction.notified(nowNanos)) {
            core.counters.count(Counter.IGNORED_NOTIFICATIONS);
            return PacketFate.DROPPED_NOTIFICATION;
        }
        core.counters.count(Counter.HANDLED_NOTIFICATIONS);
        return PacketFate.ACCEPTED;
    }

    // ---- life

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
