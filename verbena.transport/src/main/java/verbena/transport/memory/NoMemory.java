package verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/// The memory of regions that have none: reading gives zeros, and what is written is gone.
final class NoMemory implements UserMemory {
    @Override
    public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (from.equals(MemorySegment.NULL)) {
            to.asSlice(toOffset, bytes).fill((byte) 0);
        }
        return true;
    }

    /// Refuses it: no peer has a right to such a region.
    @Override
    public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
        return false;
    }

    @Override
    public long original() {
        return 0;
    }

    @Override
    public UserMemory forAnotherEngine() {
        return this;
    }
}
