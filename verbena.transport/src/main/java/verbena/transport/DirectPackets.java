package verbena.transport;

import java.lang.foreign.ValueLayout;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The packets that a request would have had which was carried out on the peer's memory: those of the request, and
/// those of the answer that bring data. An answer that only acknowledges is left out. For observers
/// ([QueuePairEvents#onDirect]), which pull them. Engine-confined.
///
/// PSNs begin with the next one of the queue pair. The request takes none, so the next packet that is sent has the
/// same PSN. The MSN of an answer is 0, because the peer does not count the request.
///
/// The data is read from this side's memory: a WRITE's is still there, and a READ's is there already.
public final class DirectPackets {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final RequestWriter writer;
    private final Transport transport;

    private SendRequest request = SendRequest.ofNoBytes(SendOperation.WRITE);
    private int firstPsn;
    /// How many PSNs have all their packets.
    private int index;
    /// How many PSNs of a READ or atomic have been asked for.
    private int asked;

    private boolean isAnswer;

    /// @param writer of the packets of requests
    /// @param transport of the packets
    public DirectPackets(QueuePairCore core, RequestWriter writer, Transport transport) {
        this.core = core;
        this.p = core.parameters;
        this.writer = writer;
        this.transport = transport;
    }

    /// Begins with another request, which is done and has not completed yet.
    ///
    /// @param psn of its first packet
    public DirectPackets of(SendRequest done, int psn) {
        request = done;
        firstPsn = psn;
        index = 0;
        asked = 0;
        return this;
    }

    /// How many PSNs have packets that were not pulled.
    public int left() {
        return request.psnCount - index;
    }

    /// Whether the last packet that was pulled is the peer's.
    public boolean isAnswer() {
        return isAnswer;
    }

    /// Fills `frame` with the next packet, addresses included and without an ICRC; false when there is no other, or
    /// the memory of its data is gone.
    public boolean poll(Frame frame) {
        if (left() == 0) {
            return false;
        }
        MemoryVerdict verdict = switch (request.operation) {
            case READ, FETCH_ADD, COMPARE_SWAP -> index == asked ? ask(frame) : answer(frame);
            default -> data(frame);
        };
        return verdict == MemoryVerdict.OK;
    }

    private MemoryVerdict data(Frame frame) {
        isAnswer = false;
        int at = index++;
        return writer.write(frame, request, at, 1, Psn.add(firstPsn, at), left() == 0);
    }

    private MemoryVerdict ask(Frame frame) {
        isAnswer = false;
        int psns = Math.min(left(), request.piecePsns);
        asked += psns;
        return writer.write(frame, request, index, psns, Psn.add(firstPsn, index), true);
    }

    private MemoryVerdict answer(Frame frame) {
        isAnswer = true;
        boolean isRead = request.operation == SendOperation.READ;
        boolean isFirst = index % request.piecePsns == 0;
        Opcode opcode = isRead
                ? Messages.readResponse(transport, isFirst, index + 1 == asked)
                : Opcode.of(transport, Operation.ATOMIC_ACKNOWLEDGE);
        int payload = Packet.payloadOffset(frame, opcode);
        long position = (long) index * p.pathMtu;
        int bytes = (int) Math.min(p.pathMtu, request.bytes() - position);
        MemoryVerdict verdict =
                core.memory.gather(request.scatter, p.protectionDomain, position, frame.slot, payload, bytes);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        long original = isRead ? 0 : frame.slot.get(ValueLayout.JAVA_LONG_UNALIGNED, payload);
        core.begin(frame, opcode, isRead ? bytes : 0, false, false, Psn.add(firstPsn, index), p.qpn, p.path);
        turnRound(frame);
        if (opcode.aethOffset() >= 0) {
            Aeth.write(frame.slot, frame.start + opcode.aethOffset(), Syndrome.ACK, 0);
        }
        if (!isRead) {
            AtomicAckEth.write(frame.slot, frame.start + opcode.atomicAckEthOffset(), original);
        }
        index++;
        return MemoryVerdict.OK;
    }

    /// Exchanges source and destination, because the packet comes from the peer.
    private static void turnRound(Frame frame) {
        long high = frame.sourceHigh;
        long low = frame.sourceLow;
        frame.sourceHigh = frame.destinationHigh;
        frame.sourceLow = frame.destinationLow;
        frame.destinationHigh = high;
        frame.destinationLow = low;
    }
}
