package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import verbena.provider.Slabs;

/// Where a send queue keeps inline data: a piece of a slab.
final class InlineMemory implements SegmentAllocator {
    private final Slabs slabs;
    private final List<Slabs.Piece> pieces = new ArrayList<>(0);

    InlineMemory(Slabs slabs) {
        this.slabs = slabs;
    }

    @Override
    public MemorySegment allocate(long bytes, long alignment) {
        Slabs.Piece made = slabs.allocate(bytes);
        pieces.add(made);
        return made.segment();
    }

    /// Idempotent; under the posters' lock.
    void free() {
        pieces.forEach(piece -> piece.free().run());
        pieces.clear();
    }
}
