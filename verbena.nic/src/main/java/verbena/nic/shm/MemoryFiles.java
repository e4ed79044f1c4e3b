package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The files in memory: those of this process, in which regions lie, and those of peers, which can be mapped.
interface MemoryFiles {
    /// A file of this process.
    interface File {
        /// Returns its number, which no other file of the device has or had.
        int number();

        long bytes();

        /// Returns whether peers may write to it; otherwise they only read it.
        boolean isWritable();

        /// Returns a new descriptor for a peer, which the caller closes; negative when there is none.
        int share();
    }

    /// The place of some memory.
    ///
    /// @param offset in the file
    record Place(File file, long offset) {}

    /// Returns the file that holds the bytes from this address on, and their place in it. Returns null when they do
    /// not all lie in one file that peers may map.
    @Nullable
    Place find(long address, long bytes);

    /// Maps a file of a peer, which may be hostile. [MemorySegment#NULL] when it cannot be mapped safely.
    ///
    /// @param descriptor which the caller closes
    /// @param bytes of the file, from its beginning on
    /// @param arena ends the mapping
    MemorySegment map(int descriptor, long bytes, boolean isWritable, Arena arena);

    /// Closes a descriptor.
    void close(int descriptor);
}
