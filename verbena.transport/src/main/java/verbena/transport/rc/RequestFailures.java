package verbena.transport.rc;

import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.SendCompletions;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.WcStatus;

/// The failures of requests of a [Requester], and of the connection with them. Completions stay in order: a request
/// that fails on this side stalls until all before it are done. Engine-confined.
final class RequestFailures {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final HalfOwner owner;
    private final SendCursor cursor;
    private final SendCompletions completions;

    RequestFailures(QueuePairCore core, HalfOwner owner, SendCursor cursor, SendCompletions completions) {
        this.core = core;
        this.p = core.parameters;
        this.owner = owner;
        this.cursor = cursor;
        this.completions = completions;
    }

    /// Describes the oldest request in words.
    String describeOldest() {
        return cursor.isKeepAlive(cursor.oldestPosition())
                ? "keep-alive"
                : cursor.oldest().describe();
    }

    /// Fails the request at `position` on this side. Its packet `index` cannot be made: its memory is not there any
    /// more, or never was.
    void failLocally(SendRequest request, long position, int index, MemoryVerdict verdict) {
        request.localError = WcStatus.LOC_PROT_ERR;
        request.localCause = (index == 0 ? "" : "after " + (long) index * p.pathMtu + " bytes: ")
                + core.memory.explain(request.scatter, p.protectionDomain, request.operation.needsResponse(), verdict);
        stall(position);
    }

    /// Stalls the request at `position`, which holds the reason why it fails.
    void stall(long position) {
        cursor.stall(position);
        failStalled();
    }

    /// Fails the request that has stalled, if all before it are done.
    void failStalled() {
        if (cursor.isHeadStalled()) {
            SendRequest request = cursor.headRequest();
            WcStatus status = request.localError;
            failOldest(status == null ? WcStatus.GENERAL_ERR : status, 0, request.localCause);
        }
    }

    /// Fails the oldest request of the application, and the connection with it. There may be none: a keep-alive
    /// belongs to no application.
    PacketFate failOldest(WcStatus status, int vendorError, String cause) {
        if (!cursor.hasHead()) {
            owner.fail(status + " on a keep-alive: " + cause);
            return PacketFate.ACCEPTED;
        }
        SendRequest request = cursor.headRequest();
        long wrId = request.wrId;
        cursor.dropHead();
        owner.dropResponses();
        owner.enterError(status + " on the request with wrId " + wrId + ": " + cause);
        completions.fail(request, cursor.head(), status, vendorError, cause);
        owner.flush();
        return PacketFate.ACCEPTED;
    }
}
