package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Registered memory (ibv_reg_mr(3)). Safe for use by any thread; what is in the memory is the program's business.
public interface MemoryRegion extends VerbsObject, LocalMemory {
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
    /// @throws InvalidStateException when it is another device's ([ProtectionDomain#registerDmaBuf]), which this
    ///     process has no address of
    @Override
    MemorySegment segment();

    /// Address of its first byte as requests name it: the IOVA.
    long address();

    /// Returns the key for scatter/gather entries of one's own requests.
    int lkey();

    /// Returns the key that a peer needs: unpredictable, and no secret to anyone who sees the packets.
    int rkey();

    /// Rights.
    Set<Access> access();

    /// Gives the region another protection domain and other rights; the keys stay (ibv_rereg_mr(3)).
    ///
    /// @throws InUseException when windows are bound to it
    void reregister(ProtectionDomain protectionDomain, Set<Access> access);

    /// Ends the registration. Requests that still touch the memory afterwards end with an error status. Memory that
    /// was allocated with the region is not given to others before the device is done with it.
    ///
    /// @throws InUseException when windows are bound to it
    @Override
    void close();
}
