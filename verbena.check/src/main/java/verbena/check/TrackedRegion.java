package verbena.check;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.verbs.MemoryRegion;

/// A region of the program, as the rules see it.
public final class TrackedRegion extends TrackedObject {
    private final TrackedDevice device;
    private final MemoryRegion region;
    private final @Nullable MemorySegment memory;
    private final boolean isRegistered;
    private final long length;
    private final int lkey;
    private final int rkey;
    private volatile boolean isChangedByPeers;

    /// @param memory null when this process has no address of it
    /// @param isRegistered whether the memory was the program's before
    public TrackedRegion(
            TrackedDevice device,
            MemoryRegion region,
            @Nullable MemorySegment memory,
            boolean isRegistered,
            CallPlace made) {
        super(region.toString(), made);
        this.device = device;
        this.region = region;
        this.memory = memory;
        this.isRegistered = isRegistered;
        this.length = region.length();
        this.lkey = region.lkey();
        this.rkey = region.rkey();
    }

    public TrackedDevice device() {
        return device;
    }

    public MemoryRegion region() {
        return region;
    }

    public long length() {
        return length;
    }

    public int lkey() {
        return lkey;
    }

    public int rkey() {
        return rkey;
    }

    /// Returns whether the memory was the program's before.
    public boolean isRegistered() {
        return isRegistered;
    }

    /// Returns whether a request of a peer was ever about to change bytes of it, as far as the peer is in this process.
    public boolean isChangedByPeers() {
        return isChangedByPeers;
    }

    public void changeByPeers() {
        if (!isChangedByPeers) {
            isChangedByPeers = true;
        }
    }

    /// Returns the memory; null when this process has no address of it.
    public @Nullable MemorySegment memory() {
        return memory;
    }

    /// Returns the part of its memory from `offset` on; null when there is none that can be read.
    public @Nullable MemorySegment part(long offset, long length) {
        MemorySegment all = memory;
        return all == null || !all.scope().isAlive() || offset < 0 || length > all.byteSize() - offset
                ? null
                : all.asSlice(offset, length);
    }
}
