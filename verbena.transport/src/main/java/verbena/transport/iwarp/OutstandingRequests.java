package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.SendCompletions;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.TerminateCode;

/// The requests of the application, oldest first. Those before `head` are done, those before `next` have been sent,
/// and the one at `next` is being sent or comes next. A request that needs no answer is done when its last byte has
/// been given to the stream (RFC 5040 5.5: nothing acknowledges it). But completions come in order, behind a READ
/// that is not answered yet. So the READ or atomic whose answer comes next is always at `head`. Engine-confined.
final class OutstandingRequests {
    /// The STag of the READ by which a connection begins (RFC 6581); soft-iWARP's choice.
    static final int RTR_STAG = 1;

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Termination termination;
    private final SendQueue sends;
    private final SendCompletions completions;

    private long head;
    private long next;
    /// The request at `next` failed on this side, and waits for those before it.
    private boolean failed;
    /// READ and atomic requests that were sent and not answered.
    private int unanswered;
    /// The oldest READ outstanding is the one by which the connection began.
    private boolean rtrOutstanding;
    /// The number that the next READ or atomic has in its queue.
    private int msn;
    /// Bytes of the head's answer that have arrived.
    private long received;

    OutstandingRequests(
            QueuePairCore core,
            Termination termination,
            SendQueue sends,
            CompletionRing completions,
            boolean signalAll) {
        this.core = core;
        this.p = core.parameters;
        this.termination = termination;
        this.sends = sends;
        this.completions = new SendCompletions(core, sends, completions, signalAll);
    }

    // ---- life

    void start() {
        msn = 1;
    }

    /// Forgets everything, and completes nothing (RESET).
    void reset() {
        head = next = sends.published();
        sends.retire(head);
        stop();
    }

    /// Completes everything that is posted as flushed, in order (ERR).
    void flush() {
        stop();
        head = next = completions.flushAll(head);
    }

    private void stop() {
        failed = false;
        unanswered = 0;
        rtrOutstanding = false;
        received = 0;
    }

    /// Returns whether everything has been sent and answered.
    boolean isDone() {
        return head == sends.published() && unanswered == 0;
    }

    // ---- sending

    /// Returns whether there is a request to be sent, and none has failed.
    boolean hasNext() {
        return !failed && next < sends.published();
    }

    SendRequest next() {
        return sends.at(next);
    }

    /// Returns the number of READs and atomics that were sent and not answered.
    int unanswered() {
        return unanswered;
    }

    /// Counts a READ or atomic that is sent; returns its number in its queue.
    int ask() {
        unanswered++;
        return msn++;
    }

    /// Counts the READ by which the connection begins; no application has posted it.
    int askRtr() {
        rtrOutstanding = true;
        return ask();
    }

    /// Moves on: the next request has been given to the stream.
    void sent() {
        next++;
        assertOrder();
        retire();
    }

    /// Carries out the next request, which never leaves this side; false when it has to wait for others, or fails.
    /// It waits for everything before it, as on a reliable connection of InfiniBand.
    boolean executeLocal(SendRequest request) {
        if (head != next) {
            return false;
        }
        if (!core.executeLocal(request)) {
            return fail();
        }
        head = ++next;
        completions.succeed(request, head);
        return true;
    }

    /// Fails the next request, which cannot go on, when all before it are done, so that completions stay in order.
    /// Returns false.
    boolean fail(SendRequest request, WcStatus status, String cause) {
        request.localError = status;
        request.localCause = cause;
        return fail();
    }

    private boolean fail() {
        failed = true;
        if (head == next) {
            failStalled();
        }
        return false;
    }

    private void failStalled() {
        SendRequest request = sends.at(head);
        WcStatus status = request.localError;
        failHead(status == null ? WcStatus.GENERAL_ERR : status, 0, request.localCause);
        termination.terminateLocally();
    }

    // ---- answers that arrive

    /// Returns whether a READ's answer may come now.
    boolean awaitsRead() {
        return rtrOutstanding || (unanswered > 0 && sends.at(head).operation == SendOperation.READ);
    }

    /// Returns whether an atomic's answer may come now.
    boolean awaitsAtomic() {
        return !rtrOutstanding && unanswered > 0 && sends.at(head).operation.isAtomic();
    }

    /// Returns whether the oldest is the READ by which the connection began, which no application has posted.
    boolean awaitsRtr() {
        return rtrOutstanding;
    }

    /// Returns the STag that the answer to the oldest READ goes to.
    int expectedStag() {
        return rtrOutstanding ? RTR_STAG : sinkStag(sends.at(head));
    }

    /// Returns the offset that comes next of that answer.
    long expectedOffset() {
        return rtrOutstanding ? 0 : sinkOffset(sends.at(head)) + received;
    }

    /// Returns the number of bytes of that answer that are missing.
    long missing() {
        return rtrOutstanding ? 0 : sends.at(head).bytes() - received;
    }

    /// Returns the STag that the answer to a READ has to name. It is the first entry's key, and its address goes
    /// with it, as if all entries lay in one piece. The peer only repeats it; nothing is found by it.
    static int sinkStag(SendRequest request) {
        return request.scatter.count == 0 ? 0 : request.scatter.lkeys[0];
    }

    /// Returns the address that goes with [#sinkStag].
    static long sinkOffset(SendRequest request) {
        return request.scatter.count == 0 ? 0 : request.scatter.addresses[0];
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

    /// Notes that bytes have been put into the place that [#locate] gave.
    void placed(int bytes) {
        received += bytes;
        assert received <= sends.at(head).bytes() : "no more than was asked for";
    }

    /// Moves on to the next request: the READ's answer is complete.
    void readAnswered() {
        received = 0;
        unanswered--;
        if (rtrOutstanding) {
            rtrOutstanding = false;
            return;
        }
        finishHead();
    }

    /// Returns whether `identifier` is that of the oldest atomic outstanding: this side numbers them as the queue
    /// does.
    boolean isExpected(int identifier) {
        return identifier == msn - unanswered;
    }

    /// Takes the atomic's answer, which lies at `offset` in this host's order.
    MemoryVerdict atomicAnswered(MemorySegment from, long offset) {
        SendRequest request = sends.at(head);
        MemoryVerdict verdict = core.memory.scatter(request.scatter, p.protectionDomain, 0, from, offset, Long.BYTES);
        if (verdict == MemoryVerdict.OK) {
            unanswered--;
            finishHead();
        }
        return verdict;
    }

    private void finishHead() {
        assertOrder();
        assert head < next : "it has been sent";
        SendRequest request = sends.at(head++);
        completions.succeed(request, head);
        retire();
    }

    /// Completes the requests that have been sent and need no answer, up to the first that needs one.
    private void retire() {
        while (head < next) {
            SendRequest request = sends.at(head);
            if (request.operation.needsResponse()) {
                return;
            }
            head++;
            completions.succeed(request, head);
        }
        if (failed) {
            failStalled();
        }
    }

    private void assertOrder() {
        assert head <= next && next <= sends.published() : "order of positions";
        assert unanswered >= 0 : "only what was asked for is answered";
    }

    // ---- failure

    /// Fails the oldest request, and the connection with it.
    void failHead(WcStatus status, int vendorError, String cause) {
        SendRequest request = sends.at(head++);
        long wrId = request.wrId;
        completions.fail(request, head, status, vendorError, cause);
        termination.fail(status + " on the request with wrId " + wrId + ": " + cause);
    }

    /// Refuses the answer to our oldest READ or atomic: it does not fit, or cannot be placed.
    void refuseAnswer(TerminateCode code, WcStatus status, String cause) {
        termination.count(PacketFate.REFUSED);
        if (awaitsRtr()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_REQ_ERR);
            termination.fail("terminated the connection, " + code + ": " + cause);
        } else {
            failHead(status, 0, cause);
        }
        termination.terminate(code);
    }

    /// Returns the number of the oldest READ outstanding with this sink; 0 when there is none.
    int numberOfRead(int stag, long offset) {
        int number = firstMsn();
        for (long at = head; at < next; at++) {
            SendRequest request = sends.at(at);
            if (request.operation == SendOperation.READ && sinkStag(request) == stag && sinkOffset(request) == offset) {
                return number;
            }
            number += request.operation.needsResponse() ? 1 : 0;
        }
        return 0;
    }

    /// Fails the READ or atomic with this number in its queue, which the peer has refused; those before it are
    /// flushed. Returns false when there is none.
    boolean failRequest(int number, WcStatus status, int vendorError, String cause) {
        int index = number - firstMsn();
        if (index < 0 || index >= msn - firstMsn()) {
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

    /// Returns the number of the application's oldest READ or atomic outstanding.
    private int firstMsn() {
        return msn - unanswered + (rtrOutstanding ? 1 : 0);
    }
}
