package verbena.nic.kind.fourth;

import java.lang.foreign.MemorySegment;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Receiving;
import verbena.transport.Shortcut;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.Beginning;
import verbena.transport.rc.Detour;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.SendSteps;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// A reliable connection whose SENDs of up to 8 bytes go through the tube, one at a time. What the peer does not
/// take at once goes by packets.
final class TubeConnection implements QueuePairProtocol, Shortcut, Detour {
    private static final long NOWHERE = -1;

    private final ReliableConnection inner;
    private final TubeLink tube;
    private final SendSteps steps;
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private boolean isUnderWay;
    private long declined = NOWHERE;

    TubeConnection(ReliableConnection inner, TubeLink tube) {
        this.inner = inner;
        this.tube = tube;
        this.steps = inner.detour(this);
        this.core = steps.core();
        this.p = core.parameters;
    }

    // ---- arrivals

    boolean onTelegram(Telegram telegram) {
        if (telegram.fromQpn() != p.destinationQpn) {
            return false;
        }
        if (!telegram.isAnswer()) {
            tube.send(telegram.answer(take(MemorySegment.ofArray(telegram.bytes()))));
        } else if (isUnderWay) {
            isUnderWay = false;
            if (telegram.isTaken()) {
                steps.finish();
                steps.goOn();
            } else {
                declined = steps.position();
            }
        }
        return true;
    }

    private boolean take(MemorySegment bytes) {
        Receiving receiving = inner.receiving();
        boolean isTaken = (p.state == QpState.RTR || p.state == QpState.RTS)
                && inner.isBetweenMessages()
                && receiving.open()
                && core.memory.scatter(receiving.scatter(), p.receiveDomain(), 0, bytes, 0, (int) bytes.byteSize())
                        == MemoryVerdict.OK;
        if (isTaken) {
            receiving.complete(WcOpcode.RECV, bytes.byteSize(), 0, 0, false);
        }
        return isTaken;
    }

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        return inner.onPacket(frame, opcode, nowNanos);
    }

    // ---- departures

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        if (inner.pollOwed(frame, nowNanos)) {
            return true;
        }
        return beginAll() && steps.send(frame, nowNanos);
    }

    /// True when the current request goes by packets.
    private boolean beginAll() {
        while (!steps.isPaused() && !isUnderWay && steps.hasCurrent()) {
            Beginning beginning = steps.isNew() ? steps.begin() : Beginning.MAY_LEAVE;
            if (beginning == Beginning.WAITS) {
                return false;
            }
            if (beginning == Beginning.MAY_LEAVE && !putIntoTube(steps.current())) {
                return true;
            }
        }
        return false;
    }

    private boolean putIntoTube(SendRequest request) {
        boolean isShort = request.operation == SendOperation.SEND && request.bytes() <= Telegram.BYTES_MAX;
        if (!isShort || !steps.isNew() || !steps.isOldest() || steps.position() == declined) {
            return false;
        }
        byte[] bytes = new byte[(int) request.bytes()];
        if (core.memory.gather(request.scatter, p.protectionDomain, 0, MemorySegment.ofArray(bytes), 0, bytes.length)
                != MemoryVerdict.OK) {
            return false;
        }
        isUnderWay = true;
        tube.send(Telegram.of(p.destinationQpn, p.qpn, bytes));
        return true;
    }

    @Override
    public boolean mayCarryOut() {
        return true;
    }

    @Override
    public boolean carryOut() {
        boolean goesByPackets = p.state != QpState.RTS || beginAll();
        return !goesByPackets
                && isUnderWay
                && steps.position() + 1 == steps.queue().published();
    }

    // ---- what the connection asks and tells

    @Override
    public boolean hasBegun() {
        return isUnderWay;
    }

    @Override
    public void onAcknowledged() {}

    @Override
    public void onAnswersDropped() {}

    @Override
    public void onAccessEnded() {}

    @Override
    public void onStopped() {
        isUnderWay = false;
        declined = NOWHERE;
    }

    // ---- life and time

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        inner.onModified(from, to, nowNanos);
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

    @Override
    public long deadlineNanos() {
        return inner.deadlineNanos();
    }

    @Override
    public void onDeadline(long nowNanos) {
        inner.onDeadline(nowNanos);
    }
}
