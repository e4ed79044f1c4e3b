package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MaskedAtomics;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.TerminateCode;

/// READs and atomics that the peer asks for (RFC 5040 5.2, RFC 7306 5): judged, carried out, and [OwedResponses]
/// from then on. Engine-confined.
final class PeerRequests {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Segment segment;
    private final ArrivingMessages messages;
    private final Refusals refusals;
    private final OwedResponses owed;

    PeerRequests(
            QueuePairCore core, Segment segment, ArrivingMessages messages, Refusals refusals, OwedResponses owed) {
        this.core = core;
        this.p = core.parameters;
        this.segment = segment;
        this.messages = messages;
        this.refusals = refusals;
        this.owed = owed;
    }

    boolean onRead() {
        MemorySegment in = segment.in;
        int payload = segment.payload();
        int key = ReadRequest.sourceStag(in, payload);
        long source = ReadRequest.sourceOffset(in, payload);
        long bytes = ReadRequest.size(in, payload);
        // One of no bytes may be how the connection begins, whatever the IRD.
        if (owed.isFull() || (p.readsServedMax == 0 && bytes > 0)) {
            return tooMany();
        }
        MemoryVerdict verdict = bytes == 0 ? MemoryVerdict.OK : check(key, source, bytes, Access.REMOTE_READ);
        if (verdict != MemoryVerdict.OK) {
            return noAccess("READ", key, source, bytes, verdict);
        }
        OwedResponses.Response answer = owed.add();
        answer.isAtomic = false;
        answer.msn = messages.takeMsn(Ddp.QUEUE_REQUEST);
        answer.sinkStag = ReadRequest.sinkStag(in, payload);
        answer.sinkOffset = ReadRequest.sinkOffset(in, payload);
        answer.sourceStag = key;
        answer.sourceOffset = source;
        answer.bytes = bytes;
        return true;
    }

    boolean onAtomic() {
        MemorySegment in = segment.in;
        int payload = segment.payload();
        if (owed.isFull() || p.readsServedMax == 0) {
            return tooMany();
        }
        int operation = AtomicRequest.operation(in, payload);
        if (operation != AtomicRequest.FETCH_ADD && operation != AtomicRequest.COMPARE_SWAP) {
            return refusals.refuse(TerminateCode.UNEXPECTED_OPCODE, "atomic operation " + operation);
        }
        int key = AtomicRequest.stag(in, payload);
        long at = AtomicRequest.taggedOffset(in, payload);
        if ((at & 7) != 0) {
            return refusals.refuse(
                    TerminateCode.CATASTROPHIC_STREAM,
                    "an atomic at 0x" + Long.toHexString(at) + ", which is no multiple of 8");
        }
        MemoryVerdict verdict = check(key, at, Long.BYTES, Access.REMOTE_ATOMIC);
        if (verdict == MemoryVerdict.OK) {
            verdict = carryOut(operation, key, at, in, payload);
        }
        if (verdict != MemoryVerdict.OK) {
            return noAccess("atomic", key, at, Long.BYTES, verdict);
        }
        OwedResponses.Response answer = owed.add();
        answer.isAtomic = true;
        answer.msn = messages.takeMsn(Ddp.QUEUE_REQUEST);
        answer.identifier = AtomicRequest.identifier(in, payload);
        answer.original = core.memory.original();
        return true;
    }

    private MemoryVerdict check(int key, long address, long bytes, Access right) {
        return (p.access & right.bit()) == 0
                ? MemoryVerdict.NO_RIGHT
                : core.memory.checkRemote(key, p.protectionDomain, p.qpn, address, bytes, right.bit());
    }

    private MemoryVerdict carryOut(int operation, int key, long at, MemorySegment in, int payload) {
        long value = AtomicRequest.addOrSwap(in, payload);
        long mask = AtomicRequest.addOrSwapMask(in, payload);
        return operation == AtomicRequest.FETCH_ADD
                ? MaskedAtomics.fetchAdd(core.memory, key, at, value, mask)
                : MaskedAtomics.compareSwap(
                        core.memory,
                        key,
                        at,
                        AtomicRequest.compare(in, payload),
                        AtomicRequest.compareMask(in, payload),
                        value,
                        mask);
    }

    private boolean tooMany() {
        return refusals.refuse(
                TerminateCode.UNTAGGED_NO_BUFFER,
                "more than " + p.readsServedMax + " READs and atomics at once, the IRD of the connection");
    }

    private boolean noAccess(String operation, int key, long at, long bytes, MemoryVerdict verdict) {
        return refusals.refuseAccess(
                Refusals.code(verdict, at, bytes), key, Refusals.access(operation, bytes, at, key, verdict));
    }
}
