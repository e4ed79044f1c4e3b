package verbena.nic.device;

import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.provider.Receives;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.verbs.MemoryRegion;
import verbena.verbs.spi.OwnedObject;

/// The posting side of a receive queue. Receives are written straight into their slots.
final class SoftReceives extends Receives {
    /// The owner of the receives, a queue pair or shared receive queue, which acts when a program posts.
    interface Owner {
        /// Throws when nothing can be posted now.
        void checkPostable(String verb);

        /// Called when receives were posted.
        void posted();
    }

    private final ReceiveQueue queue;
    private final Owner poster;
    private final ReentrantLock turn = new ReentrantLock();
    private @Nullable ReceiveRequest current;

    /// @param of the owner of the queue: a shared receive queue if `isShared`, else a queue pair
    SoftReceives(boolean isShared, OwnedObject of, SoftDomain domain, ReceiveQueue queue, Owner owner) {
        super(isShared, of, domain, queue.maxSge());
        this.queue = queue;
        this.poster = owner;
    }

    /// Keeps posters away. Not while this thread has a batch open.
    void lock() {
        turn.lock();
    }

    void unlock() {
        turn.unlock();
    }

    @Override
    protected boolean isMine() {
        return turn.isHeldByCurrentThread();
    }

    @Override
    protected void enter() {
        turn.lock();
    }

    @Override
    protected void forget() {
        queue.abandon();
    }

    @Override
    protected void leave() {
        turn.unlock();
    }

    @Override
    protected void checkPostable(String verb) {
        poster.checkPostable(verb);
    }

    @Override
    protected int claimed() {
        return queue.claimed();
    }

    @Override
    protected boolean hasRoom() {
        return queue.hasRoom();
    }

    @Override
    protected int capacity() {
        return queue.capacity();
    }

    @Override
    protected void unclaim() {
        queue.unclaim();
    }

    @Override
    protected @Nullable OwnedObject own(MemoryRegion region) {
        return region instanceof SoftMemoryRegion own ? own : null;
    }

    @Override
    protected void claim(long wrId) {
        ReceiveRequest request = queue.claim();
        request.wrId = wrId;
        request.scatter.clear();
        current = request;
    }

    @Override
    protected void putEntry(int index, int lkey, long address, int length) {
        Objects.requireNonNull(current, "a receive has begun").scatter.add(lkey, address, length);
    }

    @Override
    protected int handOver() {
        int n = queue.publish();
        if (n > 0) {
            poster.posted();
        }
        return n;
    }
}
