package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.TerminateCode;

/// Sends the answers that the peer is [OwedResponses]. Engine-confined.
final class ResponseSender {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Termination termination;
    private final OwedResponses owed;
    private final FpduWriter writer;

    private int taggedMax;
    /// The number of the next atomic's answer in its queue.
    private int msn;

    ResponseSender(QueuePairCore core, Termination termination, OwedResponses owed, FpduWriter writer) {
        this.core = core;
        this.p = core.parameters;
        this.termination = termination;
        this.owed = owed;
        this.writer = writer;
    }

    void start(StreamTerms terms) {
        taggedMax = terms.mulpdu() - Ddp.TAGGED_BYTES;
        msn = 1;
    }

    /// Returns whether there is an answer to send.
    boolean isDue() {
        return !owed.isEmpty();
    }

    /// Returns whether a part of the oldest answer has been sent, and a part has not.
    boolean isInside() {
        return !owed.isEmpty() && owed.first().sent > 0;
    }

    /// Sends the next segment of the oldest answer; false when there is no room.
    boolean poll(StreamOutput out) {
        OwedResponses.Response answer = owed.first();
        return answer.isAtomic ? sendAtomicResponse(out, answer) : sendReadResponse(out, answer);
    }

    private boolean sendReadResponse(StreamOutput out, OwedResponses.Response answer) {
        int bytes = (int) Math.min(taggedMax, answer.bytes - answer.sent);
        boolean last = answer.sent + bytes == answer.bytes;
        long source = answer.sourceOffset + answer.sent;
        MemoryVerdict verdict = bytes == 0
                ? MemoryVerdict.OK
                : core.memory.locate(
                        answer.sourceStag, p.protectionDomain, p.qpn, source, bytes, Access.REMOTE_READ.bit());
        if (verdict != MemoryVerdict.OK) {
            return refuse(out, answer, verdict, source, bytes);
        }
        boolean refer = bytes >= FpduWriter.REFER_BYTES_MIN && writer.mayRefer() && core.memory.locatedBytes() >= bytes;
        if (!writer.hasRoom(out, Ddp.TAGGED_BYTES, bytes, refer)) {
            return false;
        }
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.TAGGED_BYTES + bytes);
        long sink = answer.sinkOffset + answer.sent;
        Ddp.writeTagged(target, at, RdmapOpcode.READ_RESPONSE, last, answer.sinkStag, sink);
        if (refer) {
            MemorySegment memory = core.memory.located();
            writer.endReferring(out, Ddp.TAGGED_BYTES, memory, core.memory.locatedOffset(), bytes);
        } else {
            verdict = copy(answer.sourceStag, source, target, at + Ddp.TAGGED_BYTES, bytes);
            if (verdict != MemoryVerdict.OK) {
                return refuse(out, answer, verdict, source, bytes);
            }
            writer.end(out);
        }
        answer.sent += bytes;
        if (last) {
            owed.removeFirst();
        }
        return true;
    }

    private MemoryVerdict copy(int stag, long source, MemorySegment target, long at, int bytes) {
        return bytes == 0
                ? MemoryVerdict.OK
                : core.memory.read(
                        stag, p.protectionDomain, p.qpn, source, target, at, bytes, Access.REMOTE_READ.bit());
    }

    /// Refuses the answer, and ends the connection: the memory was withdrawn since the request was accepted.
    private boolean refuse(
            StreamOutput out, OwedResponses.Response answer, MemoryVerdict verdict, long source, int bytes) {
        refuse(answer, verdict, source, bytes);
        return termination.pollTerminate(out);
    }

    private void refuse(OwedResponses.Response answer, MemoryVerdict verdict, long source, int bytes) {
        TerminateCode code = Refusals.code(verdict, source, bytes);
        MemorySegment shown = Arena.ofAuto().allocate(Ddp.UNTAGGED_BYTES + ReadRequest.BYTES);
        Ddp.writeUntagged(shown, 0, RdmapOpcode.READ_REQUEST, true, 0, answer.msn, 0);
        ReadRequest.write(
                shown,
                Ddp.UNTAGGED_BYTES,
                answer.sinkStag,
                answer.sinkOffset,
                answer.bytes,
                answer.sourceStag,
                answer.sourceOffset);
        termination.keepRefused(code, shown, 0, Ddp.UNTAGGED_BYTES, ReadRequest.BYTES, 0);
        core.events.onAsyncEvent(AsyncEvent.Type.QP_ACCESS_ERR);
        termination.fail("terminated the connection, " + code + ": the peer's READ of " + answer.bytes
                + " bytes with STag 0x" + Integer.toHexString(answer.sourceStag) + ": " + verdict.explanation());
        termination.terminate(code);
    }

    private boolean sendAtomicResponse(StreamOutput out, OwedResponses.Response answer) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, AtomicResponse.BYTES, false)) {
            return false;
        }
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + AtomicResponse.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.ATOMIC_RESPONSE, true, 0, msn++, 0);
        AtomicResponse.write(target, at + Ddp.UNTAGGED_BYTES, answer.identifier, answer.original);
        writer.end(out);
        owed.removeFirst();
        return true;
    }
}
