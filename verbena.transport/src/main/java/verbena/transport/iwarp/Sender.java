package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// The sending half of an iWARP connection: the application's requests ([OutstandingRequests]), and the answers
/// that the peer is owed ([ResponseSender]). A message is sent to its end before the next begins; requests and
/// answers take turns.
final class Sender {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final OutstandingRequests requests;
    private final ResponseSender answers;
    private final FpduWriter writer;

    private int taggedMax;
    private int untaggedMax;

    /// Some segments of the next request have been sent.
    private boolean isInside;
    /// Bytes of it that have been sent.
    private long sent;
    /// The WRITE of a WRITE_WITH_IMMEDIATE has been sent; the immediate data follows.
    private boolean immediateDue;
    /// An answer was sent last; it is a request's turn.
    private boolean answeredLast;
    private Rtr rtr = Rtr.NONE;
    /// The number of the next SEND in its queue.
    private int msnSend;

    Sender(
            QueuePairCore core,
            Termination termination,
            OutstandingRequests requests,
            OwedResponses owed,
            FpduWriter writer) {
        this.core = core;
        this.p = core.parameters;
        this.requests = requests;
        this.answers = new ResponseSender(core, termination, owed, writer);
        this.writer = writer;
    }

    // ---- life

    void start(StreamTerms terms) {
        taggedMax = terms.mulpdu() - Ddp.TAGGED_BYTES;
        untaggedMax = terms.mulpdu() - Ddp.UNTAGGED_BYTES;
        msnSend = 1;
        requests.start();
        answers.start(terms);
        rtr = terms.isInitiator() ? terms.rtr() : Rtr.NONE;
    }

    /// Forgets everything, and completes nothing (RESET).
    void reset() {
        stop();
        requests.reset();
    }

    /// Completes everything that is posted as flushed, in order (ERR).
    void flush() {
        stop();
        requests.flush();
    }

    private void stop() {
        isInside = false;
        sent = 0;
        immediateDue = false;
        rtr = Rtr.NONE;
    }

    /// Returns whether everything has been sent and answered.
    boolean isDone() {
        return requests.isDone() && !answers.isDue() && rtr == Rtr.NONE;
    }

    // ---- departures

    boolean poll(StreamOutput out) {
        if (rtr != Rtr.NONE) {
            return sendRtr(out);
        }
        if (isInside) {
            return sendRequest(out, requests.next());
        }
        if (answers.isInside() || (answers.isDue() && !(answeredLast && mayStart()))) {
            answeredLast = true;
            return answers.poll(out);
        }
        answeredLast = false;
        return startRequest(out);
    }

    /// Carries out what never leaves this side, and looks whether the request behind it can go.
    private boolean mayStart() {
        while (p.state == QpState.RTS && requests.hasNext()) {
            SendRequest request = requests.next();
            if (request.operation.isLocal()) {
                if (!requests.executeLocal(request)) {
                    return false;
                }
                continue;
            }
            if (request.fenced && requests.unanswered() > 0) {
                return false; // a fence waits for READs and atomics (RFC 5040 5.5, ibv_post_send(3))
            }
            return !request.operation.needsResponse()
                    || requests.unanswered() < p.readsOutstandingMax
                    || p.readsOutstandingMax == 0;
        }
        return false;
    }

    private boolean startRequest(StreamOutput out) {
        if (!mayStart()) {
            return false;
        }
        SendRequest request = requests.next();
        MemoryVerdict verdict = request.isInline
                ? MemoryVerdict.OK
                : core.memory.checkLocal(request.scatter, p.protectionDomain, request.operation.needsResponse());
        if (verdict != MemoryVerdict.OK) {
            return failLocally(
                    request,
                    WcStatus.LOC_PROT_ERR,
                    core.memory.explain(
                            request.scatter, p.protectionDomain, request.operation.needsResponse(), verdict));
        }
        if (request.operation.needsResponse() && p.readsOutstandingMax == 0) {
            return failLocally(
                    request,
                    WcStatus.LOC_QP_OP_ERR,
                    "no READ or atomic may be outstanding: the ORD of the connection is 0");
        }
        sent = 0;
        immediateDue = false;
        return sendRequest(out, request);
    }

    private boolean sendRequest(StreamOutput out, SendRequest request) {
        return switch (request.operation) {
            case SEND, SEND_WITH_INVALIDATE -> sendSend(out, request);
            case WRITE -> sendWrite(out, request);
            case WRITE_WITH_IMMEDIATE -> immediateDue ? sendImmediate(out, request) : sendWrite(out, request);
            case READ -> sendReadRequest(out, request);
            case FETCH_ADD, COMPARE_SWAP -> sendAtomicRequest(out, request);
            case SEND_WITH_IMMEDIATE, ATOMIC_WRITE, FLUSH, LOCAL_INVALIDATE, BIND_WINDOW, FAULTY ->
                failLocally(request, WcStatus.LOC_QP_OP_ERR, "iWARP has no " + request.operation);
        };
    }

    private boolean sendSend(StreamOutput out, SendRequest request) {
        int bytes = (int) Math.min(untaggedMax, request.bytes() - sent);
        boolean last = sent + bytes == request.bytes();
        boolean invalidate = request.operation == SendOperation.SEND_WITH_INVALIDATE;
        RdmapOpcode opcode = request.solicited
                ? invalidate ? RdmapOpcode.SEND_SOLICITED_INVALIDATE : RdmapOpcode.SEND_SOLICITED
                : invalidate ? RdmapOpcode.SEND_INVALIDATE : RdmapOpcode.SEND;
        boolean refer = refers(request, bytes);
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, bytes, refer)) {
            return false;
        }
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + bytes);
        Ddp.writeUntagged(writer.target(out), at, opcode, last, request.immediateOrKey, msnSend, sent);
        if (!addPayload(out, request, at, Ddp.UNTAGGED_BYTES, bytes, refer)) {
            return false;
        }
        if (last) {
            msnSend++;
            requestSent();
        }
        return true;
    }

    private boolean sendWrite(StreamOutput out, SendRequest request) {
        int bytes = (int) Math.min(taggedMax, request.bytes() - sent);
        boolean last = sent + bytes == request.bytes();
        boolean refer = refers(request, bytes);
        if (!writer.hasRoom(out, Ddp.TAGGED_BYTES, bytes, refer)) {
            return false;
        }
        int at = writer.begin(out, Ddp.TAGGED_BYTES + bytes);
        long offset = request.remoteAddress + sent;
        Ddp.writeTagged(writer.target(out), at, RdmapOpcode.WRITE, last, request.rkey, offset);
        if (!addPayload(out, request, at, Ddp.TAGGED_BYTES, bytes, refer)) {
            return false;
        }
        if (last && request.operation == SendOperation.WRITE_WITH_IMMEDIATE) {
            immediateDue = true;
        } else if (last) {
            requestSent();
        }
        return true;
    }

    /// Returns whether the next bytes are left where they are, because they are many and lie in one piece.
    private boolean refers(SendRequest request, int bytes) {
        return bytes >= FpduWriter.REFER_BYTES_MIN
                && writer.mayRefer()
                && !request.isInline
                && core.memory.locate(request.scatter, p.protectionDomain, sent, false) == MemoryVerdict.OK
                && core.memory.locatedBytes() >= bytes;
    }

    /// Adds the next bytes of a request, behind the header at `at`, and ends the FPDU; false, and nothing added,
    /// when they cannot be had any more.
    private boolean addPayload(
            StreamOutput out, SendRequest request, int at, int headerBytes, int bytes, boolean refer) {
        if (refer) {
            MemorySegment memory = core.memory.located();
            writer.endReferring(out, headerBytes, memory, core.memory.locatedOffset(), bytes);
        } else {
            MemorySegment target = writer.target(out);
            int to = at + headerBytes;
            if (request.isInline) {
                MemorySegment.copy(request.inline, sent, target, to, bytes);
            } else {
                MemoryVerdict verdict =
                        core.memory.gather(request.scatter, p.protectionDomain, sent, target, to, bytes);
                if (verdict != MemoryVerdict.OK) {
                    return failLocally(
                            request,
                            WcStatus.LOC_PROT_ERR,
                            "after " + sent + " bytes: "
                                    + core.memory.explain(request.scatter, p.protectionDomain, false, verdict));
                }
            }
            writer.end(out);
        }
        sent += bytes;
        isInside = true;
        return true;
    }

    private boolean sendImmediate(StreamOutput out, SendRequest request) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, ImmediateData.BYTES, false)) {
            return false;
        }
        RdmapOpcode opcode = request.solicited ? RdmapOpcode.IMMEDIATE_SOLICITED : RdmapOpcode.IMMEDIATE;
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + ImmediateData.BYTES);
        Ddp.writeUntagged(writer.target(out), at, opcode, true, 0, msnSend++, 0);
        ImmediateData.write(writer.target(out), at + Ddp.UNTAGGED_BYTES, request.immediateOrKey);
        writer.end(out);
        requestSent();
        return true;
    }

    private boolean sendReadRequest(StreamOutput out, SendRequest request) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, ReadRequest.BYTES, false)) {
            return false;
        }
        writeReadRequest(
                out,
                requests.ask(),
                OutstandingRequests.sinkStag(request),
                OutstandingRequests.sinkOffset(request),
                request.bytes(),
                request.rkey,
                request.remoteAddress);
        requestSent();
        return true;
    }

    private void writeReadRequest(
            StreamOutput out, int msn, int sinkStag, long sinkOffset, long bytes, int sourceStag, long sourceOffset) {
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + ReadRequest.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.READ_REQUEST, true, 0, msn, 0);
        ReadRequest.write(target, at + Ddp.UNTAGGED_BYTES, sinkStag, sinkOffset, bytes, sourceStag, sourceOffset);
        writer.end(out);
    }

    /// Sends an atomic request without masks: all of the 64 bits are one field, and all are compared and replaced.
    private boolean sendAtomicRequest(StreamOutput out, SendRequest request) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, AtomicRequest.BYTES, false)) {
            return false;
        }
        boolean swap = request.operation == SendOperation.COMPARE_SWAP;
        int msn = requests.ask();
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + AtomicRequest.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.ATOMIC_REQUEST, true, 0, msn, 0);
        AtomicRequest.write(
                target,
                at + Ddp.UNTAGGED_BYTES,
                swap ? AtomicRequest.COMPARE_SWAP : AtomicRequest.FETCH_ADD,
                msn,
                request.rkey,
                request.remoteAddress,
                swap ? request.swap : request.operand,
                swap ? -1 : 0,
                swap ? request.operand : 0,
                swap ? -1 : 0);
        writer.end(out);
        requestSent();
        return true;
    }

    /// Moves on: the request has been given to the stream.
    private void requestSent() {
        isInside = false;
        sent = 0;
        immediateDue = false;
        requests.sent();
    }

    /// Fails the request on this side. Returns false.
    private boolean failLocally(SendRequest request, WcStatus status, String cause) {
        isInside = false;
        return requests.fail(request, status, cause);
    }

    /// Sends a message of no bytes, which names no memory, and which completes nowhere (RFC 6581).
    private boolean sendRtr(StreamOutput out) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, ReadRequest.BYTES, false)) {
            return false;
        }
        switch (rtr) {
            case WRITE -> {
                int at = writer.begin(out, Ddp.TAGGED_BYTES);
                Ddp.writeTagged(writer.target(out), at, RdmapOpcode.WRITE, true, OutstandingRequests.RTR_STAG, 0);
                writer.end(out);
            }
            case SEND -> {
                int at = writer.begin(out, Ddp.UNTAGGED_BYTES);
                Ddp.writeUntagged(writer.target(out), at, RdmapOpcode.SEND, true, 0, msnSend++, 0);
                writer.end(out);
            }
            case READ -> {
                int stag = OutstandingRequests.RTR_STAG;
                writeReadRequest(out, requests.askRtr(), stag, 0, 0, stag, 0);
            }
            case NONE -> {}
        }
        rtr = Rtr.NONE;
        return true;
    }
}
