package verbena.transport.rc;

import verbena.transport.Counter;
import verbena.transport.Messages;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// Writes the next packet of a response into a frame (IBTA 9.7.5.1). Engine-confined.
final class ResponseWriter {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Transport transport;
    // Looked up once.
    private final Opcode acknowledge;
    private final Opcode atomicAcknowledge;
    private final Opcode readResponseOnly;

    /// @param transport of the packets
    ResponseWriter(QueuePairCore core, Transport transport) {
        this.core = core;
        this.p = core.parameters;
        this.transport = transport;
        this.acknowledge = Opcode.of(transport, Operation.ACKNOWLEDGE);
        this.atomicAcknowledge = Opcode.of(transport, Operation.ATOMIC_ACKNOWLEDGE);
        this.readResponseOnly = Opcode.of(transport, Operation.READ_RESPONSE_ONLY);
    }

    /// Writes packet [OwedResponses.Response#packet] of `response`.
    ///
    /// @return what forbids to read the memory that a READ asks for; the frame holds no packet then
    MemoryVerdict write(Frame frame, OwedResponses.Response response) {
        switch (response.kind) {
            case READ -> {
                return writeRead(frame, response);
            }
            case ACKNOWLEDGE -> begin(frame, acknowledge, 0, response.psn, response.syndrome, response.msn);
            case ATOMIC -> {
                begin(frame, atomicAcknowledge, 0, response.psn, Syndrome.ACK, response.msn);
                AtomicAckEth.write(frame.slot, frame.start + atomicAcknowledge.atomicAckEthOffset(), response.original);
            }
            // ATOMIC WRITE and FLUSH are answered like a READ of nothing (IBTA A19).
            case EMPTY -> begin(frame, readResponseOnly, 0, response.psn, Syndrome.ACK, response.msn);
        }
        return MemoryVerdict.OK;
    }

    /// Writes which packets are kept behind the one that is missing.
    void writeSelective(Frame frame, int missing, int msn, EarlyPackets early) {
        core.begin(frame, Opcode.SELECTIVE_ACK, Opcode.SELECTIVE_ACK.payload().bytesMax(), false, false, missing);
        Aeth.write(frame.slot, frame.start + Opcode.SELECTIVE_ACK.aethOffset(), Syndrome.NAK_SEQUENCE, msn);
        early.write(frame.slot, Packet.payloadOffset(frame, Opcode.SELECTIVE_ACK), missing);
    }

    private MemoryVerdict writeRead(Frame frame, OwedResponses.Response response) {
        int index = response.packet;
        Opcode opcode = Messages.readResponse(transport, index == 0, index + 1 == response.psnCount);
        long position = (long) index * p.pathMtu;
        int bytes = (int) Math.min(p.pathMtu, response.bytes - position);
        if (bytes > 0) {
            MemoryVerdict verdict = core.memory.read(
                    response.rkey,
                    response.protectionDomain,
                    p.qpn,
                    response.address + position,
                    frame.slot,
                    Packet.payloadOffset(frame, opcode),
                    bytes,
                    Access.REMOTE_READ.bit());
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
        }
        begin(frame, opcode, bytes, Psn.add(response.psn, index), Syndrome.ACK, response.msn);
        return MemoryVerdict.OK;
    }

    private void begin(Frame frame, Opcode opcode, int bytes, int psn, int syndrome, int msn) {
        core.begin(frame, opcode, bytes, false, false, psn);
        if (opcode.aethOffset() >= 0) { // a READ_RESPONSE_MIDDLE has none
            Aeth.write(frame.slot, frame.start + opcode.aethOffset(), syndrome, msn);
        }
    }

    /// Returns the counter of a NAK that refuses.
    static Counter counterOf(int syndrome) {
        return switch (syndrome) {
            case Syndrome.NAK_INVALID_REQUEST -> Counter.SENT_NAK_INVALID_REQUEST;
            case Syndrome.NAK_REMOTE_ACCESS -> Counter.SENT_NAK_ACCESS;
            default -> Counter.SENT_NAK_OPERATIONAL;
        };
    }
}
