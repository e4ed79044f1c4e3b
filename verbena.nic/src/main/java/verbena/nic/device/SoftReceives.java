package verbena.nic.device;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceLimits;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;

/// The posting side of a receive queue: one per queue, used again for every batch.
final class SoftReceives implements ReceiveBatch {
    /// The queue pair or shared receive queue that it posts to.
    interface Owner {
        /// Throws when nothing can be posted now.
        void checkPostable(String verb);

        /// Something was posted.
        void posted();

        String label();
    }

    private final SoftProtectionDomain domain;
    private final ReceiveQueue queue;
    private final String depthName;
    private final String sgeName;
    private final Owner owner;
    private final ReentrantLock turn = new ReentrantLock();
    private final Posting.Dropper dropper = this::drop;
    private @Nullable ReceiveRequest current;

    SoftReceives(SoftProtectionDomain domain, ReceiveQueue queue, String depthName, String sgeName, Owner owner) {
        this.domain = domain;
        this.queue = queue;
        this.depthName = depthName;
        this.sgeName = sgeName;
        this.owner = owner;
    }

    SoftReceives begin() {
        if (turn.isHeldByCurrentThread()) {
            throw new InvalidStateException(
                    "receive: this thread has a batch of " + owner.label() + " open; close it first");
        }
        owner.checkPostable("receive");
        turn.lock();
        boolean opened = false;
        try {
            owner.checkPostable("receive");
            opened = true;
        } finally {
            if (!opened) {
                turn.unlock();
            }
        }
        return this;
    }

    /// @throws InvalidStateException when this thread has a batch open
    void checkNotMine(String verb) {
        if (turn.isHeldByCurrentThread()) {
            throw new InvalidStateException(verb + ": this thread has a batch of receives open; close it first");
        }
    }

    /// Keeps posters away; not while this thread has a batch open.
    void lock() {
        turn.lock();
    }

    void unlock() {
        turn.unlock();
    }

    @Override
    public ReceiveBatch receive(long wrId) {
        checkOpen();
        current = null;
        if (!queue.hasRoom()) {
            throw new ResourceLimitException(
                    "batch receive " + (queue.claimed() + 1) + " (wrId " + wrId + ")",
                    depthName,
                    queue.capacity(),
                    "the receive queue of " + owner.label() + " is full");
        }
        ReceiveRequest request = queue.claim();
        request.wrId = wrId;
        request.scatter.clear();
        current = request;
        return this;
    }

    @Override
    public ReceiveBatch sge(MemoryRegion region, long offset, int length) {
        ReceiveRequest request = current();
        Posting.check(region, offset, length, domain, dropper);
        return add(request, region.lkey(), region.address() + offset, length);
    }

    @Override
    public ReceiveBatch sge(int lkey, long address, int length) {
        ReceiveRequest request = current();
        if (length < 0) {
            throw new IllegalArgumentException(drop() + "sge: length: not negative, got " + length);
        }
        return add(request, lkey, address, length);
    }

    private ReceiveBatch add(ReceiveRequest request, int lkey, long address, int length) {
        if (request.scatter.isFull()) {
            int max = request.scatter.lkeys.length;
            throw new IllegalArgumentException(drop() + "sge: " + (max + 1) + " entries, " + sgeName + " is " + max);
        }
        if (request.scatter.bytes + length > DeviceLimits.MESSAGE_BYTES_MAX) {
            throw new IllegalArgumentException(drop() + "sge: the entries sum up to more than 2^31 bytes");
        }
        request.scatter.add(lkey, address, length);
        return this;
    }

    @Override
    public int submit() {
        checkOpen();
        owner.checkPostable("submit");
        current = null;
        int n = queue.publish();
        if (n > 0) {
            owner.posted();
        }
        return n;
    }

    @Override
    public void close() {
        if (!turn.isHeldByCurrentThread()) {
            return;
        }
        queue.abandon();
        current = null;
        turn.unlock();
    }

    private void checkOpen() {
        if (!turn.isHeldByCurrentThread()) {
            throw new InvalidStateException("batch: not open, or another thread's");
        }
    }

    private ReceiveRequest current() {
        checkOpen();
        ReceiveRequest request = current;
        if (request == null) {
            throw new InvalidStateException("batch: begin with receive(wrId)");
        }
        return request;
    }

    /// Takes a receive with a mistake back; returns what its message begins with.
    private String drop() {
        ReceiveRequest request = current();
        String place = "batch receive " + queue.claimed() + " (wrId " + request.wrId + "): ";
        queue.unclaim();
        current = null;
        return place;
    }
}
