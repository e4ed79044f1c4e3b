package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A place in registered memory of this side: a [MemoryRegion], or a part of one ([#slice]). It is made once and
/// named in any number of requests, by any thread; [RemoteMemory] is a place of the peer's.
///
/// Operations that move data take their two places as a copy does, the source first, and the source says how many
/// bytes move. The destination has room for at least as many.
public interface LocalMemory {
    /// Returns the region that it is a part of.
    MemoryRegion region();

    /// Returns where it begins in its region, in bytes.
    long offset();

    /// Returns its bytes.
    long length();

    /// Returns the memory.
    ///
    /// @throws InvalidStateException when this process has no address of it ([MemoryRegion#segment()])
    default MemorySegment segment() {
        return region().segment().asSlice(offset(), length());
    }

    /// Returns the address and key by which a peer reaches this place.
    default RemoteMemory remote() {
        return new RemoteMemory(region().address() + offset(), region().rkey(), length());
    }

    /// Returns its part of `length` bytes from `offset` on.
    ///
    /// @throws IndexOutOfBoundsException when the part is not inside
    default LocalMemory slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, length());
        return new MemorySlice(region(), offset() + offset, length);
    }

    /// Returns its part from `offset` to the end.
    ///
    /// @throws IndexOutOfBoundsException when `offset` is not inside
    default LocalMemory slice(long offset) {
        return slice(offset, length() - offset);
    }
}
