package verbena.nic.kind;

import java.util.Set;
import verbena.provider.Slabs;
import verbena.verbs.Access;

/// Memory of the regions that bring theirs ([verbena.verbs.ProtectionDomain#allocate]), and of inline data. One
/// instance serves one open device; any thread.
public interface RegionMemory extends AutoCloseable {
    /// Returns a piece of memory of the given size.
    ///
    /// @param access the rights of its region; a region that is registered anew may have others later
    /// @throws IllegalArgumentException when it is to have none
    /// @throws verbena.verbs.ResourceLimitException when the process cannot have so much
    Slabs.Piece allocate(long bytes, Set<Access> access);

    /// Ends, with the device: no piece is given out any more. Memory that a program still holds stays usable.
    @Override
    void close();

    /// Returns memory of this process that no other can see.
    static RegionMemory ofProcess() {
        var slabs = new Slabs();
        return new RegionMemory() {
            @Override
            public Slabs.Piece allocate(long bytes, Set<Access> access) {
                return slabs.allocate(bytes);
            }

            @Override
            public void close() {}
        };
    }
}
