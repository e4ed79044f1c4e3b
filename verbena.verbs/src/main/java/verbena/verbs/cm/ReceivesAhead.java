package verbena.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException.Reason;
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
        private final long offset;
        private @Nullable WorkRequest request;

        private Slot(long offset) {
            this.offset = offset;
        }
    }

    private final QueuePair queuePair;
    private final Ending ending;
    private final Poster poster;
    private final Outstanding receives;
    private final MemoryRegion memory;
    private final int bytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition posted = lock.newCondition();
    // Under the lock.
    private final ArrayDeque<Slot> slots;
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
        this.slots = new ArrayDeque<>(count);
    }

    /// Posts them all.
    void begin() throws InterruptedException {
        lock.lock();
        try {
            for (long at = 0; at < memory.length(); at += bytes) {
                post(new Slot(at));
            }
        } finally {
            lock.unlock();
        }
    }

    private void post(Slot slot) throws InterruptedException {
        assert lock.isHeldByCurrentThread() : "the order of slots is that of posting";
        slot.request = poster.start(
                receives, "receive", true, request -> queuePair.postReceive(request.wrId, memory, slot.offset, bytes));
        slots.addLast(slot);
        posted.signal();
    }

    /// Waits for a message, and copies it to the beginning of `into`.
    ///
    /// @return its bytes
    int receive(MemorySegment into) throws InterruptedException {
        Slot slot = take();
        int length = await(slot, into.byteSize());
        MemorySegment.copy(memory.segment(), slot.offset, into, 0, length);
        again(slot);
        return length;
    }

    /// Waits for a message of up to `maxBytes` bytes.
    byte[] receive(int maxBytes) throws InterruptedException {
        Slot slot = take();
        int length = await(slot, maxBytes);
        byte[] message = memory.segment().asSlice(slot.offset, length).toArray(ValueLayout.JAVA_BYTE);
        again(slot);
        return message;
    }

    private Slot take() throws InterruptedException {
        lock.lock();
        try {
            while (!isOver) {
                Slot oldest = slots.pollFirst();
                if (oldest != null) {
                    return oldest;
                }
                posted.await();
            }
            throw ending.exception("receive");
        } catch (InterruptedException e) {
            ending.end(Reason.DISCONNECTED, Thread.currentThread() + " was interrupted in receive");
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the message of this receive.
    private int await(Slot slot, long maxBytes) throws InterruptedException {
        boolean received = false;
        try {
            int length = (int) poster.finish(Objects.requireNonNull(slot.request));
            if (length > maxBytes) {
                ending.end(Reason.FAILED, "receive failed: a message of " + length + " bytes, for " + maxBytes);
                throw ending.exception("receive");
            }
            received = true;
            return length;
        } finally {
            if (!received) {
                over();
            }
        }
    }

    private void again(Slot slot) throws InterruptedException {
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
