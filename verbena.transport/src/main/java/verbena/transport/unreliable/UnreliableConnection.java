package verbena.transport.unreliable;

import verbena.transport.InboundMessage;
import verbena.transport.Messages;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.transport.RequestWriter;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Transport;

/// An unreliable connection (IBTA 9.8.2): messages arrive whole or not at all, and neither end learns which.
/// Engine-confined.
///
/// A packet that does not follow the one before breaks off the message under way; the next First or Only packet
/// begins another, whatever its PSN.
public final class UnreliableConnection extends Unreliable {
    /// The PSN that comes next.
    private int expected;

    private final InboundMessage message = new InboundMessage();
    private boolean established;

    public UnreliableConnection(ProtocolParts parts) {
        var core = new QueuePairCore(parts);
        super(
                core,
                new UnreliableSender(
                        core,
                        Transport.UC,
                        new RequestWriter(core, Transport.UC),
                        parts.sends(),
                        parts.sendCompletions(),
                        parts.signalAll()),
                new Receiving(core, parts));
    }

    @Override
    void startReceiving() {
        expected = p.rqPsn;
        established = false;
    }

    @Override
    void stopReceiving() {
        message.end();
    }

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        if (!isReceiving()) {
            return core.pkeyMatches(frame) ? PacketFate.DROPPED_STATE : PacketFate.DROPPED_PKEY;
        }
        PacketFate fate = core.judgeSource(frame);
        if (fate != PacketFate.ACCEPTED) {
            return fate;
        }
        if (!established) {
            established = true;
            core.events.onFirstPacket(false);
            if (p.state == QpState.RTR) {
                core.events.onAsyncEvent(AsyncEvent.Type.COMM_EST);
            }
        }
        int psn = Bth.psn(frame.slot, frame.start);
        if (message.isOpen() && (psn != expected || !message.fits(opcode))) {
            breakOff(WcStatus.REM_INV_REQ_ERR, "the message broke off at PSN " + expected + ", then came PSN " + psn);
        }
        if (!message.isOpen() && !opcode.startsMessage()) {
            return PacketFate.DROPPED_MESSAGE;
        }
        expected = Psn.next(psn);
        return opcode.isSend() ? onSend(frame, opcode) : onWrite(frame, opcode);
    }

    private PacketFate onSend(Frame frame, Opcode opcode) {
        if (opcode.startsMessage()) {
            if (!receive.open()) {
                return PacketFate.DROPPED_MESSAGE;
            }
            message.begin(frame, opcode);
        }
        int bytes = Packet.payloadBytes(frame, opcode);
        if (!opcode.payload().allows(bytes, p.pathMtu)) {
            return breakOff(WcStatus.REM_INV_REQ_ERR, opcode + " of " + bytes + " bytes at path MTU " + p.pathMtu);
        }
        if (message.placed() + bytes > receive.scatter().bytes) {
            return breakOff(
                    WcStatus.LOC_LEN_ERR,
                    "the message is longer than the receive of " + receive.scatter().bytes + " bytes");
        }
        MemoryVerdict verdict = core.memory.scatter(
                receive.scatter(),
                p.receiveDomain(),
                message.placed(),
                frame.slot,
                Packet.payloadOffset(frame, opcode),
                bytes);
        if (verdict != MemoryVerdict.OK) {
            String cause = "the receive's " + core.memory.explain(receive.scatter(), p.receiveDomain(), true, verdict);
            receive.fail(WcStatus.LOC_PROT_ERR, cause);
            fail(cause);
            return PacketFate.DROPPED_MESSAGE;
        }
        message.place(opcode, bytes);
        if (opcode.endsMessage()) {
            receive.complete(frame, opcode, WcOpcode.RECV, message.placed());
        }
        return PacketFate.ACCEPTED;
    }

    private PacketFate onWrite(Frame frame, Opcode opcode) {
        if (opcode.startsMessage()) {
            message.begin(frame, opcode);
        }
        int bytes = Packet.payloadBytes(frame, opcode);
        if (!mayWrite(opcode, bytes) || (opcode.hasImmediate() && !receive.open())) {
            message.end();
            return PacketFate.DROPPED_MESSAGE;
        }
        if (bytes > 0
                && core.memory.write(
                                message.rkey(),
                                p.protectionDomain,
                                p.qpn,
                                message.address() + message.placed(),
                                frame.slot,
                                Packet.payloadOffset(frame, opcode),
                                bytes,
                                Access.REMOTE_WRITE.bit())
                        != MemoryVerdict.OK) {
            return breakOff(WcStatus.LOC_ACCESS_ERR, "the memory of the peer's WRITE was withdrawn during the message");
        }
        message.place(opcode, bytes);
        if (opcode.hasImmediate()) {
            receive.complete(frame, opcode, WcOpcode.RECV_RDMA_WITH_IMM, message.bytes());
        }
        return PacketFate.ACCEPTED;
    }

    private boolean mayWrite(Opcode opcode, int bytes) {
        return (p.access & Access.REMOTE_WRITE.bit()) != 0
                && opcode.payload().allows(bytes, p.pathMtu)
                && message.bytes() <= Messages.BYTES_MAX
                && (opcode.endsMessage() ? bytes == message.left() : bytes < message.left())
                && (!opcode.startsMessage()
                        || message.bytes() == 0
                        || core.memory.checkRemote(
                                        message.rkey(),
                                        p.protectionDomain,
                                        p.qpn,
                                        message.address(),
                                        message.bytes(),
                                        Access.REMOTE_WRITE.bit())
                                == MemoryVerdict.OK);
    }

    /// Drops the message under way. Its receive is for the next message. A receive of a shared queue ends with an
    /// error, because another queue pair may need it (IBTA 9.9.3.2, fault classes D1 and E).
    private PacketFate breakOff(WcStatus status, String cause) {
        message.end();
        if (receive.isOpen() && receive.isShared()) {
            receive.fail(status, cause);
        }
        return PacketFate.DROPPED_MESSAGE;
    }
}
