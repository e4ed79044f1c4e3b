package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import verbena.nic.kind.RegionMemory;
import verbena.provider.Slabs;

/// The memory in which a send queue keeps inline data: a piece of a slab.
final class InlineMemory implements SegmentAllocator {
    private final RegionMemory memory;
    private final List<Slabs.Piece> pieces = new ArrayList<>(0);

    InlineMemory(RegionMemory memory) {
        this.memory = memory;
    }

    @Override
    public MemorySegment allocate(long bytes, long alignment) {
        Slabs.Piece made = memory.allocate(bytes, Set.of());
        pieces.add(made);
        return made.segment();
    }

    /// Frees the memory; idempotent. Under the posters' lock.
    void free() {
        pieces.forEach(piece -> piece.free().run());
        pieces.clear();
    }
}
