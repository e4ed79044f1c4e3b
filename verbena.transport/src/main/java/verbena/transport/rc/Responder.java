package verbena.transport.rc;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import verbena.transport.Counter;
import verbena.transport.Messages;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The receiving half of a reliable connection (IBTA 9.7.4, 9.7.5 and 9.9.3). A request goes down the standard's
/// checklist: PSN, sequence of opcodes, rights of the queue pair, resources, length, key; then it is carried out,
/// completed and acknowledged. The first check that fails decides the answer.
class Responder {
    private static final int FLUSH_RIGHTS = Access.FLUSH_GLOBAL.bit() | Access.FLUSH_PERSISTENT.bit();

    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final HalfOwner owner;
    /// Of a SEND, and of a WRITE with immediate from its last packet on.
    private final Receiving receive;

    /// The PSN that comes next.
    private int expected;
    /// Messages completed.
    private int msn;
    /// A NAK for the gap at `expected` has been sent; what comes ahead of it is dropped in silence.
    private boolean gapReported;
    private boolean established;
    /// A packet that fits has come since RTR.
    private boolean heard;

    private Message message = Message.NONE;
    // of a SEND
    private long received;
    // of a WRITE
    private long address;
    private long remaining;
    private long messageBytes;
    private int rkey;

    private static final ReplaySlot[] NO_REPLAY = {};

    /// Made when the first request comes that needs one: many peers never READ.
    private ReplaySlot[] replay = NO_REPLAY;
    private int replaySize;
    private int replayNext;
    private Answers answers = new Answers(4);

    private final Transport transport;
    private final Opcode acknowledge;

    /// @param transport of the packets, which have the same operations on all that are reliable and connected
    Responder(QueuePairCore core, Transport transport, HalfOwner owner, Receiving receive) {
        this.core = core;
        this.p = core.parameters;
        this.owner = owner;
        this.receive = receive;
        this.transport = transport;
        this.acknowledge = Opcode.of(transport, Operation.ACKNOWLEDGE);
    }

    // ---- life

    /// The queue pair has entered RTR.
    void start() {
        expected = p.rqPsn;
        msn = 0;
        gapReported = false;
        established = false;
        heard = false;
        resize();
    }

    /// The number of READs that the peer may have outstanding is set, or has changed.
    void resize() {
        int size = Math.max(1, p.readsServedMax);
        if (replaySize == size) {
            return;
        }
        replaySize = size;
        replay = NO_REPLAY;
        replayNext = 0;
        // Between two READs there is at most one merged ACK, and at the end a NAK; as much again for replays.
        answers = new Answers(4 * p.readsServedMax + 4);
    }

    /// RESET: everything is forgotten, nothing completes.
    void reset() {
        message = Message.NONE;
        answers.clear();
        for (ReplaySlot slot : replay) {
            slot.isValid = false;
        }
        receive.discard();
    }

    /// ERR: a receive in use and all that are posted complete as flushed, in order.
    ///
    /// @param keepAnswers whether what is owed, a NAK at its end, still goes out
    void flush(boolean keepAnswers) {
        if (!keepAnswers) {
            answers.clear();
        }
        message = Message.NONE;
        receive.flush();
    }

    // ---- arrivals

    PacketFate onRequest(Frame frame, Opcode opcode, long now) {
        if (p.state != QpState.RTR && p.state != QpState.RTS && p.state != QpState.SQD) {
            return PacketFate.DROPPED_STATE;
        }
        if (p.state == QpState.RTR && !established) {
            established = true;
            core.events.onAsyncEvent(AsyncEvent.Type.COMM_EST);
        }
        int psn = Bth.psn(frame.slot, frame.start);
        int ahead = Psn.distance(expected, psn);
        if (ahead > 0) {
            return onGap();
        }
        return ahead < 0 ? onDuplicate(frame, opcode, psn) : onExpected(frame, opcode, psn);
    }

    /// IBTA C9-115: NAK the expected PSN, once per gap.
    private PacketFate onGap() {
        if (!gapReported && acknowledge(Syndrome.NAK_SEQUENCE, expected)) {
            gapReported = true;
            core.counters.count(Counter.SENT_NAK_SEQUENCE);
        }
        return PacketFate.OUT_OF_SEQUENCE;
    }

    /// The packet that comes next.
    PacketFate onExpected(Frame frame, Opcode opcode, int psn) {
        if (!heard) {
            heard = true;
            core.events.onFirstPacket(false);
        }
        if (!fitsSequence(opcode)) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, opcode + " does not follow what came before it");
        }
        if (!isEnabled(opcode)) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, opcode + " is not enabled by the queue pair's access");
        }
        // Answers fill up only when the peer ignores its limits or we cannot send; dropping is a loss like any other.
        if (!answers.hasRoom(2)) {
            return PacketFate.DROPPED_BUSY;
        }
        gapReported = false;
        if (opcode.isSend()) {
            return onSend(frame, opcode, psn);
        }
        if (opcode.isWrite()) {
            return onWrite(frame, opcode, psn);
        }
        if (opcode.isRead()) {
            return onRead(frame, opcode, psn);
        }
        if (opcode.isAtomic()) {
            return onAtomic(frame, opcode, psn);
        }
        if (opcode.isAtomicWrite()) {
            return onAtomicWrite(frame, opcode, psn);
        }
        if (opcode.isFlush()) {
            return onFlush(frame, opcode, psn);
        }
        return refuse(psn, Syndrome.NAK_INVALID_REQUEST, opcode + " is not supported");
    }

    /// IBTA 9.7.4.1.2: First and Only start a message when none is open; Middle and Last continue one of their
    /// kind.
    private boolean fitsSequence(Opcode opcode) {
        if (opcode.isSend() || opcode.isWrite()) {
            Message kind = opcode.isSend() ? Message.SEND : Message.WRITE;
            return opcode.startsMessage() ? message == Message.NONE : message == kind;
        }
        return message == Message.NONE;
    }

    /// IBTA 9.7.4.1.4: what the queue pair does not enable is an invalid request, whatever the region says.
    private boolean isEnabled(Opcode opcode) {
        int right = opcode.isWrite() || opcode.isAtomicWrite()
                ? Access.REMOTE_WRITE.bit()
                : opcode.isRead() ? Access.REMOTE_READ.bit() : opcode.isAtomic() ? Access.REMOTE_ATOMIC.bit() : 0;
        return opcode.isFlush() ? (p.access & FLUSH_RIGHTS) != 0 : (p.access & right) == right;
    }

    // ---- SEND

    private PacketFate onSend(Frame frame, Opcode opcode, int psn) {
        if (opcode.startsMessage()) {
            if (!receive.open()) {
                return notReady(psn);
            }
            received = 0;
            message = Message.SEND;
        }
        int bytes = Packet.payloadBytes(frame, opcode);
        if (!opcode.payload().allows(bytes, p.pathMtu)) {
            return refuse(
                    psn, Syndrome.NAK_INVALID_REQUEST, opcode + " of " + bytes + " bytes at path MTU " + p.pathMtu);
        }
        if (received + bytes > receive.scatter().bytes) {
            String cause = "the message is longer than the receive of " + receive.scatter().bytes + " bytes";
            failReceive(WcStatus.LOC_LEN_ERR, cause);
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, cause);
        }
        MemoryVerdict verdict = core.memory.scatter(
                receive.scatter(), p.receiveDomain(), received, frame.slot, Packet.payloadOffset(frame, opcode), bytes);
        if (verdict != MemoryVerdict.OK) {
            String cause = "the receive's " + core.memory.explain(receive.scatter(), p.receiveDomain(), true, verdict);
            failReceive(WcStatus.LOC_PROT_ERR, cause);
            return refuse(psn, Syndrome.NAK_REMOTE_OPERATIONAL, cause);
        }
        received += bytes;
        if (opcode.hasInvalidate()) {
            int key = Ieth.rkey(frame.slot, frame.start + opcode.iethOffset());
            MemoryVerdict withdrawn = core.memory.invalidate(key, p.protectionDomain, p.qpn);
            if (withdrawn != MemoryVerdict.OK) {
                suspect(withdrawn, key);
                String cause =
                        "SEND with invalidate of key 0x" + Integer.toHexString(key) + ": " + withdrawn.explanation();
                return endInSilence(psn, cause);
            }
        }
        if (opcode.endsMessage()) {
            message = Message.NONE;
            receive.complete(frame, opcode, WcOpcode.RECV, received);
            msn = Psn.next(msn);
        }
        return accept(frame, psn);
    }

    // ---- WRITE

    private PacketFate onWrite(Frame frame, Opcode opcode, int psn) {
        int bytes = Packet.payloadBytes(frame, opcode);
        if (!opcode.payload().allows(bytes, p.pathMtu)) {
            return refuse(
                    psn, Syndrome.NAK_INVALID_REQUEST, opcode + " of " + bytes + " bytes at path MTU " + p.pathMtu);
        }
        long at = address;
        long left = remaining;
        int key = rkey;
        long total = messageBytes;
        if (opcode.startsMessage()) {
            int reth = frame.start + opcode.rethOffset();
            at = Reth.virtualAddress(frame.slot, reth);
            key = Reth.rkey(frame.slot, reth);
            total = Reth.dmaLength(frame.slot, reth);
            left = total;
        }
        if (total > Messages.BYTES_MAX || (opcode.endsMessage() ? bytes != left : bytes >= left)) {
            return refuse(
                    psn,
                    Syndrome.NAK_INVALID_REQUEST,
                    opcode + " of " + bytes + " bytes where " + left + " of " + total + " are left");
        }
        if (opcode.startsMessage() && total > 0) {
            MemoryVerdict verdict =
                    core.memory.checkRemote(key, p.protectionDomain, p.qpn, at, total, Access.REMOTE_WRITE.bit());
            if (verdict != MemoryVerdict.OK) {
                if (opcode.hasImmediate()) {
                    receive.open(); // tells of the refusal (IBTA 11.6.2, local access error), if one is posted
                }
                return refuseAccess(psn, "WRITE", verdict, key, at, total);
            }
        }
        // A receive is taken at the last packet only, before anything of that packet is placed.
        if (opcode.hasImmediate()) {
            if (!receive.open()) {
                return notReady(psn);
            }
        }
        if (bytes > 0) {
            MemoryVerdict verdict = core.memory.write(
                    key,
                    p.protectionDomain,
                    p.qpn,
                    at,
                    frame.slot,
                    Packet.payloadOffset(frame, opcode),
                    bytes,
                    Access.REMOTE_WRITE.bit());
            if (verdict != MemoryVerdict.OK) {
                return refuseAccess(psn, "WRITE", verdict, key, at, bytes);
            }
        }
        address = at + bytes;
        remaining = left - bytes;
        rkey = key;
        messageBytes = total;
        message = Message.WRITE;
        if (opcode.endsMessage()) {
            message = Message.NONE;
            if (opcode.hasImmediate()) {
                receive.complete(frame, opcode, WcOpcode.RECV_RDMA_WITH_IMM, total);
            }
            msn = Psn.next(msn);
        }
        return accept(frame, psn);
    }

    // ---- READ and atomics

    private PacketFate onRead(Frame frame, Opcode opcode, int psn) {
        int reth = frame.start + opcode.rethOffset();
        long at = Reth.virtualAddress(frame.slot, reth);
        int key = Reth.rkey(frame.slot, reth);
        long bytes = Reth.dmaLength(frame.slot, reth);
        if (answers.resources() >= p.readsServedMax) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, tooMany());
        }
        if (bytes > Messages.BYTES_MAX) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, "READ of " + bytes + " bytes, at most 2^31 are allowed");
        }
        if (bytes > 0) {
            MemoryVerdict verdict =
                    core.memory.checkRemote(key, p.protectionDomain, p.qpn, at, bytes, Access.REMOTE_READ.bit());
            if (verdict != MemoryVerdict.OK) {
                return refuseAccess(psn, "READ", verdict, key, at, bytes);
            }
        }
        ReplaySlot slot = nextReplaySlot();
        slot.kind = Answers.Kind.READ;
        slot.psn = psn;
        slot.psnCount = Psn.count(bytes, p.pathMtu);
        slot.address = at;
        slot.bytes = bytes;
        slot.rkey = key;
        slot.protectionDomain = p.protectionDomain;
        msn = Psn.next(msn);
        expected = Psn.add(psn, slot.psnCount);
        answerRead(slot, psn, slot.psnCount, at, bytes, false);
        return PacketFate.ACCEPTED;
    }

    private PacketFate onAtomic(Frame frame, Opcode opcode, int psn) {
        int eth = frame.start + opcode.atomicEthOffset();
        long at = AtomicEth.virtualAddress(frame.slot, eth);
        int key = AtomicEth.rkey(frame.slot, eth);
        if (answers.resources() >= p.readsServedMax) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, tooMany());
        }
        if ((at & 7) != 0) {
            return refuse(
                    psn,
                    Syndrome.NAK_INVALID_REQUEST,
                    opcode + " at 0x" + Long.toHexString(at) + ", which is no multiple of 8");
        }
        MemoryVerdict verdict =
                core.memory.checkRemote(key, p.protectionDomain, p.qpn, at, Long.BYTES, Access.REMOTE_ATOMIC.bit());
        if (verdict == MemoryVerdict.OK) {
            long operand = AtomicEth.swapOrAdd(frame.slot, eth);
            verdict = opcode.operation() == Operation.FETCH_ADD
                    ? core.memory.fetchAdd(key, at, operand)
                    : core.memory.compareSwap(key, at, AtomicEth.compare(frame.slot, eth), operand);
        }
        if (verdict != MemoryVerdict.OK) {
            return refuseAccess(psn, "atomic", verdict, key, at, Long.BYTES);
        }
        ReplaySlot slot = nextReplaySlot();
        slot.kind = Answers.Kind.ATOMIC;
        slot.psn = psn;
        slot.psnCount = 1;
        slot.original = core.memory.original();
        msn = Psn.next(msn);
        expected = Psn.next(psn);
        answerAtomic(slot, false);
        return PacketFate.ACCEPTED;
    }

    private PacketFate onAtomicWrite(Frame frame, Opcode opcode, int psn) {
        int reth = frame.start + opcode.rethOffset();
        long at = Reth.virtualAddress(frame.slot, reth);
        int key = Reth.rkey(frame.slot, reth);
        if (answers.resources() >= p.readsServedMax) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, tooMany());
        }
        long bytes = Reth.dmaLength(frame.slot, reth);
        if ((at & 7) != 0 || bytes != Long.BYTES || !opcode.payload().allows(Packet.payloadBytes(frame, opcode))) {
            return refuse(
                    psn,
                    Syndrome.NAK_INVALID_REQUEST,
                    opcode + " of " + bytes + " bytes at 0x" + Long.toHexString(at) + "; it has 8, at a multiple of 8");
        }
        MemoryVerdict verdict =
                core.memory.checkRemote(key, p.protectionDomain, p.qpn, at, Long.BYTES, Access.REMOTE_WRITE.bit());
        if (verdict == MemoryVerdict.OK) {
            long value = frame.slot.get(ValueLayout.JAVA_LONG_UNALIGNED, Packet.payloadOffset(frame, opcode));
            verdict = core.memory.atomicWrite(key, at, value);
        }
        return verdict == MemoryVerdict.OK
                ? answerEmpty(psn)
                : refuseAccess(psn, "ATOMIC WRITE", verdict, key, at, Long.BYTES);
    }

    /// Everything before it has been placed, because that happens on arrival; what is left is to see it through.
    private PacketFate onFlush(Frame frame, Opcode opcode, int psn) {
        int feth = frame.start + opcode.fethOffset();
        int reth = frame.start + opcode.rethOffset();
        int placement = Feth.placement(frame.slot, feth);
        int selectivity = Feth.selectivity(frame.slot, feth);
        if (answers.resources() >= p.readsServedMax) {
            return refuse(psn, Syndrome.NAK_INVALID_REQUEST, tooMany());
        }
        if (placement == 0
                || placement > (Feth.GLOBAL_VISIBILITY | Feth.PERSISTENCE)
                || selectivity > Feth.WHOLE_REGION) {
            return refuse(
                    psn,
                    Syndrome.NAK_INVALID_REQUEST,
                    opcode + " with placement " + placement + " and selectivity " + selectivity);
        }
        int right = ((placement & Feth.GLOBAL_VISIBILITY) != 0 ? Access.FLUSH_GLOBAL.bit() : 0)
                | ((placement & Feth.PERSISTENCE) != 0 ? Access.FLUSH_PERSISTENT.bit() : 0);
        if ((p.access & right) != right) {
            return refuse(
                    psn,
                    Syndrome.NAK_INVALID_REQUEST,
                    opcode + " with placement " + placement + " is not enabled by the queue pair's access");
        }
        long at = Reth.virtualAddress(frame.slot, reth);
        int key = Reth.rkey(frame.slot, reth);
        long bytes = Reth.dmaLength(frame.slot, reth);
        boolean whole = selectivity == Feth.WHOLE_REGION;
        MemoryVerdict verdict = core.memory.flush(key, p.protectionDomain, p.qpn, at, bytes, whole, right);
        return verdict == MemoryVerdict.OK ? answerEmpty(psn) : refuseAccess(psn, "FLUSH", verdict, key, at, bytes);
    }

    private PacketFate answerEmpty(int psn) {
        ReplaySlot slot = nextReplaySlot();
        slot.kind = Answers.Kind.EMPTY;
        slot.psn = psn;
        slot.psnCount = 1;
        msn = Psn.next(msn);
        expected = Psn.next(psn);
        answerEmpty(psn, false);
        return PacketFate.ACCEPTED;
    }

    private void answerEmpty(int psn, boolean isReplay) {
        Answers.Answer answer = answers.add(Answers.Kind.EMPTY, isReplay);
        answer.psn = psn;
        answer.msn = msn;
    }

    private String tooMany() {
        return "more than max_dest_rd_atomic (" + p.readsServedMax + ") READs and atomics at once";
    }

    private ReplaySlot nextReplaySlot() {
        if (replay.length == 0) {
            replay = new ReplaySlot[replaySize];
            Arrays.setAll(replay, _ -> new ReplaySlot());
        }
        ReplaySlot slot = replay[replayNext];
        replayNext = (replayNext + 1) % replay.length;
        slot.isValid = true;
        return slot;
    }

    private void answerRead(ReplaySlot slot, int psn, int psnCount, long at, long bytes, boolean isReplay) {
        Answers.Answer answer = answers.add(Answers.Kind.READ, isReplay);
        answer.psn = psn;
        answer.psnCount = psnCount;
        answer.msn = msn;
        answer.address = at;
        answer.bytes = bytes;
        answer.rkey = slot.rkey;
        answer.protectionDomain = slot.protectionDomain;
    }

    private void answerAtomic(ReplaySlot slot, boolean isReplay) {
        Answers.Answer answer = answers.add(Answers.Kind.ATOMIC, isReplay);
        answer.psn = slot.psn;
        answer.msn = msn;
        answer.original = slot.original;
    }

    // ---- duplicates (IBTA 9.7.5.1.3)

    private PacketFate onDuplicate(Frame frame, Opcode opcode, int psn) {
        if (!answers.hasRoom(2)) {
            return PacketFate.DROPPED_BUSY;
        }
        if (opcode.isRead()) {
            return onDuplicateRead(frame, opcode, psn);
        }
        if (opcode.isAtomic()) {
            ReplaySlot slot = replaySlot(psn);
            if (slot == null || slot.kind != Answers.Kind.ATOMIC) {
                return PacketFate.DROPPED_NO_REPLAY;
            }
            answerAtomic(slot, true);
            return PacketFate.DUPLICATE;
        }
        if (opcode.isAtomicWrite() || opcode.isFlush()) {
            ReplaySlot slot = replaySlot(psn);
            if (slot == null || slot.kind != Answers.Kind.EMPTY) {
                return PacketFate.DROPPED_NO_REPLAY;
            }
            answerEmpty(psn, true);
            return PacketFate.DUPLICATE;
        }
        // Not carried out again; the newest acknowledgement says more than one of its own would.
        sendAck(Psn.previous(expected));
        return PacketFate.DUPLICATE;
    }

    /// A duplicate READ may ask for the rest of the first one; it is read again from memory as that is now.
    private PacketFate onDuplicateRead(Frame frame, Opcode opcode, int psn) {
        int reth = frame.start + opcode.rethOffset();
        long at = Reth.virtualAddress(frame.slot, reth);
        int key = Reth.rkey(frame.slot, reth);
        long bytes = Reth.dmaLength(frame.slot, reth);
        ReplaySlot slot = replaySlot(psn);
        if (slot == null
                || slot.kind != Answers.Kind.READ
                || slot.rkey != key
                || bytes > slot.bytes
                || Long.compareUnsigned(at - slot.address, slot.bytes - bytes) > 0) {
            return PacketFate.DROPPED_NO_REPLAY;
        }
        int psnCount = Psn.count(bytes, p.pathMtu);
        for (int i = 0; i < answers.size(); i++) {
            Answers.Answer waiting = answers.at(i);
            if (waiting.kind == Answers.Kind.READ && Psn.isWithin(psn, waiting.psn, waiting.psnCount)) {
                int index = Psn.distance(waiting.psn, psn);
                if (index < waiting.packet) {
                    // Once more from there, in its turn: what was asked for after it still follows it.
                    waiting.packet = index;
                    waiting.isReplay = true;
                }
                return PacketFate.DUPLICATE;
            }
        }
        answerRead(slot, psn, psnCount, at, bytes, true);
        return PacketFate.DUPLICATE;
    }

    private @org.jspecify.annotations.Nullable ReplaySlot replaySlot(int psn) {
        for (ReplaySlot slot : replay) {
            if (slot.isValid && Psn.isWithin(psn, slot.psn, slot.psnCount)) {
                return slot;
            }
        }
        return null;
    }

    // ---- verdicts

    private PacketFate accept(Frame frame, int psn) {
        expected = Psn.next(psn);
        if (Bth.ackRequest(frame.slot, frame.start)) {
            sendAck(psn);
        }
        return PacketFate.ACCEPTED;
    }

    private void sendAck(int psn) {
        answers.acknowledge(psn, msn, Syndrome.ACK, true);
    }

    private boolean acknowledge(int syndrome, int psn) {
        return answers.acknowledge(psn, msn, syndrome, false);
    }

    /// IBTA 9.7.5.2.8: the PSN stays expected, and what follows it is dropped in silence.
    private PacketFate notReady(int psn) {
        if (acknowledge(Syndrome.rnrNak(p.minRnrTimerCode), psn)) {
            core.counters.count(Counter.SENT_NAK_RNR);
        }
        gapReported = true;
        return PacketFate.RECEIVER_NOT_READY;
    }

    private PacketFate refuseAccess(int psn, String operation, MemoryVerdict verdict, int key, long at, long bytes) {
        String cause = "the peer's " + operation + " of " + bytes + " bytes at 0x" + Long.toHexString(at)
                + " with rkey 0x" + Integer.toHexString(key) + ": " + verdict.explanation();
        if (receive.isOpen()) {
            failReceive(WcStatus.LOC_ACCESS_ERR, cause);
        }
        suspect(verdict, key);
        return refuse(psn, Syndrome.NAK_REMOTE_ACCESS, cause);
    }

    /// A peer that keeps to what it was told does not ask for this, unless it is late.
    private void suspect(MemoryVerdict verdict, int key) {
        if (p.state != QpState.ERR && verdict != MemoryVerdict.GONE && !core.memory.isResting(key)) {
            core.events.onAccessError();
        }
    }

    /// NAKs the request and ends the connection (IBTA 9.9.3.1, fault classes B to D). A receive in use tells of
    /// it; if there is none, an event does.
    final PacketFate refuse(int psn, int syndrome, String cause) {
        boolean told = receiveFailed;
        receiveFailed = false;
        if (receive.isOpen()) {
            failReceive(WcStatus.REM_INV_REQ_ERR, cause);
            receiveFailed = false;
            told = true;
        }
        acknowledge(syndrome, psn);
        core.counters.count(
                switch (syndrome) {
                    case Syndrome.NAK_INVALID_REQUEST -> Counter.SENT_NAK_INVALID_REQUEST;
                    case Syndrome.NAK_REMOTE_ACCESS -> Counter.SENT_NAK_ACCESS;
                    default -> Counter.SENT_NAK_OPERATIONAL;
                });
        if (p.state == QpState.ERR) {
            return PacketFate.REFUSED; // an answer that was still owed: what ended the connection has been told
        }
        if (!told) {
            core.events.onAsyncEvent(
                    syndrome == Syndrome.NAK_REMOTE_ACCESS
                            ? AsyncEvent.Type.QP_ACCESS_ERR
                            : AsyncEvent.Type.QP_REQ_ERR);
        }
        owner.fail("refused the peer's request with PSN " + psn + ": " + cause, true);
        return PacketFate.REFUSED;
    }

    /// Fault class J, which only SEND with invalidate has (IBTA 9.9.3.1): the receive ends with an error and
    /// the queue pair in ERR; no NAK is sent, nor an ACK (decision 0065).
    private PacketFate endInSilence(int psn, String cause) {
        receive.fail(WcStatus.REM_INV_REQ_ERR, cause);
        owner.fail("refused the peer's request with PSN " + psn + ": " + cause, true);
        return PacketFate.REFUSED;
    }

    /// A receive has just ended with an error that tells of the refusal that follows.
    private boolean receiveFailed;

    private void failReceive(WcStatus status, String cause) {
        receiveFailed = true;
        receive.fail(status, cause);
    }

    // ---- departures

    boolean poll(Frame frame) {
        while (!answers.isEmpty()) {
            Answers.Answer answer = answers.first();
            switch (answer.kind) {
                case ACKNOWLEDGE -> {
                    sendAcknowledge(frame, answer);
                    answers.removeFirst();
                    return true;
                }
                case ATOMIC -> {
                    sendAtomic(frame, answer);
                    answers.removeFirst();
                    return true;
                }
                case EMPTY -> {
                    sendEmpty(frame, answer);
                    answers.removeFirst();
                    return true;
                }
                case READ -> {
                    if (answer.packet < answer.psnCount) {
                        return sendRead(frame, answer);
                    }
                    answers.removeFirst();
                }
            }
        }
        return false;
    }

    private void sendAcknowledge(Frame frame, Answers.Answer answer) {
        core.begin(frame, acknowledge, 0, false, false, answer.psn);
        Aeth.write(frame.slot, frame.start + acknowledge.aethOffset(), answer.syndrome, answer.msn);
        if (answer.syndrome == Syndrome.ACK) {
            core.counters.count(Counter.SENT_ACKS);
        }
    }

    private void sendAtomic(Frame frame, Answers.Answer answer) {
        Opcode opcode = Opcode.of(transport, Operation.ATOMIC_ACKNOWLEDGE);
        core.begin(frame, opcode, 0, false, false, answer.psn);
        Aeth.write(frame.slot, frame.start + opcode.aethOffset(), Syndrome.ACK, answer.msn);
        AtomicAckEth.write(frame.slot, frame.start + opcode.atomicAckEthOffset(), answer.original);
    }

    /// ATOMIC WRITE and FLUSH are answered like a READ of nothing (IBTA A19).
    private void sendEmpty(Frame frame, Answers.Answer answer) {
        Opcode opcode = Opcode.of(transport, Operation.READ_RESPONSE_ONLY);
        core.begin(frame, opcode, 0, false, false, answer.psn);
        Aeth.write(frame.slot, frame.start + opcode.aethOffset(), Syndrome.ACK, answer.msn);
    }

    private boolean sendRead(Frame frame, Answers.Answer answer) {
        int index = answer.packet++;
        boolean last = index + 1 == answer.psnCount;
        Opcode opcode = Messages.readResponse(transport, index == 0, last);
        long position = (long) index * p.pathMtu;
        int bytes = (int) Math.min(p.pathMtu, answer.bytes - position);
        int psn = Psn.add(answer.psn, index);
        if (bytes > 0) {
            MemoryVerdict verdict = core.memory.read(
                    answer.rkey,
                    answer.protectionDomain,
                    p.qpn,
                    answer.address + position,
                    frame.slot,
                    Packet.payloadOffset(frame, opcode),
                    bytes,
                    Access.REMOTE_READ.bit());
            if (verdict != MemoryVerdict.OK) {
                // Withdrawn since the request was accepted: the answer ends here, with a NAK (IBTA 9.7.5.2.4).
                int key = answer.rkey;
                long at = answer.address + position;
                answers.clear();
                refuseAccess(psn, "READ", verdict, key, at, bytes);
                return poll(frame);
            }
        }
        core.begin(frame, opcode, bytes, false, false, psn);
        if (opcode.aethOffset() >= 0) {
            Aeth.write(frame.slot, frame.start + opcode.aethOffset(), Syndrome.ACK, answer.msn);
        }
        if (last) {
            answers.removeFirst();
        }
        return true;
    }
}
