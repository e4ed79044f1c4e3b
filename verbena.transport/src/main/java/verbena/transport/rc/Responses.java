package verbena.transport.rc;

import java.lang.foreign.ValueLayout;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Retransmission;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.RnrTimer;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.SelectiveAck;
import verbena.wire.ib.Syndrome;

/// The receiver of the peer's responses to a requester (IBTA 9.7.5.1 and 9.9.2). Engine-confined.
final class Responses {
    /// The requester's state that responses change.
    interface Sender {
        /// Returns whether requests may be under way.
        boolean isWorking();

        /// Completes the oldest request, which has its answer.
        void finishOldest(SendRequest request);

        /// Goes on: all PSNs before `psn` have their answers.
        void progress(int psn, long now);

        /// Sends again all packets without an answer.
        void retry(Retransmission why, long now);
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Sender requester;
    private final RequestFailures failures;
    private final SendCursor cursor;
    private final LossRecovery recovery;
    private final RcTimers timers;
    private final EarlyAnswers early;

    Responses(
            QueuePairCore core,
            Sender requester,
            RequestFailures failures,
            SendCursor cursor,
            LossRecovery recovery,
            RcTimers timers,
            EarlyAnswers early) {
        this.core = core;
        this.p = core.parameters;
        this.requester = requester;
        this.failures = failures;
        this.cursor = cursor;
        this.recovery = recovery;
        this.timers = timers;
        this.early = early;
    }

    PacketFate onResponse(Frame frame, Opcode opcode, long now) {
        if (!requester.isWorking()) {
            return PacketFate.DROPPED_STATE;
        }
        int psn = Bth.psn(frame.slot, frame.start);
        if (Psn.isBefore(psn, cursor.unacked())) {
            return PacketFate.DUPLICATE;
        }
        if (!cursor.wasSent(psn)) {
            return PacketFate.DROPPED_GHOST_ACK;
        }
        return switch (opcode) {
            case RC_ACKNOWLEDGE, XRC_ACKNOWLEDGE ->
                onAcknowledge(Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset()), psn, now);
            case SELECTIVE_ACK -> onSelectiveAck(frame, psn, now);
            case RC_ATOMIC_ACKNOWLEDGE, XRC_ATOMIC_ACKNOWLEDGE -> onAtomicAcknowledge(frame, opcode, psn, now);
            default -> onReadResponse(frame, opcode, psn, now);
        };
    }

    // ---- ACK and NAK

    private PacketFate onAcknowledge(int syndrome, int psn, long now) {
        return switch (Syndrome.kind(syndrome)) {
            case ACK -> {
                if (!acknowledge(psn, now)) {
                    miss(Psn.next(psn), now);
                }
                yield PacketFate.ACCEPTED;
            }
            case RNR_NAK -> onRnrNak(syndrome, psn, now);
            case NAK -> syndrome == Syndrome.NAK_SEQUENCE ? onSequenceNak(psn, now) : onFatalNak(syndrome, psn, now);
            default ->
                failures.failOldest(
                        WcStatus.BAD_RESP_ERR,
                        syndrome,
                        core.peer() + " answered PSN " + psn + " with the reserved syndrome 0x"
                                + Integer.toHexString(syndrome));
        };
    }

    /// Handles a NAK of the sequence (IBTA 9.7.5.1.1): everything before the PSN has arrived, and the packet of
    /// that PSN has not.
    private PacketFate onSequenceNak(int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_SEQUENCE);
        acknowledge(Psn.previous(psn), now);
        if (requester.isWorking() && !recovery.isRepairing()) {
            requester.retry(Retransmission.SEQUENCE_NAK, now);
        }
        return PacketFate.ACCEPTED;
    }

    /// Handles the same NAK with a list of the packets that are kept behind that PSN. It may come before answers
    /// that were owed before it, so it acknowledges none of these.
    private PacketFate onSelectiveAck(Frame frame, int psn, long now) {
        if (!p.repeatsRequests) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        core.counters.count(Counter.RECEIVED_NAK_SEQUENCE);
        acknowledge(Psn.previous(psn), now);
        if (requester.isWorking() && !timers.isSet(RcTimer.RNR)) {
            int payload = Packet.payloadOffset(frame, Opcode.SELECTIVE_ACK);
            recovery.lacks(psn, SelectiveAck.near(frame.slot, payload), SelectiveAck.far(frame.slot, payload), now);
        }
        return PacketFate.ACCEPTED;
    }

    private PacketFate onRnrNak(int syndrome, int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_RNR);
        acknowledge(Psn.previous(psn), now);
        if (!requester.isWorking() || cursor.unacked() != psn) {
            impliedNak(now);
            return PacketFate.ACCEPTED;
        }
        if (timers.isSet(RcTimer.RNR)) {
            return PacketFate.DUPLICATE;
        }
        if (!recovery.waitForReceive(psn, new RnrTimer(Syndrome.value(syndrome)).nanos(), now)) {
            return failures.failOldest(
                    WcStatus.RNR_RETRY_EXC_ERR,
                    syndrome,
                    core.peer() + " had no receive posted for PSN " + psn + ", the " + failures.describeOldest()
                            + ", after " + p.rnrRetry + " retries");
        }
        return PacketFate.ACCEPTED;
    }

    private PacketFate onFatalNak(int syndrome, int psn, long now) {
        core.counters.count(Counter.RECEIVED_NAK_FATAL);
        acknowledge(Psn.previous(psn), now);
        if (!requester.isWorking() || (cursor.unacked() != psn && !cursor.isWithinOldest(psn))) {
            impliedNak(now);
            return PacketFate.ACCEPTED;
        }
        WcStatus status = switch (syndrome) {
            case Syndrome.NAK_INVALID_REQUEST -> WcStatus.REM_INV_REQ_ERR;
            case Syndrome.NAK_REMOTE_ACCESS -> WcStatus.REM_ACCESS_ERR;
            case Syndrome.NAK_REMOTE_OPERATIONAL -> WcStatus.REM_OP_ERR;
            case Syndrome.NAK_INVALID_RD_REQUEST -> WcStatus.REM_INV_RD_REQ_ERR;
            default -> WcStatus.BAD_RESP_ERR;
        };
        return failures.failOldest(
                status,
                syndrome,
                core.peer() + " answered PSN " + psn + " with " + Syndrome.text(syndrome) + ": it refuses the "
                        + failures.describeOldest());
    }

    // ---- responses with a result

    private PacketFate onAtomicAcknowledge(Frame frame, Opcode opcode, int psn, long now) {
        if (!reach(psn, now)) {
            return dropEarly(psn, now);
        }
        SendRequest request = cursor.oldest();
        if (!request.operation.isAtomic() || !saysAck(frame, opcode)) {
            return unexpected(opcode, psn);
        }
        // Big-endian on the wire, in this host's order in memory.
        int at = frame.start + opcode.atomicAckEthOffset();
        long original = AtomicAckEth.original(frame.slot, at);
        frame.slot.set(ValueLayout.JAVA_LONG_UNALIGNED, at, original);
        MemoryVerdict verdict = core.memory.scatter(request.scatter, p.protectionDomain, 0, frame.slot, at, Long.BYTES);
        AtomicAckEth.write(frame.slot, at, original); // what looks at the packet afterwards finds it as it came
        if (verdict != MemoryVerdict.OK) {
            return failPlacing("the result's ", request, verdict);
        }
        requester.finishOldest(request);
        requester.progress(passEarly(Psn.next(psn)), now);
        return PacketFate.ACCEPTED;
    }

    private PacketFate onReadResponse(Frame frame, Opcode opcode, int psn, long now) {
        if (!reach(psn, now)) {
            return p.repeatsAnswers ? placeEarly(frame, opcode, psn, now) : PacketFate.DROPPED_EARLY_RESPONSE;
        }
        SendRequest request = cursor.oldest();
        if (!request.operation.needsResponse() || request.operation.isAtomic() || !saysAck(frame, opcode)) {
            return unexpected(opcode, psn);
        }
        int index = Psn.distance(request.firstPsn, psn);
        int expected = bytesOf(request, index);
        int bytes = Packet.payloadBytes(frame, opcode);
        // Position and length decide, not First, Middle or Last: soft-RoCE resumes a READ with a Middle.
        if (bytes != expected) {
            return failures.failOldest(
                    WcStatus.BAD_RESP_ERR,
                    0,
                    opcode + " at PSN " + psn + " carries " + bytes + " bytes, expected " + expected);
        }
        MemoryVerdict verdict = place(frame, opcode, request, index);
        if (verdict != MemoryVerdict.OK) {
            return failPlacing("the READ's ", request, verdict);
        }
        early.take(psn);
        if (index + 1 == request.psnCount) {
            requester.finishOldest(request);
        }
        requester.progress(passEarly(Psn.next(psn)), now);
        return PacketFate.ACCEPTED;
    }

    private int bytesOf(SendRequest request, int index) {
        return (int) Math.min(p.pathMtu, request.bytes() - (long) index * p.pathMtu);
    }

    private MemoryVerdict place(Frame frame, Opcode opcode, SendRequest request, int index) {
        return core.memory.scatter(
                request.scatter,
                p.protectionDomain,
                (long) index * p.pathMtu,
                frame.slot,
                Packet.payloadOffset(frame, opcode),
                bytesOf(request, index));
    }

    /// Places an answer to the oldest READ that has come before earlier ones. What is wrong with it is found when
    /// its turn comes: it is dropped here, and asked for again. So is an answer to a later READ, which must not
    /// be older than what is read again for the oldest.
    private PacketFate placeEarly(Frame frame, Opcode opcode, int psn, long now) {
        if (!requester.isWorking() || !cursor.isWithinOldest(psn) || !early.isInSpan(psn)) {
            return dropEarly(psn, now);
        }
        if (early.has(psn)) {
            return PacketFate.DUPLICATE;
        }
        SendRequest request = cursor.oldest();
        int index = Psn.distance(request.firstPsn, psn);
        if (request.operation != SendOperation.READ
                || !saysAck(frame, opcode)
                || Packet.payloadBytes(frame, opcode) != bytesOf(request, index)
                || place(frame, opcode, request, index) != MemoryVerdict.OK) {
            return dropEarly(psn, now);
        }
        early.add(psn);
        core.counters.count(Counter.EARLY_ANSWERS);
        return PacketFate.ACCEPTED;
    }

    private PacketFate dropEarly(int psn, long now) {
        if (p.repeatsAnswers) {
            miss(Psn.next(psn), now);
        }
        return PacketFate.DROPPED_EARLY_RESPONSE;
    }

    /// Passes what has come early, from `reached` on, and what the peer has carried out between. Returns the first
    /// PSN that has no answer.
    private int passEarly(int reached) {
        int at = reached;
        while (cursor.hasOldest()) {
            SendRequest request = cursor.oldest();
            int end = Psn.add(request.firstPsn, request.psnCount);
            if (request.operation.needsResponse()) {
                while (at != end && early.take(at)) {
                    at = Psn.next(at);
                }
            } else if (early.isKnown(end)) {
                at = end;
            }
            if (at != end) {
                break;
            }
            requester.finishOldest(request);
        }
        return at;
    }

    /// Acknowledges what lies before a response; false, and a retry, when an earlier response is missing.
    private boolean reach(int psn, long now) {
        acknowledge(Psn.previous(psn), now);
        if (requester.isWorking() && cursor.unacked() == psn) {
            return true;
        }
        miss(psn, now);
        return false;
    }

    /// Returns whether a packet with a result carries an ACK with it, when it has an AETH.
    private static boolean saysAck(Frame frame, Opcode opcode) {
        return opcode.aethOffset() < 0 || Syndrome.isAck(Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset()));
    }

    private PacketFate unexpected(Opcode opcode, int psn) {
        return failures.failOldest(
                WcStatus.BAD_RESP_ERR, 0, opcode + " answers PSN " + psn + ", which it does not fit");
    }

    private PacketFate failPlacing(String whose, SendRequest request, MemoryVerdict verdict) {
        return failures.failOldest(
                WcStatus.LOC_PROT_ERR,
                0,
                whose + core.memory.explain(request.scatter, p.protectionDomain, true, verdict));
    }

    // ---- acknowledgement

    /// Acknowledges everything through `psn`. Stops at a READ or atomic whose response has not arrived, and returns
    /// false then.
    private boolean acknowledge(int psn, long now) {
        boolean complete = true;
        int reached = cursor.unacked();
        while (cursor.hasOldest() && !Psn.isAfter(reached, psn)) {
            SendRequest request = cursor.oldest();
            if (request.operation.needsResponse()) {
                complete = false;
                break;
            }
            int last = Psn.add(request.firstPsn, request.psnCount - 1);
            if (Psn.isAfter(last, psn)) {
                reached = Psn.next(psn);
                break;
            }
            reached = Psn.next(last);
            requester.finishOldest(request);
        }
        if (reached != cursor.unacked()) {
            requester.progress(reached, now);
        }
        return complete;
    }

    /// Handles a later answer, which shows that everything before `psn` was carried out, and that answers are
    /// missing.
    private void miss(int psn, long now) {
        if (!p.repeatsAnswers) {
            impliedNak(now);
        } else if (requester.isWorking() && !recovery.isRepairing()) {
            recovery.miss(psn);
        }
    }

    /// Handles a later answer, which shows that an earlier one is missing (IBTA 9.7.5.1.1).
    private void impliedNak(long now) {
        if (requester.isWorking() && !recovery.isRepairing()) {
            core.counters.count(Counter.IMPLIED_NAKS);
            requester.retry(Retransmission.LOST_RESPONSE, now);
        }
    }
}
