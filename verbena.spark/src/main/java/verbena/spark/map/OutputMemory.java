package verbena.spark.map;

import java.util.List;
import java.util.Set;
import verbena.spark.device.RegionBlock;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;

/// Registered memory that map outputs of one shuffle lie in, one behind the other. They share a key at each door,
/// because a key is dear for a reader: within a host it asks for a grant, and READs by packets meanwhile.
///
/// When its last output is withdrawn, its keys end. Blocks that this process reads itself, or sends by Spark's
/// transport, hold the memory until they are released, also when that is later. Any thread may use it.
final class OutputMemory implements RegionBlock.Holder {
    /// The alignment of an output.
    private static final long ALIGNMENT = 64;

    final int shuffleId;
    /// The first has the memory, the others are further registrations of it.
    private final List<MemoryRegion> regions;

    // Guarded by this.
    private long taken;
    private int outputs;
    /// Those that hold the memory, and one more until it has ended.
    private int holders = 1;

    OutputMemory(int shuffleId, List<MemoryRegion> regions) {
        this.shuffleId = shuffleId;
        this.regions = regions;
    }

    /// Returns the memory at each door.
    List<MemoryRegion> regions() {
        return regions;
    }

    long bytes() {
        return regions.getFirst().length();
    }

    /// Takes room for an output: where it begins; negative when there is none.
    synchronized long take(long bytes) {
        if (bytes > bytes() - taken) {
            return -1;
        }
        long begin = taken;
        taken = Math.min(bytes(), begin + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        outputs++;
        return begin;
    }

    /// Handles an output that leaves, whose room is not used again. Returns whether it was the last one, so that
    /// this memory has ended.
    synchronized boolean leave() {
        if (--outputs > 0) {
            return false;
        }
        regions.subList(1, regions.size()).forEach(MemoryRegion::close);
        if (holders > 1) {
            MemoryRegion first = regions.getFirst();
            first.reregister(first.protectionDomain(), Set.of(Access.LOCAL_WRITE));
        }
        taken = bytes(); // room for no other
        release();
        return true;
    }

    @Override
    public synchronized void retain() {
        if (holders == 0) {
            throw new IllegalStateException("map output of shuffle " + shuffleId + ": withdrawn");
        }
        holders++;
    }

    @Override
    public synchronized void release() {
        if (holders > 0 && --holders == 0) {
            regions.getFirst().close();
        }
    }
}
