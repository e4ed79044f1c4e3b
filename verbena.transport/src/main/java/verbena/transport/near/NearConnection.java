package verbena.transport.near;

import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Shortcut;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.Detour;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.SendSteps;
import verbena.verbs.QpState;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// A reliable connection between two devices of one host. What needs no packets is tried first: [DirectRequests],
/// [DirectMessages] and [DirectArrivals]. What the peer's side declines goes by the packets of a
/// [ReliableConnection], so each refusal is made there. Engine-confined.
///
/// | first | then |
/// |---|---|
/// | packets that are owed, or sent again | |
/// | messages that are under way | nothing else |
/// | the current request without packets, when it is the oldest | its packets |
public final class NearConnection implements QueuePairProtocol, Shortcut, Detour {
    /// The time is not known.
    private static final long NO_TIME = Long.MIN_VALUE;

    private final ReliableConnection inner;
    private final SendSteps steps;
    private final QueuePairCore core;
    private final QueuePairParameters p;
    /// The packets that observers are shown, of one request after the other.
    private final DirectPacketWriter packets;

    /// The memory of the peer; null when all one-sided requests go by packets.
    private @Nullable PeerMemory memory;

    private @Nullable DirectRequests requests;
    /// The messages without packets; null when all messages go and come by packets.
    private @Nullable DirectMessages messages;

    private @Nullable DirectArrivals arrivals;

    /// @param inner has the packets, and begins here
    @SuppressWarnings("this-escape") // called back later
    public NearConnection(ReliableConnection inner) {
        this.inner = inner;
        this.steps = inner.detour(this);
        this.core = steps.core();
        this.p = core.parameters;
        this.packets = new DirectPacketWriter(core, steps.writer(), Transport.RC);
    }

    /// Tries one-sided requests on the peer's memory first, from now on, and by packets when it declines.
    public void peerMemory(PeerMemory near) {
        memory = near;
        requests = new DirectRequests(near, steps, packets);
    }

    /// Hands messages to the peer's device there first, from now on, and by packets when it declines. Packets go
    /// there too. Comes after [#peerMemory], if that is called.
    public void peerMessages(PeerMessages way) {
        var answers = new DirectArrivals(core, inner.receiving(), packets);
        arrivals = answers;
        messages = new DirectMessages(way, steps, packets, answers, memory);
        inner.watch(way);
    }

    // ---- life

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        if (messages != null && to != QpState.ERR) {
            messages.onModified();
        }
        inner.onModified(from, to, nowNanos);
        if (arrivals != null) {
            switch (to) {
                case RTR -> arrivals.start();
                case RESET -> arrivals.forget();
                case INIT, RTS, SQD, SQE -> arrivals.onModified();
                case ERR -> {} // the connection has told
            }
        }
        if (to != QpState.ERR) {
            onAccessEnded();
        }
    }

    @Override
    public boolean isDraining() {
        return inner.isDraining();
    }

    @Override
    public void breakDown(String cause) {
        inner.breakDown(cause);
    }

    @Override
    public void peerGone(String cause) {
        inner.peerGone(cause);
    }

    @Override
    public String rootCause() {
        return inner.rootCause();
    }

    // ---- what the connection tells

    @Override
    public boolean hasBegun() {
        return (requests != null && requests.hasBegun()) || (messages != null && messages.isUnderWay());
    }

    @Override
    public void onAcknowledged() {
        if (messages != null) {
            messages.proven();
        }
    }

    @Override
    public void onAnswersDropped() {
        if (arrivals != null) {
            arrivals.forget();
        }
    }

    @Override
    public void onAccessEnded() {
        if (memory != null) {
            memory.onModified();
        }
    }

    @Override
    public void onStopped() {
        if (messages != null) {
            messages.stop();
        }
    }

    // ---- arrivals

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        PacketFate fate = inner.onPacket(frame, opcode, nowNanos);
        if (arrivals != null && fate == PacketFate.ACCEPTED && !opcode.isResponse() && opcode != Opcode.CNP) {
            arrivals.proven();
        }
        return fate;
    }

    /// Handles a [DirectMessage] that has arrived. It is well-formed, and comes from the device that its source
    /// belongs to. Returns false when it is not for this connection. Then the device answers a sender that asks.
    public boolean onMessage(Frame frame, long nowNanos) {
        if (messages == null
                || arrivals == null
                || !isConnected()
                || DirectMessage.sourceQp(frame) != p.destinationQpn) {
            return false;
        }
        inner.heard(nowNanos);
        messages.onAnswer(frame);
        steps.goOn();
        if (!isConnected()) {
            return false; // completing a request has ended the connection
        }
        switch (DirectMessage.kind(frame)) {
            case DirectMessage.SEND, DirectMessage.WRITE ->
                arrivals.onMessage(frame, messages.isOpen() && inner.isBetweenMessages(), inner.psnExpected());
            case DirectMessage.QUERY -> arrivals.onQuery(frame);
            default -> {} // an answer only
        }
        return true;
    }

    private boolean isConnected() {
        return p.state == QpState.RTR || p.state == QpState.RTS || p.state == QpState.SQD;
    }

    // ---- departures

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        boolean isPacket = inner.pollOwed(frame, nowNanos) || pollRequests(frame, nowNanos);
        finishTurn();
        return isPacket;
    }

    private void finishTurn() {
        if (messages != null) {
            messages.finishTurn();
        }
    }

    private boolean pollRequests(Frame frame, long now) {
        if (steps.isPaused()) {
            return false;
        }
        if (messages != null && messages.isUnderWay()) {
            boolean _ = messages.handOver();
            return false;
        }
        beginTurn();
        while (steps.hasCurrent()) {
            boolean isNew = steps.isNew();
            PeerMemory.Progress progress = isNew ? begin(now) : PeerMemory.Progress.BY_PACKETS;
            if (progress == PeerMemory.Progress.DONE) {
                continue;
            }
            if (progress == PeerMemory.Progress.MORE) {
                return false;
            }
            SendRequest request = steps.current();
            boolean isSent = steps.send(frame, now);
            if (isSent && isNew) {
                wentByPackets(request);
            }
            return isSent;
        }
        return false;
    }

    @Override
    public boolean mayCarryOut() {
        return memory != null || (messages != null && messages.isOpen());
    }

    @Override
    public boolean carryOut() {
        boolean isDone = carryOutRequests();
        finishTurn();
        return isDone;
    }

    private boolean carryOutRequests() {
        if (p.state != QpState.RTS || steps.isPaused()) {
            return false;
        }
        if (messages != null && messages.isUnderWay()) {
            return messages.handOver();
        }
        beginTurn();
        while (steps.hasCurrent()) {
            if (!steps.isNew() || begin(NO_TIME) != PeerMemory.Progress.DONE) {
                return messages != null && messages.isUnderWay() && messages.isAllHandedOver();
            }
        }
        return true;
    }

    private void beginTurn() {
        if (requests != null) {
            requests.beginTurn();
        }
    }

    /// Begins with the current request, which is new. It waits after [PeerMemory.Progress#MORE].
    ///
    /// @param now or [#NO_TIME]
    private PeerMemory.Progress begin(long now) {
        return switch (steps.begin()) {
            case DONE -> PeerMemory.Progress.DONE;
            case WAITS -> PeerMemory.Progress.MORE;
            case MAY_LEAVE -> withoutPackets(steps.current(), now);
        };
    }

    private PeerMemory.Progress withoutPackets(SendRequest request, long now) {
        if (!request.isOneSided()) {
            return messages == null ? PeerMemory.Progress.BY_PACKETS : asMessage(messages, request, now);
        }
        if (requests == null) {
            return PeerMemory.Progress.BY_PACKETS;
        }
        if (requests.shouldWait(request)) {
            return PeerMemory.Progress.MORE;
        }
        PeerMemory.Progress progress = requests.execute(request);
        if (progress == PeerMemory.Progress.DONE) {
            steps.goOn();
        }
        return progress;
    }

    private PeerMemory.Progress asMessage(DirectMessages way, SendRequest request, long now) {
        if (!steps.isOldest()) {
            return way.shouldWait(request) ? PeerMemory.Progress.MORE : PeerMemory.Progress.BY_PACKETS;
        }
        if (!way.mayBegin(request)) {
            return PeerMemory.Progress.BY_PACKETS;
        }
        boolean mustWait = now == NO_TIME && !way.isTimed();
        return mustWait || way.begin(now) ? PeerMemory.Progress.MORE : PeerMemory.Progress.BY_PACKETS;
    }

    /// Notes that a request goes by packets, of which the first is sent.
    private void wentByPackets(SendRequest request) {
        if (requests != null) {
            requests.declined(request);
        }
        if (messages != null) {
            messages.wentByPackets(request);
        }
    }

    // ---- time

    @Override
    public long deadlineNanos() {
        return messages == null ? inner.deadlineNanos() : Math.min(inner.deadlineNanos(), messages.dueNanos());
    }

    @Override
    public void onDeadline(long nowNanos) {
        inner.onDeadline(nowNanos);
        if (messages != null) {
            messages.onDue(nowNanos);
        }
    }
}
