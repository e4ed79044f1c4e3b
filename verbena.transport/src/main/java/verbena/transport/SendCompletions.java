package verbena.transport;

import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// The ends of send requests. The slot of a request is free before its completion can be seen, so that a thread that
/// polls the completion can post again at once. Engine-confined.
public final class SendCompletions {
    private final QueuePairCore core;
    private final SendQueue sends;
    private final CompletionRing completions;
    private final boolean signalAll;

    /// @param signalAll whether every send request completes visibly
    public SendCompletions(QueuePairCore core, SendQueue sends, CompletionRing completions, boolean signalAll) {
        this.core = core;
        this.sends = sends;
        this.completions = completions;
        this.signalAll = signalAll;
    }

    /// Completes a request that is done.
    ///
    /// @param head all requests before this position leave the queue
    public void succeed(SendRequest request, long head) {
        boolean visible = request.signaled || signalAll;
        long wrId = request.wrId;
        WcOpcode opcode = request.operation.completion();
        long bytes = request.bytes();
        core.memory.completing(false);
        sends.retire(head);
        if (visible) {
            core.succeed(completions, wrId, opcode, bytes, 0, 0, 0, false);
        }
    }

    /// Completes a request that has failed.
    ///
    /// @param head all requests before this position leave the queue
    /// @param cause in words
    public void fail(SendRequest request, long head, WcStatus status, int vendorError, String cause) {
        long wrId = request.wrId;
        WcOpcode opcode = request.operation.completion();
        sends.retire(head);
        core.fail(completions, wrId, status, opcode, vendorError, cause);
    }

    /// Completes a request that is flushed.
    ///
    /// @param head all requests before this position leave the queue
    public void flush(SendRequest request, long head) {
        long wrId = request.wrId;
        WcOpcode opcode = request.operation.completion();
        sends.retire(head);
        core.flush(completions, wrId, opcode);
    }

    /// Flushes all posted requests, in order.
    ///
    /// @param from position of the oldest request that is not done
    /// @return the position after the last
    public long flushAll(long from) {
        long head = from;
        while (head < sends.published()) {
            SendRequest request = sends.at(head++);
            flush(request, head);
        }
        return head;
    }
}
