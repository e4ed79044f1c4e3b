package verbena.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.VerbsException;

/// The receives of a connection that posts them by itself, before a program asks for a message: a message finds one
/// at once, and its sender never waits to try again. Each has its part of one region. Any thread.
///
/// Threads take the receives in the order in which they were posted. A thread copies the message out and posts the
/// same memory again, behind the others.
final class ReceivesAhead {
    /// A receive that is posted.
    private static final class Slot {
        private final LocalMemory memory;
        private @Nullable WorkRequest<ReceivedMessage> request;

        private Slot(LocalMemory memory) {
            this.memory = memory;
        }
    }

    private final QueuePair queuePair;
    private final Ending ending;
    private final Poster poster;
    private final Outstanding receives;
    private final MemoryRegion memory;
    /// The bytes of that memory, also when it is closed meanwhile.
    private final MemorySegment arrived;
    private final int bytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition posted = lock.newCondition();
    // Under the lock.
    private final ArrayDeque<Slot> slots;
    /// The requests that the program has, and whose messages are not delivered, the oldest first.
    private final ArrayDeque<WorkRequest<ReceivedMessage>> given = new ArrayDeque<>();
    /// Whether one could not be posted again.
    private boolean isOver;

    /// @param count how many
    /// @param bytes of each
    ReceivesAhead(
            QueuePair queuePair,
            MemoryRegion memory,
            Ending ending,
            Poster poster,
            Outstanding receives,
            int count,
            int bytes) {
        this.queuePair = queuePair;
        this.ending = ending;
        this.poster = poster;
        this.receives = receives;
        this.bytes = bytes;
        this.memory = memory;
        this.arrived = memory.segment();
        this.slots = new ArrayDeque<>(count);
    }

    /// Posts them all.
    void begin() {
        lock.lock();
        try {
            for (long at = 0; at < memory.length(); at += bytes) {
                post(new Slot(memory.slice(at, bytes)));
            }
        } finally {
            lock.unlock();
        }
    }

    private void post(Slot slot) {
        assert lock.isHeldByCurrentThread() : "the order of slots is that of posting";
        try {
            slot.request = poster.start(
                    receives, "receive", true, request -> queuePair.postReceive(request.wrId, slot.memory));
        } catch (InterruptedException e) {
            throw new AssertionError("there is a place for each slot, so nothing waits", e);
        }
        slots.addLast(slot);
        posted.signal();
    }

    /// Waits for a message, and copies it to the beginning of `into`.
    ReceivedMessage receive(MemorySegment into) throws InterruptedException {
        Slot slot = takeNow();
        WorkRequest<ReceivedMessage> request = await(slot, into.byteSize());
        MemorySegment.copy(arrived, slot.memory.offset(), into, 0, request.bytesInMemory());
        ReceivedMessage message = request.message();
        receives.recycle(request);
        again(slot);
        return message;
    }

    /// Waits for a message of up to `maxBytes` bytes.
    byte[] receive(int maxBytes) throws InterruptedException {
        Slot slot = takeNow();
        WorkRequest<ReceivedMessage> request = await(slot, maxBytes);
        byte[] message =
                arrived.asSlice(slot.memory.offset(), request.bytesInMemory()).toArray(ValueLayout.JAVA_BYTE);
        receives.recycle(request);
        again(slot);
        return message;
    }

    /// Gives the program the oldest receive. Its message is copied to the beginning of `into` when the program sees
    /// that it is done.
    WorkRequest<ReceivedMessage> post(LocalMemory into) throws InterruptedException {
        Slot slot = take("postReceive");
        WorkRequest<ReceivedMessage> request = Objects.requireNonNull(slot.request);
        request.deliverBy(() -> deliver(slot, request, into));
        lock.lock();
        try {
            given.addLast(request);
        } finally {
            lock.unlock();
        }
        return request;
    }

    private void deliver(Slot slot, WorkRequest<ReceivedMessage> request, LocalMemory into) {
        boolean isDelivered = false;
        try {
            isDelivered = request.isOk() && copy(slot, request, into);
        } finally {
            lock.lock();
            try {
                given.remove(request);
            } finally {
                lock.unlock();
            }
            if (isDelivered) {
                again(slot);
            } else {
                over();
            }
        }
    }

    /// Copies a message; returns false when the program has no memory for it, which ends the connection.
    private boolean copy(Slot slot, WorkRequest<ReceivedMessage> request, LocalMemory into) {
        long length = request.bytesInMemory();
        if (into.region().isClosed()) {
            fail(request, "the program has closed the memory of a receive");
        } else if (length > into.length()) {
            fail(request, tooLong(length, into.length()));
        } else {
            MemorySegment.copy(arrived, slot.memory.offset(), into.segment(), 0, length);
            return true;
        }
        return false;
    }

    private void fail(WorkRequest<ReceivedMessage> request, String why) {
        ending.end(Reason.FAILED, "receive failed: " + why);
        request.fail(why);
    }

    private static String tooLong(long length, long maxBytes) {
        return "a message of " + length + " bytes, for " + maxBytes;
    }

    private Slot takeNow() throws InterruptedException {
        try {
            return take("receive");
        } catch (InterruptedException e) {
            ending.end(Reason.INTERRUPTED, Thread.currentThread() + " was interrupted in receive");
            throw e;
        }
    }

    /// Takes the oldest receive. Waits while there is none.
    private Slot take(String verb) throws InterruptedException {
        ending.checkOpen(verb);
        lock.lock();
        try {
            while (!isOver) {
                Slot oldest = slots.pollFirst();
                if (oldest != null) {
                    return oldest;
                }
                WorkRequest<ReceivedMessage> first = given.peekFirst();
                if (first == null) {
                    posted.await();
                } else {
                    awaitDelivery(first);
                }
            }
            throw ending.exception(verb);
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the message of a request that the program has: its receive can then be posted again.
    private void awaitDelivery(WorkRequest<ReceivedMessage> request) throws InterruptedException {
        lock.unlock();
        try {
            boolean _ = receives.await(request, Long.MAX_VALUE);
            request.deliver();
        } finally {
            lock.lock();
        }
    }

    /// Waits for the message of this receive.
    private WorkRequest<ReceivedMessage> await(Slot slot, long maxBytes) throws InterruptedException {
        boolean received = false;
        WorkRequest<ReceivedMessage> request = Objects.requireNonNull(slot.request);
        try {
            poster.await(request);
            long length = request.bytesInMemory();
            if (length > maxBytes) {
                ending.end(Reason.FAILED, "receive failed: " + tooLong(length, maxBytes));
                throw ending.exception("receive");
            }
            received = true;
            return request;
        } finally {
            if (!received) {
                over();
            }
        }
    }

    private void again(Slot slot) {
        lock.lock();
        try {
            post(slot);
        } catch (VerbsException e) {
            over(); // the message has come, though the connection has ended since
        } finally {
            lock.unlock();
        }
    }

    /// Handles the end of the connection. Messages that have come already are taken first.
    private void over() {
        lock.lock();
        try {
            isOver = slots.isEmpty();
            posted.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
