package verbena.transport.rc;

import verbena.transport.InboundMessage;
import verbena.transport.Messages;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// The standard's checklist for a request that has the PSN which comes next (IBTA 9.7.4.1): one method for each
/// check, in the order in which they are made. The first that fails decides. Engine-confined.
class Checklist {
    private static final int FLUSH_RIGHTS = Access.FLUSH_GLOBAL.bit() | Access.FLUSH_PERSISTENT.bit();

    final QueuePairParameters p;
    final Receiving receive;
    /// The message that earlier packets have begun.
    final InboundMessage message = new InboundMessage();
    /// The responses that a request has to find room among.
    final OwedResponses owed = new OwedResponses();

    private final QueuePairCore core;

    /// The reason for the last verdict, in words.
    private String cause = "";

    Checklist(QueuePairCore core, Receiving receive) {
        this.core = core;
        this.p = core.parameters;
        this.receive = receive;
    }

    /// Makes all checks that a request has to pass; the first check that fails decides.
    Verdict check(Frame frame, Opcode opcode) {
        Verdict verdict = checkSequence(frame, opcode);
        if (verdict == Verdict.ACCEPTED) {
            verdict = checkEnabled(frame, opcode);
        }
        if (verdict == Verdict.ACCEPTED) {
            verdict = checkResources(opcode);
        }
        if (verdict == Verdict.ACCEPTED) {
            verdict = checkLength(frame, opcode);
        }
        if (verdict == Verdict.ACCEPTED) {
            verdict = checkAccess(opcode);
        }
        if (verdict == Verdict.ACCEPTED) {
            verdict = checkReceive(opcode);
        }
        return verdict;
    }

    /// Checks that the opcode may follow the last (IBTA 9.7.4.1).
    private Verdict checkSequence(Frame frame, Opcode opcode) {
        if (!message.fits(opcode)) {
            return invalid(opcode + " does not follow what came before it");
        }
        if (opcode.startsMessage()) {
            message.begin(frame, opcode);
        }
        return Verdict.ACCEPTED;
    }

    /// Checks that the queue pair enables the request (IBTA 9.7.4.1): if not, it is an invalid request, whatever
    /// the region allows.
    private Verdict checkEnabled(Frame frame, Opcode opcode) {
        if (opcode.isFlush()) {
            return checkFlush(frame, opcode);
        }
        int right = right(opcode);
        return (p.access & right) == right ? Verdict.ACCEPTED : notEnabled(opcode);
    }

    private Verdict checkFlush(Frame frame, Opcode opcode) {
        if ((p.access & FLUSH_RIGHTS) == 0) {
            return notEnabled(opcode);
        }
        int feth = frame.start + opcode.fethOffset();
        int placement = Feth.placement(frame.slot, feth);
        int selectivity = Feth.selectivity(frame.slot, feth);
        if (placement == 0
                || placement > (Feth.GLOBAL_VISIBILITY | Feth.PERSISTENCE)
                || selectivity > Feth.WHOLE_REGION) {
            return invalid(opcode + " with placement " + placement + " and selectivity " + selectivity);
        }
        int right = flushRight(placement);
        return (p.access & right) == right
                ? Verdict.ACCEPTED
                : invalid(opcode + " with placement " + placement + " is not enabled by the queue pair's access");
    }

    private Verdict notEnabled(Opcode opcode) {
        return invalid(opcode + " is not enabled by the queue pair's access");
    }

    /// Returns the right that the queue pair, and the region or window, have to grant; a FLUSH has [#flushRight].
    private static int right(Opcode opcode) {
        if (opcode.isWrite() || opcode.isAtomicWrite()) {
            return Access.REMOTE_WRITE.bit();
        }
        if (opcode.isRead()) {
            return Access.REMOTE_READ.bit();
        }
        return opcode.isAtomic() ? Access.REMOTE_ATOMIC.bit() : 0;
    }

    static int flushRight(int placement) {
        return ((placement & Feth.GLOBAL_VISIBILITY) != 0 ? Access.FLUSH_GLOBAL.bit() : 0)
                | ((placement & Feth.PERSISTENCE) != 0 ? Access.FLUSH_PERSISTENT.bit() : 0);
    }

    /// Checks that this side has what the request needs: room for its responses, the receive of a SEND, a responder
    /// resource.
    private Verdict checkResources(Opcode opcode) {
        // The room fills up only when the peer ignores its limits or this side cannot send.
        if (!owed.hasRoom(OwedResponses.OF_A_REQUEST)) {
            return Verdict.BUSY;
        }
        if (opcode.isSend()) {
            return !opcode.startsMessage() || receive.open() ? Verdict.ACCEPTED : Verdict.NOT_READY;
        }
        return opcode.isWrite() || owed.resources() < p.readsServedMax
                ? Verdict.ACCEPTED
                : invalid("more than max_dest_rd_atomic (" + p.readsServedMax + ") READs and atomics at once");
    }

    /// Checks that the packet is as long as its opcode requires, and the message as its receive or its RETH (IBTA
    /// 9.7.4.1.6).
    private Verdict checkLength(Frame frame, Opcode opcode) {
        int payload = Packet.payloadBytes(frame, opcode);
        if (!opcode.payload().allows(payload, p.pathMtu)) {
            return invalid(opcode + " of " + payload + " bytes at path MTU " + p.pathMtu);
        }
        if (opcode.isSend()) {
            return message.placed() + payload <= receive.scatter().bytes
                    ? Verdict.ACCEPTED
                    : because(
                            Verdict.TOO_LONG,
                            "the message is longer than the receive of " + receive.scatter().bytes + " bytes");
        }
        if (opcode.isWrite()) {
            long left = message.left();
            return message.bytes() <= Messages.BYTES_MAX && (opcode.endsMessage() ? payload == left : payload < left)
                    ? Verdict.ACCEPTED
                    : invalid(opcode + " of " + payload + " bytes where " + left + " of " + message.bytes()
                            + " are left");
        }
        if (opcode.isRead()) {
            return message.bytes() <= Messages.BYTES_MAX
                    ? Verdict.ACCEPTED
                    : invalid("READ of " + message.bytes() + " bytes, at most 2^31 are allowed");
        }
        if (opcode.isFlush() || ((message.address() & 7) == 0 && message.bytes() == Long.BYTES)) {
            return Verdict.ACCEPTED;
        }
        return invalid(opcode + " of " + message.bytes() + " bytes at 0x" + Long.toHexString(message.address())
                + "; it has 8, at a multiple of 8");
    }

    /// Checks the key and the whole range of the RETH (IBTA 9.7.4.1.5), at the first packet (C9-90), unless the
    /// request asks for no bytes (C9-88). A FLUSH is looked at when it is carried out.
    private Verdict checkAccess(Opcode opcode) {
        int right = right(opcode);
        if (right == 0 || !opcode.startsMessage() || message.bytes() == 0) {
            return Verdict.ACCEPTED;
        }
        MemoryVerdict verdict = core.memory.checkRemote(
                message.rkey(), p.protectionDomain, p.qpn, message.address(), message.bytes(), right);
        if (verdict == MemoryVerdict.OK) {
            return Verdict.ACCEPTED;
        }
        if (opcode.hasImmediate()) {
            receive.open(); // tells of the refusal (IBTA 11.6.2, local access error), if one is posted
        }
        return noAccess(opcode, verdict, message.rkey(), message.address(), message.bytes());
    }

    /// Takes the receive of a WRITE with immediate at the last packet, before anything of that packet is placed. It
    /// comes after the other checks, so that a request that is not allowed is refused even when no receive is
    /// posted.
    private Verdict checkReceive(Opcode opcode) {
        return !opcode.isWrite() || !opcode.hasImmediate() || receive.open() ? Verdict.ACCEPTED : Verdict.NOT_READY;
    }

    // ---- causes

    /// Returns the reason why the request was not accepted, in words.
    String cause() {
        return cause;
    }

    /// Returns the verdict, and keeps the reason for it.
    Verdict because(Verdict verdict, String why) {
        cause = why;
        return verdict;
    }

    Verdict invalid(String why) {
        return because(Verdict.INVALID_REQUEST, why);
    }

    Verdict noAccess(Opcode opcode, MemoryVerdict verdict, int key, long at, long bytes) {
        return noAccess(name(opcode), verdict, key, at, bytes);
    }

    Verdict noAccess(String operation, MemoryVerdict verdict, int key, long at, long bytes) {
        suspect(verdict, key);
        return because(
                Verdict.NO_ACCESS,
                "the peer's " + operation + " of " + bytes + " bytes at 0x" + Long.toHexString(at) + " with rkey 0x"
                        + Integer.toHexString(key) + ": " + verdict.explanation());
    }

    private static String name(Opcode opcode) {
        if (opcode.isWrite()) {
            return "WRITE";
        }
        if (opcode.isRead()) {
            return "READ";
        }
        if (opcode.isAtomic()) {
            return "atomic";
        }
        return opcode.isAtomicWrite() ? "ATOMIC WRITE" : "FLUSH";
    }

    /// Reports an access error. A peer that keeps to its keys does not cause it, unless it is late.
    void suspect(MemoryVerdict verdict, int key) {
        if (p.state != QpState.ERR && verdict != MemoryVerdict.GONE && !core.memory.isResting(key)) {
            core.events.onAccessError();
        }
    }
}
