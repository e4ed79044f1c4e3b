package verbena.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Transport;

/// Writes one packet of a request into a frame (IBTA 9.7.2). What is written depends on the request, the packet's
/// index and its PSN alone, so a packet can be written again at any time. Engine-confined.
///
/// What the packets of one transport carry besides is added where [#begin] is overridden.
public class RequestWriter {
    protected final QueuePairCore core;
    protected final QueuePairParameters p;
    private final Transport transport;

    /// @param transport of the packets
    public RequestWriter(QueuePairCore core, Transport transport) {
        this.core = core;
        this.transport = transport;
        this.p = core.parameters;
    }

    /// Returns the number of PSNs that a request takes: one for each packet of a message, or of a READ's answer.
    public final int psnCount(SendRequest request) {
        return request.operation.isAtomic() ? 1 : Psn.count(request.bytes(), p.pathMtu);
    }

    /// Writes the headers that depend on nothing but the transport, and the length; the other headers follow, and
    /// the payload may be there already.
    protected void begin(
            Frame frame,
            SendRequest request,
            Opcode opcode,
            int payloadBytes,
            boolean solicited,
            boolean ask,
            int psn) {
        core.begin(frame, opcode, payloadBytes, solicited, ask, psn);
    }

    /// Writes packet `index` of `request`.
    ///
    /// @param psns how many PSNs it takes: more than one only for a READ, which asks for so many packets
    /// @param ask whether data asks for an ACK; everything else always does
    /// @return what forbids to read the data; the frame holds no packet then
    public final MemoryVerdict write(Frame frame, SendRequest request, int index, int psns, int psn, boolean ask) {
        switch (request.operation) {
            case READ -> writeRead(frame, request, index, psns, psn);
            case FETCH_ADD, COMPARE_SWAP -> writeAtomic(frame, request, psn);
            case ATOMIC_WRITE -> writeAtomicWrite(frame, request, psn);
            case FLUSH -> writeFlush(frame, request, psn);
            default -> {
                return writeData(frame, request, index, psn, ask);
            }
        }
        return MemoryVerdict.OK;
    }

    private void writeRead(Frame frame, SendRequest request, int index, int psns, int psn) {
        Opcode opcode = Opcode.of(transport, Operation.READ_REQUEST);
        long skipped = (long) index * p.pathMtu;
        boolean last = index + psns == request.psnCount;
        long bytes = last ? request.bytes() - skipped : (long) psns * p.pathMtu;
        begin(frame, request, opcode, 0, false, true, psn);
        Reth.write(frame.slot, frame.start + opcode.rethOffset(), request.remoteAddress + skipped, request.rkey, bytes);
    }

    private void writeAtomic(Frame frame, SendRequest request, int psn) {
        Opcode opcode = Messages.opcode(transport, request.operation, true, true);
        boolean swap = request.operation == SendOperation.COMPARE_SWAP;
        begin(frame, request, opcode, 0, false, true, psn);
        AtomicEth.write(
                frame.slot,
                frame.start + opcode.atomicEthOffset(),
                request.remoteAddress,
                request.rkey,
                swap ? request.swap : request.operand,
                swap ? request.operand : 0);
    }

    /// Writes an ATOMIC WRITE; the value travels as it lies in this host's memory (IBTA A19).
    private void writeAtomicWrite(Frame frame, SendRequest request, int psn) {
        Opcode opcode = Opcode.RC_ATOMIC_WRITE;
        begin(frame, request, opcode, Long.BYTES, false, true, psn);
        Reth.write(frame.slot, frame.start + opcode.rethOffset(), request.remoteAddress, request.rkey, Long.BYTES);
        frame.slot.set(ValueLayout.JAVA_LONG_UNALIGNED, Packet.payloadOffset(frame, opcode), request.operand);
    }

    private void writeFlush(Frame frame, SendRequest request, int psn) {
        Opcode opcode = Opcode.RC_FLUSH;
        begin(frame, request, opcode, 0, false, true, psn);
        Feth.write(frame.slot, frame.start + opcode.fethOffset(), request.flushSelectivity, request.flushPlacement);
        Reth.write(
                frame.slot, frame.start + opcode.rethOffset(), request.remoteAddress, request.rkey, request.flushBytes);
    }

    private MemoryVerdict writeData(Frame frame, SendRequest request, int index, int psn, boolean ask) {
        boolean last = index + 1 == request.psnCount;
        Opcode opcode = Messages.opcode(transport, request.operation, index == 0, last);
        long position = (long) index * p.pathMtu;
        int bytes = (int) Math.min(p.pathMtu, request.bytes() - position);
        int payload = Packet.payloadOffset(frame, opcode);
        if (request.isInline) {
            MemorySegment.copy(request.inline, position, frame.slot, payload, bytes);
        } else {
            MemoryVerdict verdict =
                    core.memory.gather(request.scatter, p.protectionDomain, position, frame.slot, payload, bytes);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
        }
        boolean solicited = last && request.solicited && (opcode.isSend() || opcode.hasImmediate());
        begin(frame, request, opcode, bytes, solicited, ask, psn);
        if (opcode.rethOffset() >= 0) {
            Reth.write(
                    frame.slot,
                    frame.start + opcode.rethOffset(),
                    request.remoteAddress,
                    request.rkey,
                    request.bytes());
        }
        if (opcode.hasImmediate()) {
            ImmDt.write(frame.slot, frame.start + opcode.immediateOffset(), request.immediateOrKey);
        }
        if (opcode.hasInvalidate()) {
            Ieth.write(frame.slot, frame.start + opcode.iethOffset(), request.immediateOrKey);
        }
        return MemoryVerdict.OK;
    }
}
