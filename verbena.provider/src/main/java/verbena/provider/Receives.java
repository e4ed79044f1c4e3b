package verbena.provider;

import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.spi.OwnedObject;

/// The posting side of a receive queue: one per queue, used again for every batch.
public abstract class Receives extends Batch implements ReceiveBatch {
    private static final String FIRST = "begin with receive(wrId)";
    private static final Words OF_QUEUE_PAIR = new Words("receive", "receive", "maxReceiveWr", "maxReceiveSge", FIRST);
    private static final Words OF_SHARED_QUEUE = new Words("receive", "receive", "maxWr", "maxSge", FIRST);

    /// @param isShared whether it posts to a shared receive queue rather than to a queue pair
    protected Receives(boolean isShared, OwnedObject owner, ProtectionDomain domain, int maxEntries) {
        super(isShared ? OF_SHARED_QUEUE : OF_QUEUE_PAIR, owner, domain, maxEntries);
    }

    /// Claims a place for a receive without entries.
    protected abstract void claim(long wrId);

    /// Hands the batch over; returns how many receives it had.
    protected abstract int handOver();

    /// Opens the batch in this thread.
    public final ReceiveBatch begin() {
        open();
        return this;
    }

    @Override
    public final ReceiveBatch receive(long wrId) {
        checkOpen();
        boolean _ = end();
        checkRoom(wrId);
        claim(wrId);
        begun(wrId);
        return this;
    }

    @Override
    public final ReceiveBatch sge(MemoryRegion region, long offset, long length) {
        checkBegun();
        entry(region, offset, length);
        return this;
    }

    @Override
    public final ReceiveBatch sge(int lkey, long address, long length) {
        checkBegun();
        entry(lkey, address, length);
        return this;
    }

    @Override
    public final int submit() {
        checkOpen();
        boolean _ = end();
        excuse();
        checkPostable("submit");
        return handOver();
    }

    @Override
    public final void discard() {
        if (isMine()) {
            boolean _ = end();
            forget();
        }
    }

    @Override
    protected final String whenFull() {
        return "the receive queue of " + owner.label() + " is full";
    }
}
