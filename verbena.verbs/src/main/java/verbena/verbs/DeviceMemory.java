package verbena.verbs;

import java.lang.foreign.MemorySegment;

/// Memory of the device itself, which requests reach without a way through the host's memory (ibv_alloc_dm(3)). The
/// program has no address of it: it copies bytes in and out, and registers parts of it for requests
/// ([ProtectionDomain#register(DeviceMemory, long, long, java.util.Set)]), atomics among them. There is little of it:
/// [DeviceAttributes.MemoryLimits#maxDeviceMemoryBytes()].
///
/// A software device's is memory of the process that only copies and regions reach, so it is no faster.
///
/// Any thread may use it; the device does not order copies against requests. [Context#allocateDeviceMemory] makes it.
/// The program closes it after the regions that it made of it; [InUseException] names those still open.
///
/// @since 0.1
@Preview
public interface DeviceMemory extends VerbsObject {
    /// Offsets and lengths of copies are multiples of so many bytes.
    int COPY_UNIT = 4;

    /// Returns the device that the memory is in.
    Context context();

    /// Returns the length of the memory in bytes.
    long length();

    /// Copies `from` into the device's memory, from `offset` on (ibv_memcpy_to_dm(3)).
    ///
    /// @param offset in bytes; a multiple of [#COPY_UNIT]
    /// @param from memory whose length is a multiple of [#COPY_UNIT]
    /// @throws IllegalArgumentException when offset or length is no such multiple
    /// @throws IndexOutOfBoundsException when the bytes are not inside
    /// @throws InvalidStateException when it is closed
    void write(long offset, MemorySegment from);

    /// Copies the device's memory from `offset` on into `into` (ibv_memcpy_from_dm(3)).
    ///
    /// @param offset in bytes; a multiple of [#COPY_UNIT]
    /// @param into memory whose length is a multiple of [#COPY_UNIT]
    /// @throws IllegalArgumentException when offset or length is no such multiple
    /// @throws IndexOutOfBoundsException when the bytes are not inside
    /// @throws InvalidStateException when it is closed
    void read(long offset, MemorySegment into);
}
