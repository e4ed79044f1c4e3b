package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;

/// Memory that is registered with several devices, so that a peer reaches it by each of its rails.
final class Exposed {
    private final MemorySegment memory;
    private final @Nullable MemoryRegion[] regions;

    Exposed(int rails, MemorySegment memory) {
        this.memory = memory;
        this.regions = new MemoryRegion[rails];
    }

    void add(int rail, MemoryRegion region) {
        regions[rail] = region;
    }

    /// By each rail; key 0 where it cannot be reached.
    List<RemoteMemory> remote() {
        var all = new ArrayList<RemoteMemory>(regions.length);
        for (MemoryRegion each : regions) {
            all.add(new RemoteMemory(memory.address(), each == null ? 0 : each.rkey(), memory.byteSize()));
        }
        return List.copyOf(all);
    }

    MemorySegment memory() {
        return memory;
    }

    void close(int rail) {
        MemoryRegion region = rail < regions.length ? regions[rail] : null;
        if (region != null) {
            regions[rail] = null;
            region.close();
        }
    }

    void close() {
        for (int i = 0; i < regions.length; i++) {
            close(i);
        }
    }
}
