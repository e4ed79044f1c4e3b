package verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/// A means by which a [MemoryTable] copies [#BYTES_MIN] bytes and more between memory that stays as it is meanwhile:
/// no arena is closed, and no file is cut short. Therefore code outside the virtual machine may do it, which no
/// exception protects.
@FunctionalInterface
public interface LongCopy {
    /// Copies of fewer bytes go by [MemorySegment#copy], which is the faster one while both ends fit the first
    /// cache.
    int BYTES_MIN = 28 << 10;

    /// Copies as [MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)] does.
    void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes);
}
