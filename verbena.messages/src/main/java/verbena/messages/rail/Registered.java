package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;

/// Memory that is registered with the devices of a worker: with each when it is first used there. Under the lock of
/// the worker, but for memory that is shared with peers.
public final class Registered {
    private final MemorySegment memory;
    private final Set<Access> access;
    private final @Nullable MemoryRegion[] regions;

    Registered(MemorySegment memory, Set<Access> access, int rails) {
        this.memory = memory;
        this.access = access;
        this.regions = new MemoryRegion[rails];
    }

    MemorySegment memory() {
        return memory;
    }

    public int rails() {
        return regions.length;
    }

    /// Returns whether some memory is a part of it, with these rights.
    boolean serves(MemorySegment part, Set<Access> rights) {
        return isPart(part, memory) && access.equals(rights) && memory.scope().equals(part.scope());
    }

    /// Returns whether all addresses of some memory also belong to other memory.
    static boolean isPart(MemorySegment part, MemorySegment of) {
        long offset = part.address() - of.address();
        return offset >= 0 && offset + part.byteSize() <= of.byteSize();
    }

    /// Returns whether peers can reach it.
    boolean isForPeers() {
        return !Access.local().containsAll(access);
    }

    /// Returns the region of a rail, which is registered when there is none.
    MemoryRegion by(Rail rail) {
        MemoryRegion region = regions[rail.index];
        if (region == null) {
            region = rail.domain.register(memory, access);
            regions[rail.index] = region;
        }
        return region;
    }

    /// Returns the offset of a part in the regions.
    long offset(MemorySegment part) {
        return part.address() - memory.address();
    }

    /// Returns a part of it for a peer, by each rail; key 0 where it cannot be reached.
    ///
    /// @param count of the peer's rails
    public List<RemoteMemory> remote(MemorySegment part, int count) {
        var all = new ArrayList<RemoteMemory>(count);
        for (int i = 0; i < count; i++) {
            MemoryRegion each = regions[i];
            all.add(new RemoteMemory(part.address(), each == null ? 0 : each.rkey(), part.byteSize()));
        }
        return List.copyOf(all);
    }

    public void close(int rail) {
        MemoryRegion region = regions[rail];
        if (region != null) {
            regions[rail] = null;
            region.close(); // the device touches the memory no more
        }
    }

    public void close() {
        for (int i = 0; i < regions.length; i++) {
            close(i);
        }
    }
}
