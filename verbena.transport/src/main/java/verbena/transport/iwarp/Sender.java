package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.SendCompletions;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendOperation;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.TerminateCode;

/// What leaves: the application's requests, and the answers that the peer is owed. A message is sent to its end
/// before the next begins; requests and answers take turns.
///
/// Requests stand in the send queue, oldest first: those before `head` are done, those before `next` have been
/// sent, the one at `next` is being sent or comes next. A request that needs no answer is done when its last byte
/// has been given to the stream (RFC 5040 5.5: nobody acknowledges it), but completions come in order, behind a
/// READ that is not answered yet.
final class Sender {
    /// Payload below this is copied: one piece is cheaper for the operating system than three.
    static final int REFER_BYTES_MIN = 2048;

    private enum Message {
        NONE,
        REQUEST,
        ANSWER
    }

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final IwarpConnection connection;
    private final SendQueue sends;
    private final SendCompletions completions;
    private final Owed owed;
    private final FpduWriter writer;

    private int taggedMax;
    private int untaggedMax;

    private long head;
    private long next;
    /// What is being sent, between its segments.
    private Message message = Message.NONE;
    /// Bytes of the request at `next` that have been sent.
    private long sent;
    /// The WRITE of a WRITE_WITH_IMMEDIATE has been sent; the immediate data follows.
    private boolean immediateDue;
    /// An answer was sent last; it is a request's turn.
    private boolean answeredLast;
    /// The request at `next` failed on this side, and waits for those before it.
    private boolean failed;

    /// READ and atomic requests that were sent and not answered.
    private int outstanding;
    private Rtr rtr = Rtr.NONE;
    /// The oldest READ outstanding is the one by which the connection began.
    private boolean rtrOutstanding;

    private int msnSend;
    private int msnRequest;
    private int msnAtomicResponse;

    /// Bytes of the head's answer that have arrived.
    private long received;

    Sender(
            QueuePairCore core,
            IwarpConnection connection,
            SendQueue sends,
            CompletionRing completions,
            boolean signalAll,
            Owed owed,
            FpduWriter writer) {
        this.core = core;
        this.p = core.parameters;
        this.connection = connection;
        this.sends = sends;
        this.completions = new SendCompletions(core, sends, completions, signalAll);
        this.owed = owed;
        this.writer = writer;
    }

    // ---- life

    void start(StreamTerms terms) {
        taggedMax = terms.mulpdu() - Ddp.TAGGED_BYTES;
        untaggedMax = terms.mulpdu() - Ddp.UNTAGGED_BYTES;
        msnSend = 1;
        msnRequest = 1;
        msnAtomicResponse = 1;
        rtr = terms.isInitiator() ? terms.rtr() : Rtr.NONE;
    }

    /// RESET: everything is forgotten, nothing completes.
    void reset() {
        head = next = sends.published();
        sends.retire(head);
        stop();
    }

    /// ERR: everything that is posted completes as flushed, in order.
    void flush() {
        stop();
        head = next = completions.flushAll(head);
    }

    private void stop() {
        message = Message.NONE;
        sent = 0;
        received = 0;
        immediateDue = false;
        failed = false;
        outstanding = 0;
        rtr = Rtr.NONE;
        rtrOutstanding = false;
    }

    /// Whether everything has been sent and answered.
    boolean isDone() {
        return head == sends.published() && message == Message.NONE && outstanding == 0 && rtr == Rtr.NONE;
    }

    // ---- departures

    boolean poll(StreamOutput out) {
        if (rtr != Rtr.NONE) {
            return sendRtr(out);
        }
        switch (message) {
            case REQUEST -> {
                return sendRequest(out, sends.at(next));
            }
            case ANSWER -> {
                return sendAnswer(out);
            }
            case NONE -> {}
        }
        if (!owed.isEmpty() && !(answeredLast && mayStart())) {
            answeredLast = true;
            return sendAnswer(out);
        }
        answeredLast = false;
        return startRequest(out);
    }

    /// Carries out what never leaves this side, and looks whether the request behind it can go.
    private boolean mayStart() {
        while (!failed && p.state == QpState.RTS && next < sends.published()) {
            SendRequest request = sends.at(next);
            if (request.operation.isLocal()) {
                // Waits for everything before it, as on a reliable connection of InfiniBand.
                if (head != next || !executeLocal(request)) {
                    return false;
                }
                continue;
            }
            if (request.fenced && outstanding > 0) {
                return false; // a fence waits for READs and atomics (RFC 5040 5.5, ibv_post_send(3))
            }
            return !request.operation.needsResponse()
                    || outstanding < p.readsOutstandingMax
                    || p.readsOutstandingMax == 0;
        }
        return false;
    }

    private boolean startRequest(StreamOutput out) {
        if (!mayStart()) {
            return false;
        }
        SendRequest request = sends.at(next);
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

    /// Whether the next bytes are left where they are: if they are many, and lie in one piece.
    private boolean refers(SendRequest request, int bytes) {
        return bytes >= REFER_BYTES_MIN
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
        message = Message.REQUEST;
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
                out, sinkStag(request), sinkOffset(request), request.bytes(), request.rkey, request.remoteAddress);
        requestSent();
        return true;
    }

    private void writeReadRequest(
            StreamOutput out, int sinkStag, long sinkOffset, long bytes, int sourceStag, long sourceOffset) {
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + ReadRequest.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.READ_REQUEST, true, 0, msnRequest++, 0);
        ReadRequest.write(target, at + Ddp.UNTAGGED_BYTES, sinkStag, sinkOffset, bytes, sourceStag, sourceOffset);
        writer.end(out);
        outstanding++;
    }

    /// What the answer has to name: the first entry's key and address, and from there on as if all lay in one
    /// piece. The peer only repeats it; nothing is found by it.
    private static int sinkStag(SendRequest request) {
        return request.scatter.count == 0 ? 0 : request.scatter.lkeys[0];
    }

    private static long sinkOffset(SendRequest request) {
        return request.scatter.count == 0 ? 0 : request.scatter.addresses[0];
    }

    /// Without masks: all of the 64 bits are one field, and all are compared and replaced.
    private boolean sendAtomicRequest(StreamOutput out, SendRequest request) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, AtomicRequest.BYTES, false)) {
            return false;
        }
        boolean swap = request.operation == SendOperation.COMPARE_SWAP;
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + AtomicRequest.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.ATOMIC_REQUEST, true, 0, msnRequest, 0);
        AtomicRequest.write(
                target,
                at + Ddp.UNTAGGED_BYTES,
                swap ? AtomicRequest.COMPARE_SWAP : AtomicRequest.FETCH_ADD,
                msnRequest,
                request.rkey,
                request.remoteAddress,
                swap ? request.swap : request.operand,
                swap ? -1 : 0,
                swap ? request.operand : 0,
                swap ? -1 : 0);
        writer.end(out);
        msnRequest++;
        outstanding++;
        requestSent();
        return true;
    }

    /// The request at `next` has been given to the stream.
    private void requestSent() {
        message = Message.NONE;
        next++;
        sent = 0;
        immediateDue = false;
        retire();
    }

    /// RFC 6581: a message of no bytes, which names no memory, and of which nobody is told.
    private boolean sendRtr(StreamOutput out) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, ReadRequest.BYTES, false)) {
            return false;
        }
        switch (rtr) {
            case WRITE -> {
                int at = writer.begin(out, Ddp.TAGGED_BYTES);
                Ddp.writeTagged(writer.target(out), at, RdmapOpcode.WRITE, true, RTR_STAG, 0);
                writer.end(out);
            }
            case SEND -> {
                int at = writer.begin(out, Ddp.UNTAGGED_BYTES);
                Ddp.writeUntagged(writer.target(out), at, RdmapOpcode.SEND, true, 0, msnSend++, 0);
                writer.end(out);
            }
            case READ -> {
                writeReadRequest(out, RTR_STAG, 0, 0, RTR_STAG, 0);
                rtrOutstanding = true;
            }
            case NONE -> {}
        }
        rtr = Rtr.NONE;
        return true;
    }

    /// As soft-iWARP does it.
    private static final int RTR_STAG = 1;

    // ---- answers

    private boolean sendAnswer(StreamOutput out) {
        Owed.Answer answer = owed.first();
        return answer.isAtomic ? sendAtomicResponse(out, answer) : sendReadResponse(out, answer);
    }

    private boolean sendReadResponse(StreamOutput out, Owed.Answer answer) {
        int bytes = (int) Math.min(taggedMax, answer.bytes - answer.sent);
        boolean last = answer.sent + bytes == answer.bytes;
        long source = answer.sourceOffset + answer.sent;
        MemoryVerdict verdict = bytes == 0
                ? MemoryVerdict.OK
                : core.memory.locate(
                        answer.sourceStag, p.protectionDomain, p.qpn, source, bytes, Access.REMOTE_READ.bit());
        if (verdict != MemoryVerdict.OK) {
            return refuseAnswer(out, answer, verdict, source, bytes);
        }
        boolean refer = bytes >= REFER_BYTES_MIN && writer.mayRefer();
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
            if (bytes > 0) {
                verdict = core.memory.read(
                        answer.sourceStag,
                        p.protectionDomain,
                        p.qpn,
                        source,
                        target,
                        at + Ddp.TAGGED_BYTES,
                        bytes,
                        Access.REMOTE_READ.bit());
                if (verdict != MemoryVerdict.OK) {
                    return refuseAnswer(out, answer, verdict, source, bytes);
                }
            }
            writer.end(out);
        }
        answer.sent += bytes;
        message = last ? Message.NONE : Message.ANSWER;
        if (last) {
            owed.removeFirst();
        }
        return true;
    }

    /// Withdrawn since the request was accepted: the answer ends here.
    private boolean refuseAnswer(StreamOutput out, Owed.Answer answer, MemoryVerdict verdict, long source, int bytes) {
        connection.refuseRead(answer, verdict, source, bytes);
        return connection.pollTerminate(out);
    }

    private boolean sendAtomicResponse(StreamOutput out, Owed.Answer answer) {
        if (!writer.hasRoom(out, Ddp.UNTAGGED_BYTES, AtomicResponse.BYTES, false)) {
            return false;
        }
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + AtomicResponse.BYTES);
        Ddp.writeUntagged(target, at, RdmapOpcode.ATOMIC_RESPONSE, true, 0, msnAtomicResponse++, 0);
        AtomicResponse.write(target, at + Ddp.UNTAGGED_BYTES, answer.identifier, answer.original);
        writer.end(out);
        owed.removeFirst();
        return true;
    }

    // ---- answers that arrive; the oldest that is outstanding is at the head of the queue

    /// Whether a READ's answer may come now.
    boolean awaitsRead() {
        return rtrOutstanding || (outstanding > 0 && sends.at(head).operation == SendOperation.READ);
    }

    /// Whether an atomic's answer may come now.
    boolean awaitsAtomic() {
        return !rtrOutstanding && outstanding > 0 && sends.at(head).operation.isAtomic();
    }

    /// Whether the oldest is the READ by which the connection began, and nobody's request.
    boolean awaitsRtr() {
        return rtrOutstanding;
    }

    /// Of the READ whose answer comes: the STag of its sink.
    int expectedStag() {
        return rtrOutstanding ? RTR_STAG : sinkStag(sends.at(head));
    }

    /// And the offset that comes next.
    long expectedOffset() {
        return rtrOutstanding ? 0 : sinkOffset(sends.at(head)) + received;
    }

    /// And how many bytes are missing.
    long missing() {
        return rtrOutstanding ? 0 : sends.at(head).bytes() - received;
    }

    /// Puts bytes of a READ's answer where they belong.
    MemoryVerdict place(MemorySegment from, long offset, int bytes) {
        MemoryVerdict verdict =
                core.memory.scatter(sends.at(head).scatter, p.protectionDomain, received, from, offset, bytes);
        received += verdict == MemoryVerdict.OK ? bytes : 0;
        return verdict;
    }

    /// Finds where the next bytes of a READ's answer belong.
    MemoryVerdict locate() {
        return core.memory.locate(sends.at(head).scatter, p.protectionDomain, received, true);
    }

    /// So many bytes have been put where [#locate] said.
    void placed(int bytes) {
        received += bytes;
    }

    /// The READ's answer is complete.
    void readAnswered() {
        received = 0;
        outstanding--;
        if (rtrOutstanding) {
            rtrOutstanding = false;
            return;
        }
        finishHead();
    }

    /// Whether `identifier` is that of the oldest atomic outstanding: we number them as the queue does.
    boolean isExpected(int identifier) {
        return identifier == msnRequest - outstanding;
    }

    /// The atomic's answer has come; it lies at `offset` in this host's order.
    MemoryVerdict atomicAnswered(MemorySegment from, long offset) {
        SendRequest request = sends.at(head);
        MemoryVerdict verdict = core.memory.scatter(request.scatter, p.protectionDomain, 0, from, offset, Long.BYTES);
        if (verdict == MemoryVerdict.OK) {
            outstanding--;
            finishHead();
        }
        return verdict;
    }

    private void finishHead() {
        SendRequest request = sends.at(head++);
        complete(request);
        retire();
    }

    /// Completes what has been sent and needs no answer, up to the first that does.
    private void retire() {
        while (head < next) {
            SendRequest request = sends.at(head);
            if (request.operation.needsResponse()) {
                return;
            }
            head++;
            complete(request);
        }
        if (failed) {
            failStalled();
        }
    }

    /// The request before `head` is done.
    private void complete(SendRequest request) {
        completions.succeed(request, head);
    }

    private boolean executeLocal(SendRequest request) {
        if (!core.executeLocal(request)) {
            return failHere();
        }
        head = ++next;
        complete(request);
        return true;
    }

    // ---- failure

    /// The request at `next` cannot go on; it fails when all before it are done, so that completions stay in
    /// order.
    private boolean failLocally(SendRequest request, WcStatus status, String cause) {
        request.localError = status;
        request.localCause = cause;
        return failHere();
    }

    /// The same of a request that says how it has failed.
    private boolean failHere() {
        failed = true;
        message = Message.NONE;
        if (head == next) {
            failStalled();
        }
        return false;
    }

    private void failStalled() {
        SendRequest request = sends.at(head);
        WcStatus status = request.localError;
        failHead(status == null ? WcStatus.GENERAL_ERR : status, 0, request.localCause);
        connection.terminateLocally();
    }

    /// The oldest request fails, and the connection with it.
    void failHead(WcStatus status, int vendorError, String cause) {
        SendRequest request = sends.at(head++);
        long wrId = request.wrId;
        completions.fail(request, head, status, vendorError, cause);
        connection.fail(status + " on the request with wrId " + wrId + ": " + cause);
    }

    /// The number of the oldest READ outstanding with this sink; 0 when there is none.
    int numberOfRead(int sinkStag, long sinkOffset) {
        int number = msnRequest - outstanding + (rtrOutstanding ? 1 : 0);
        for (long at = head; at < next; at++) {
            SendRequest request = sends.at(at);
            if (request.operation == SendOperation.READ
                    && sinkStag(request) == sinkStag
                    && sinkOffset(request) == sinkOffset) {
                return number;
            }
            number += request.operation.needsResponse() ? 1 : 0;
        }
        return 0;
    }

    /// The peer has refused the READ or atomic with this number in its queue; those before it are flushed. False
    /// when there is none.
    boolean failRequest(int msn, WcStatus status, int vendorError, String cause) {
        int index = msn - (msnRequest - outstanding) - (rtrOutstanding ? 1 : 0);
        if (index < 0 || index >= outstanding - (rtrOutstanding ? 1 : 0)) {
            return false;
        }
        while (head < next) {
            if (sends.at(head).operation.needsResponse() && index-- == 0) {
                failHead(status, vendorError, cause);
                return true;
            }
            SendRequest request = sends.at(head++);
            completions.flush(request, head);
        }
        return false;
    }

    /// The code of what was refused to a peer that reads or uses atomics.
    static TerminateCode code(MemoryVerdict verdict, long address, long bytes) {
        return switch (verdict) {
            case WRONG_DOMAIN, WRONG_QUEUE_PAIR -> TerminateCode.STAG_NOT_ASSOCIATED;
            case NO_RIGHT, NOT_ALLOWED -> TerminateCode.ACCESS;
            case OUT_OF_BOUNDS, TOO_SHORT -> wraps(address, bytes) ? TerminateCode.OFFSET_WRAP : TerminateCode.BOUNDS;
            case NO_SUCH_KEY, NOT_BOUND, GONE, OK -> TerminateCode.INVALID_STAG;
        };
    }

    static boolean wraps(long address, long bytes) {
        return bytes > 0 && Long.compareUnsigned(address + bytes - 1, address) < 0;
    }
}
