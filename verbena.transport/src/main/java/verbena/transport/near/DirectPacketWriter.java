package verbena.transport.near;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.transport.DirectPackets;
import verbena.transport.Messages;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.RequestWriter;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The packets of one request after the other that needed none. Engine-confined.
///
/// The data is read from this side's memory: a WRITE's is still there, and a READ's is there already.
final class DirectPacketWriter implements DirectPackets {
    /// No packets, before the first request. Nothing writes to it.
    private static final SendRequest NONE = SendRequest.ofNoBytes(SendOperation.WRITE);

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final RequestWriter writer;
    private final Transport transport;

    private SendRequest request = NONE;
    private int psnCount;
    private int firstPsn;
    /// The number of PSNs that have all their packets.
    private int index;
    /// The number of PSNs of a READ or atomic that have been asked for.
    private int asked;

    private boolean isAnswer;
    /// The peer's message that the packets are of, until its data is copied; null for a request of this side.
    private @Nullable Frame message;
    /// The content of the peer's message; made for the first that an observer looks at.
    private @Nullable SendRequest ofPeer;

    /// @param writer of the packets of requests
    /// @param transport of the packets
    DirectPacketWriter(QueuePairCore core, RequestWriter writer, Transport transport) {
        this.core = core;
        this.p = core.parameters;
        this.writer = writer;
        this.transport = transport;
    }

    /// Begins with another request, which is done and has not completed yet.
    ///
    /// @param psn of its first packet
    DirectPackets of(SendRequest done, int psn) {
        message = null;
        begin(done, done.psnCount, psn);
        return this;
    }

    /// Begins with a message of the peer that has arrived.
    ///
    /// @param psn of its first packet
    DirectPackets of(Frame arrived, int psn) {
        message = arrived;
        begin(NONE, Psn.count(DirectMessage.bytes(arrived), p.pathMtu), psn);
        return this;
    }

    private void begin(SendRequest with, int count, int psn) {
        request = with;
        psnCount = count;
        firstPsn = psn;
        index = 0;
        asked = 0;
    }

    @Override
    public int left() {
        return psnCount - index;
    }

    @Override
    public boolean isAnswer() {
        return isAnswer;
    }

    @Override
    public boolean poll(Frame frame) {
        if (left() == 0) {
            return false;
        }
        Frame arrived = message;
        if (arrived != null) {
            request = copy(arrived);
            message = null;
        }
        MemoryVerdict verdict = switch (request.operation) {
            case READ, FETCH_ADD, COMPARE_SWAP -> index == asked ? ask(frame) : answer(frame);
            default -> data(frame);
        };
        return verdict == MemoryVerdict.OK;
    }

    /// Makes a request of the message.
    private SendRequest copy(Frame arrived) {
        SendRequest there = ofPeer == null ? SendRequest.ofInline(DirectMessage.DATA_MAX) : ofPeer;
        ofPeer = there;
        boolean isWrite = DirectMessage.kind(arrived) == DirectMessage.WRITE;
        int flags = DirectMessage.flags(arrived);
        SendOperation plain = isWrite ? SendOperation.WRITE : SendOperation.SEND;
        SendOperation withImmediate = isWrite ? SendOperation.WRITE_WITH_IMMEDIATE : SendOperation.SEND_WITH_IMMEDIATE;
        there.begin((flags & DirectMessage.WITH_IMMEDIATE) != 0 ? withImmediate : plain, 0);
        there.psnCount = psnCount;
        there.solicited = (flags & DirectMessage.SOLICITED) != 0;
        there.immediateOrKey = DirectMessage.immediate(arrived);
        if (isWrite) {
            there.remoteAddress = DirectMessage.address(arrived);
            there.rkey = DirectMessage.rkey(arrived);
        }
        if ((flags & DirectMessage.PLACED) != 0) {
            there.scatter.add(there.rkey, there.remoteAddress, DirectMessage.placed(arrived));
            return there;
        }
        there.isInline = true;
        there.inlineBytes = DirectMessage.dataBytes(arrived);
        MemorySegment.copy(
                arrived.slot, DirectMessage.dataOffset(arrived), there.inline, 0, DirectMessage.dataBytes(arrived));
        return there;
    }

    private MemoryVerdict data(Frame frame) {
        isAnswer = request == ofPeer;
        int at = index++;
        MemoryVerdict verdict = writer.write(frame, request, at, 1, Psn.add(firstPsn, at), left() == 0);
        if (isAnswer) {
            Bth.setDestinationQp(frame.slot, frame.start, p.qpn);
            turnRound(frame);
        }
        return verdict;
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
