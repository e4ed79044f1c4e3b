package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The files of one neighbour that are mapped here. Their number and size are limited: a hostile neighbour can use
/// up no more of this process's address space. For the owner of the engine.
final class MappedFiles {
    static final int FILES_MAX = 1 << 10;
    static final long BYTES_MAX = 1L << 40;

    private final int slot;
    private final MemoryFiles files;
    private final Map<Integer, MappedFile> byNumber = new HashMap<>();
    private long bytes;

    MappedFiles(int slot, MemoryFiles files) {
        this.slot = slot;
        this.files = files;
    }

    /// Returns whether the file with this number is mapped.
    boolean has(int number) {
        return byNumber.containsKey(number);
    }

    /// Returns the file that a grant lies in, mapped now if a descriptor came with it; null when there is none that
    /// holds all of the grant.
    @Nullable
    MappedFile file(GrantMessage given, int descriptor) {
        MappedFile file = byNumber.get(given.file());
        if (file == null && descriptor >= 0) {
            file = map(given, descriptor);
        }
        if (file == null) {
            return null;
        }
        long size = file.memory.byteSize();
        boolean fits = given.offset() >= 0
                && given.length() > 0
                && given.length() <= size
                && given.offset() <= size - given.length();
        boolean mayChange = !file.memory.isReadOnly() || (given.rights() & GrantsGiven.CHANGES) == 0;
        if (fits && mayChange) {
            return file;
        }
        boolean _ = forgetUnused(file);
        return null;
    }

    private @Nullable MappedFile map(GrantMessage given, int descriptor) {
        long size = given.fileBytes();
        if (size <= 0 || size > BYTES_MAX - bytes || byNumber.size() == FILES_MAX) {
            return null;
        }
        Arena arena = Arena.ofShared();
        MemorySegment memory = files.map(descriptor, size, given.isWritable(), arena);
        if (memory.byteSize() != size) {
            arena.close();
            return null;
        }
        var file = new MappedFile(slot, given.file(), memory, arena);
        byNumber.put(file.number, file);
        bytes += size;
        return file;
    }

    /// Unmaps the file when no grant in it is held; whether it did.
    boolean forgetUnused(MappedFile file) {
        if (file.users > 0 || !byNumber.remove(file.number, file)) {
            return false;
        }
        bytes -= file.memory.byteSize();
        file.unmap();
        return true;
    }

    /// Unmaps all: the neighbour is gone, and no grant of it is held.
    void clear() {
        byNumber.values().forEach(MappedFile::unmap);
        byNumber.clear();
        bytes = 0;
    }
}
