package verbena.nic;

import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;

/// The posting side of a receive queue: one batch that is used again and again, by whoever holds its lock.
final class SoftReceives implements ReceiveBatch {
    private final ReceiveQueue queue;
    private final SoftProtectionDomain domain;
    private final String limitName;
    private final Runnable doorbell;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ReceiveRequest current;

    /// @param limitName what messages call the queue's size
    /// @param doorbell run after each submission
    SoftReceives(ReceiveQueue queue, SoftProtectionDomain domain, String limitName, Runnable doorbell) {
        this.queue = queue;
        this.domain = domain;
        this.limitName = limitName;
        this.doorbell = doorbell;
    }

    /// Waits for a turn.
    SoftReceives begin() {
        lock.lock();
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            throw new IllegalStateException("receive: this thread has a batch open on the same queue; close it first");
        }
        return this;
    }

    @Override
    public ReceiveBatch receive(long wrId) {
        checkHeld();
        if (!queue.hasRoom()) {
            current = null;
            throw new ResourceLimitException(
                    where(queue.claimed(), wrId), limitName, queue.capacity(), "the queue is full; poll completions");
        }
        ReceiveRequest request = queue.claim();
        request.wrId = wrId;
        request.scatter.clear();
        current = request;
        return this;
    }

    @Override
    public ReceiveBatch sge(MemoryRegion region, long offset, int length) {
        if (region.protectionDomain() != domain) {
            throw new IllegalArgumentException(
                    "sge: " + region + " is of another protection domain than " + domain.label());
        }
        Objects.checkFromIndexSize(offset, length, region.length());
        return sge(region.lkey(), region.address() + offset, length);
    }

    @Override
    public ReceiveBatch sge(int lkey, long address, int length) {
        checkHeld();
        ReceiveRequest request = current;
        if (request == null) {
            throw new IllegalStateException("sge: begin a request with receive(wrId) first");
        }
        if (length < 0) {
            throw new IllegalArgumentException("length: not negative, got " + length);
        }
        if (request.scatter.isFull()) {
            throw new ResourceLimitException(
                    where(queue.claimed() - 1, request.wrId), "maxReceiveSge", queue.maxSge(), "use fewer entries");
        }
        request.scatter.add(lkey, address, length);
        return this;
    }

    @Override
    public int submit() {
        checkHeld();
        current = null;
        int n = queue.publish();
        if (n > 0) {
            doorbell.run();
        }
        return n;
    }

    @Override
    public void close() {
        if (lock.isHeldByCurrentThread()) {
            current = null;
            queue.abandon();
            lock.unlock();
        }
    }

    private void checkHeld() {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("receive: the batch is closed, or belongs to another thread");
        }
    }

    private static String where(int index, long wrId) {
        return "receive " + index + " of the batch (wrId " + wrId + ")";
    }
}
