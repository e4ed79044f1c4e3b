package verbena.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.waiting.TimeLimits;

/// The posting side of a [Connection], which also waits for requests that no program sees. Any thread.
final class Poster {
    /// Posts a request.
    interface Post {
        void post(WorkRequest<?> request);
    }

    /// Begins a request in a batch.
    interface Begin {
        SendBatch begin(SendBatch batch, long wrId);
    }

    /// Fills memory, and says how much of it.
    interface Fill {
        int fill(MemoryRegion region) throws InterruptedException;
    }

    private final Ending ending;
    private final QueuePair queuePair;
    private final Outstanding sends;
    private final Outstanding receives;
    private final Staging staging;
    private final int inlineBytes;
    private final long requestNanos;

    Poster(
            QueuePair queuePair,
            Staging staging,
            Ending ending,
            ConnectionOptions options,
            Outstanding sends,
            Outstanding receives) {
        this.ending = ending;
        this.queuePair = queuePair;
        this.sends = sends;
        this.receives = receives;
        this.staging = staging;
        this.inlineBytes = options.sizes().maxInlineBytes();
        this.requestNanos = options.requestTimeout().map(TimeLimits::nanos).orElse(TimeLimits.FOREVER);
    }

    /// Posts a request, when the queue pair has room for it. A thread that is interrupted before has posted
    /// nothing.
    ///
    /// @param reusable whether no program sees it, so that [#finish] follows
    <T> WorkRequest<T> start(Outstanding queue, String verb, boolean reusable, Post post) throws InterruptedException {
        ending.checkOpen(verb);
        WorkRequest<T> request = null;
        boolean posted = false;
        try {
            request = queue.begin(verb, reusable, reusable && queue == sends ? requestNanos : TimeLimits.FOREVER);
            if (request == null) {
                throw late(verb);
            }
            post.post(request);
            request.onPosted();
            posted = true;
            return request;
        } catch (InvalidStateException e) {
            throw ending.refused(verb, e);
        } finally {
            if (!posted && request != null) {
                queue.withdraw(request);
            }
        }
    }

    /// Posts a receive without memory.
    void postEmptyReceive(WorkRequest<?> request) {
        try (ReceiveBatch batch = queuePair.receiveBatch()) {
            batch.receive(request.wrId).submit();
        }
    }

    /// Posts an atomic, whose previous value goes to the request's word.
    void postAtomic(MemoryRegion words, WorkRequest<?> request, Begin begin) {
        try (SendBatch batch = queuePair.sendBatch()) {
            begin.begin(batch, request.wrId)
                    .sge(words, request.word(), Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    /// Waits until a request that no program sees is done.
    ///
    /// @return its result
    long finish(WorkRequest<?> request) throws InterruptedException {
        await(request);
        long result = request.value;
        request.outstanding().recycle(request);
        return result;
    }

    /// Waits until a receive that no program sees is done.
    ReceivedMessage finishReceive(WorkRequest<?> request) throws InterruptedException {
        await(request);
        ReceivedMessage message = request.message();
        receives.recycle(request);
        return message;
    }

    /// Waits until a receive that no program sees is done.
    ///
    /// @return the bytes that are in its memory
    int finishBytes(WorkRequest<?> request) throws InterruptedException {
        await(request);
        int bytes = (int) request.bytesInMemory(); // an array has no more
        receives.recycle(request);
        return bytes;
    }

    /// Waits until a request that no program sees is done. [#finish] takes it back.
    void await(WorkRequest<?> request) throws InterruptedException {
        Outstanding queue = request.outstanding();
        try {
            if (!queue.await(request, request.nanos)) {
                throw late(request.verb);
            }
        } catch (InterruptedException e) {
            ending.end(Reason.INTERRUPTED, Thread.currentThread() + " was interrupted in " + request.verb);
            throw e;
        }
        if (!request.isOk()) {
            throw request.exception();
        }
    }

    /// Ends the connection, whose peer has not let a request be done in its time.
    private ConnectionException late(String verb) {
        ending.end(
                Reason.TIMEOUT,
                verb + " was not done within " + TimeLimits.text(Duration.ofNanos(requestNanos))
                        + ", the limit of ConnectionOptions.withRequestTimeout");
        return ending.exception(verb);
    }

    /// Sends or writes a copy of `data`: with the request itself when it is short, else from memory that is
    /// registered.
    void fromCopy(String verb, byte[] data, Begin begin) throws InterruptedException {
        int length = data.length;
        if (length <= inlineBytes) {
            finish(start(sends, verb, true, request -> {
                try (SendBatch batch = queuePair.sendBatch()) {
                    begin.begin(batch, request.wrId)
                            .inline(MemorySegment.ofArray(data))
                            .signaled()
                            .submit();
                }
            }));
            return;
        }
        MemoryRegion copy = staging.borrow(length);
        MemorySegment.copy(data, 0, memory(verb, copy), ValueLayout.JAVA_BYTE, 0, length);
        finish(start(sends, verb, true, request -> {
            try (SendBatch batch = queuePair.sendBatch()) {
                begin.begin(batch, request.wrId).sge(copy, 0, length).signaled().submit();
            }
        }));
        staging.giveBack(copy);
    }

    /// Receives or reads up to `length` bytes into registered memory, and copies them out.
    byte[] toCopy(String verb, int length, Fill fill) throws InterruptedException {
        MemoryRegion copy = staging.borrow(length);
        byte[] data = new byte[fill.fill(copy)];
        MemorySegment.copy(memory(verb, copy), 0, MemorySegment.ofArray(data), 0, data.length);
        staging.giveBack(copy);
        return data;
    }

    /// Returns the bytes of a region of the connection, which another thread may close.
    private MemorySegment memory(String verb, MemoryRegion region) {
        try {
            return region.segment();
        } catch (InvalidStateException e) {
            throw ending.refused(verb, e);
        }
    }
}
