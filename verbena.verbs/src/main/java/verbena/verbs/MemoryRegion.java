package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Registered memory, which requests can name (ibv_reg_mr(3)). Any thread may use it. The device does not order
/// accesses of the program against those of requests. The completion of a request shows that the device is done with
/// the memory.
///
/// [ProtectionDomain#register] and [ProtectionDomain#allocate] make it. The program closes it, before the protection
/// domain. Closing invalidates its keys, and frees memory of [ProtectionDomain#allocate].
///
/// @since 0.1
public interface MemoryRegion extends VerbsObject, LocalMemory {
    /// Returns the protection domain that the region belongs to now ([#reregister]).
    ProtectionDomain protectionDomain();

    @Override
    default MemoryRegion region() {
        return this;
    }

    @Override
    default long offset() {
        return 0;
    }

    /// Returns the memory.
    ///
    /// Do not keep what [ProtectionDomain#allocate] has made for longer than the region is open. Another region may
    /// have the same bytes afterwards, and no exception says so.
    ///
    /// @throws InvalidStateException when the region is closed; when it is of another device's memory
    ///     ([ProtectionDomain#registerDmaBuf]) or this device's own ([DeviceMemory]), of which this process has no
    ///     address; or when there is none ([ProtectionDomain#allocateNull])
    @Override
    MemorySegment segment();

    /// Returns the address of the region's first byte as requests name it: the IOVA. It is 0 with
    /// [Access#ZERO_BASED].
    long address();

    /// Returns the key for scatter/gather entries of this side's requests (L_Key, IBTA 10.6.3).
    int lkey();

    /// Returns the key that a peer needs (R_Key, IBTA 10.6.3). A peer cannot guess one of a software
    /// device, but an observer of the packets can read it. It is 0, which is no key, when there is no
    /// memory ([ProtectionDomain#allocateNull]).
    int rkey();

    /// Returns the rights of requests to the region.
    Set<Access> access();

    /// Says that this thread reads `length` bytes from `offset` on, by its own loads. A checked device looks for
    /// races with requests. Every other device does nothing but look at the range.
    ///
    /// @throws IndexOutOfBoundsException when the bytes are not inside
    @Preview
    default void noteLoad(long offset, long length) {
        Checks.inside("noteLoad", offset, length, length());
    }

    /// Says that this thread writes `length` bytes from `offset` on, as [#noteLoad].
    ///
    /// @throws IndexOutOfBoundsException when the bytes are not inside
    @Preview
    default void noteStore(long offset, long length) {
        Checks.inside("noteStore", offset, length, length());
    }

    /// Changes the protection domain and the rights of the region; the keys stay (ibv_rereg_mr(3)). On an exception
    /// nothing was changed.
    ///
    /// @throws IllegalArgumentException when the domain is of another device, or `access` would change
    ///     `ZERO_BASED` or `ON_DEMAND`, or asks for rights that registering refuses
    /// @throws InUseException when windows are bound to it
    /// @throws InvalidStateException when there is no memory ([ProtectionDomain#allocateNull])
    /// @throws UnsupportedException when the device cannot do so ([Capability#REREGISTER])
    void reregister(ProtectionDomain protectionDomain, Set<Access> access);

    /// Ends the registration (ibv_dereg_mr(3)). The keys become invalid: requests that name the memory afterwards,
    /// of this side or of a peer, end with an error status. Memory of [ProtectionDomain#allocate] is freed when the
    /// device is done with it, and the program must not use it any more.
    ///
    /// @throws InUseException when windows are bound to it
    @Override
    void close();
}
