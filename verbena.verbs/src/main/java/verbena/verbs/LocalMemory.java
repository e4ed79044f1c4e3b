package verbena.verbs;

import java.lang.foreign.MemorySegment;

/// A range of registered memory of this side: a [MemoryRegion], or a part of one ([#slice]). [RemoteMemory] is its
/// counterpart at the peer.
///
/// It cannot be changed, and any thread may name it in any number of requests. It is valid as long as its region is
/// open. Closing the region invalidates all its parts.
///
/// Operations that move data take the source first and then the destination, as a copy does. The length of the source
/// is the number of bytes. The destination must be at least as long.
///
/// @since 0.1
public interface LocalMemory {
    /// Returns the region that the memory belongs to.
    MemoryRegion region();

    /// Returns the start of the memory in its region, in bytes.
    long offset();

    /// Returns the length of the memory in bytes.
    long length();

    /// Returns the memory. Do not use it after the region was closed.
    ///
    /// @throws InvalidStateException when the region is closed, or this process has no address of it
    ///     ([MemoryRegion#segment()])
    default MemorySegment segment() {
        return region().segment().asSlice(offset(), length());
    }

    /// Returns the address and the key by which a peer reaches this range. It does not ask whether the region gives
    /// peers any right ([MemoryRegion#access()]): without one, the device refuses their requests.
    default RemoteMemory remote() {
        return new RemoteMemory(region().address() + offset(), region().rkey(), length());
    }

    /// Returns the part of `length` bytes from `offset` on.
    ///
    /// @throws IndexOutOfBoundsException when the part is not inside
    default LocalMemory slice(long offset, long length) {
        Checks.inside("slice", offset, length, length());
        return new MemorySlice(region(), offset() + offset, length);
    }

    /// Returns the part from `offset` to the end.
    ///
    /// @throws IndexOutOfBoundsException when `offset` is not inside
    default LocalMemory slice(long offset) {
        return slice(offset, Math.max(0, length() - offset));
    }
}
