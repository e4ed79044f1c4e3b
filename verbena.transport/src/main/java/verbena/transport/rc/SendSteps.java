package verbena.transport.rc;

import verbena.transport.QueuePairCore;
import verbena.transport.RequestWriter;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.wire.Frame;

/// The steps in which a [ReliableConnection] carries out its requests, for a [Detour] that takes some of them. Only
/// a request that is the oldest may be taken, so nothing else is under way then. Engine-confined.
public final class SendSteps {
    private final QueuePairCore core;
    private final Requester requester;
    private final RequestWriter writer;
    private final SendQueue queue;
    private final SendCursor cursor;

    SendSteps(QueuePairCore core, Requester requester, RequestWriter writer, SendQueue queue) {
        this.core = core;
        this.requester = requester;
        this.writer = writer;
        this.queue = queue;
        this.cursor = requester.cursor();
    }

    /// Returns what all protocols of the queue pair share.
    public QueuePairCore core() {
        return core;
    }

    /// Returns the writer of the packets that a request has, or would have.
    public RequestWriter writer() {
        return writer;
    }

    /// Returns the queue of the requests.
    public SendQueue queue() {
        return queue;
    }

    // ---- where sending stands

    /// Returns whether no request may begin or go on now: in another state, or because the peer has asked to wait.
    public boolean isPaused() {
        return requester.isPaused();
    }

    /// Returns whether there is a request to be sent, and none before it has failed.
    public boolean hasCurrent() {
        return cursor.hasCurrent();
    }

    /// Returns the request that is being sent.
    public SendRequest current() {
        return cursor.current();
    }

    /// Returns the place of the current request in the queue.
    public long position() {
        return cursor.currentPosition();
    }

    /// Returns whether no packet of the current request was ever sent.
    public boolean isNew() {
        return cursor.isCurrentNew();
    }

    /// Returns whether all requests before the current one are done.
    public boolean isOldest() {
        return cursor.isCurrentOldest();
    }

    /// Returns the place of the oldest request that is not done.
    public long head() {
        return cursor.head();
    }

    /// Returns the PSN of the packet that is sent next.
    public int psn() {
        return cursor.next();
    }

    // ---- steps

    /// Begins with the current request, which is new. That may happen again.
    public Beginning begin() {
        return requester.begin();
    }

    /// Sends the next packet of the current request, if it may leave now.
    public boolean send(Frame frame, long nowNanos) {
        return requester.send(frame, nowNanos);
    }

    /// Completes the current request, which was carried out without packets.
    public void finish() {
        requester.finishCurrent();
    }

    /// Lets a request have its turn, or the end of the queue, because others are done.
    public void goOn() {
        requester.goOn();
    }
}
