package verbena.nic.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.MemoryFile;
import verbena.nic.kind.RegionMemory;
import verbena.provider.Slabs;
import verbena.verbs.Access;

/// Region memory that peers of the host can map, in memory files. A peer maps whole files, so regions are kept apart
/// by what their rights allow a peer, and a file has regions of one class only:
///
/// - without any remote right: memory of this process, in no file;
/// - remote reading: files that no peer can map writable;
/// - remote writing or atomics, or windows that may allow them: files that peers can map writable.
///
/// A peer that has mapped a file sees all regions in it, also those that it has no key for. It sees what closed
/// regions left behind too, until the memory is given out again. A large region has a file of its own, which goes
/// with it.
///
/// Where the system has no memory file to give, for want of descriptors for instance, a region has memory of this
/// process.
final class RegionFiles implements RegionMemory {
    private static final System.Logger LOG = System.getLogger("verbena.nic");

    private final Maker maker;
    private final Slabs own = new Slabs();
    private final Slabs readable = new Slabs((arena, bytes) -> allocate(arena, bytes, false));
    private final Slabs writable = new Slabs((arena, bytes) -> allocate(arena, bytes, true));
    /// The files by the address where the memory begins. Slabs stay as long as this object.
    private final ConcurrentSkipListMap<Long, MemoryFile> files = new ConcurrentSkipListMap<>();

    private final AtomicBoolean warned = new AtomicBoolean();

    /// A maker of memory files.
    interface Maker {
        MemoryFile make(long bytes, boolean isWritable, Arena arena) throws IOException;
    }

    /// The place of some memory. [MemoryFile#isWritable()] tells the class of the file, which is not always that of
    /// the region: a program may register the memory of a region once more, with other rights.
    public record Place(MemoryFile file, long offset) {}

    RegionFiles() {
        this((bytes, isWritable, arena) -> MemoryFile.create("verbena", bytes, isWritable, arena));
    }

    RegionFiles(Maker maker) {
        this.maker = maker;
    }

    @Override
    public Slabs.Piece allocate(long bytes, Set<Access> access) {
        Slabs.Piece piece = slabs(access).allocate(bytes);
        long address = piece.segment().address();
        MemoryFile file = files.get(address);
        if (file == null || file.bytes() != bytes) {
            return piece; // part of a slab, or in no file
        }
        // The file is forgotten first: then nothing is found at an address that may be used anew.
        return new Slabs.Piece(piece.segment(), () -> {
            files.remove(address, file);
            piece.free().run();
        });
    }

    private Slabs slabs(Set<Access> access) {
        // A window may be bound for writing only where the owner may write (IBTA 10.6.7.2).
        boolean windowsMayWrite = access.contains(Access.MW_BIND) && access.contains(Access.LOCAL_WRITE);
        if (windowsMayWrite || access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC)) {
            return writable;
        }
        return access.contains(Access.REMOTE_READ) || access.contains(Access.MW_BIND) ? readable : own;
    }

    private MemorySegment allocate(Arena arena, long bytes, boolean isWritable) {
        try {
            MemoryFile file = maker.make(bytes, isWritable, arena);
            files.put(file.memory().address(), file);
            return file.memory();
        } catch (IOException e) {
            if (!warned.getAndSet(true)) {
                LOG.log(System.Logger.Level.WARNING, "peers cannot map every region: " + e.getMessage());
            }
            return arena.allocate(bytes, Slabs.PAGE);
        }
    }

    /// Returns the place of the memory at a native address; null when it is not, or not all of it, in a memory file
    /// of regions that are open. Any thread.
    public @Nullable Place find(long address, long bytes) {
        Map.Entry<Long, MemoryFile> below = files.floorEntry(address);
        if (below == null) {
            return null;
        }
        long offset = address - below.getKey();
        long left = below.getValue().bytes() - offset;
        return bytes > 0 && bytes <= left ? new Place(below.getValue(), offset) : null;
    }

    /// Closes the descriptors, so that no further peer gets a file.
    @Override
    public void close() {
        files.values().forEach(MemoryFile::close);
    }
}
