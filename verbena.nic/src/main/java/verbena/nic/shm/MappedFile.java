package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A file of a neighbour that is mapped here, as long as grants in it are held. For the owner of the engine.
final class MappedFile {
    final int slot;
    final int number;
    final MemorySegment memory;
    /// The number of grants in it that are held.
    int users;

    private final Arena arena;

    MappedFile(int slot, int number, MemorySegment memory, Arena arena) {
        this.slot = slot;
        this.number = number;
        this.memory = memory;
        this.arena = arena;
    }

    /// Ends the mapping. Grants that still name it decline from now on.
    void unmap() {
        arena.close();
    }
}
