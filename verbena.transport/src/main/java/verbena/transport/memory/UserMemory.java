package verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/// The access of a [MemoryTable] to memory that programs have registered, which may go away at any moment: an arena
/// is closed, a mapped file is cut short, memory of C is unmapped. No method throws because of that. For one engine.
public interface UserMemory {
    /// The operations on 8 bytes.
    enum Atomic {
        ADD,
        COMPARE_AND_SWAP,
        STORE
    }

    /// Copies as [MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)] does. One end is the
    /// engine's, and lasts.
    ///
    /// @return false when some of the memory is not there; others of the bytes may be copied
    boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes);

    /// Changes 8 bytes, natively ordered. Where the address is no multiple of 8, the caller sees to it that no
    /// other engine does the same.
    ///
    /// @param value to add, or to store
    /// @param expected by [Atomic#COMPARE_AND_SWAP]
    /// @return false when the memory is not there
    boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected);

    /// Returns the value that the last [#atomic] found; after [Atomic#STORE] any value.
    long original();

    /// Returns the same for another engine.
    UserMemory forAnotherEngine();
}
