package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// A boundary of access: requests of a queue pair reach only memory of its own protection domain (ibv_alloc_pd(3)).
///
/// Any thread may use it. [Context#allocateProtectionDomain()] makes it. The program closes it after all objects that
/// it made; [InUseException] names those still open. All verbs then throw [InvalidStateException]. A verb that
/// makes an object throws [ResourceLimitException] when the device has no more of its kind.
///
/// @since 0.1
public interface ProtectionDomain extends VerbsObject {
    /// Returns the device that the domain belongs to.
    Context context();

    /// Registers memory of the program (ibv_reg_mr(3)). The region keeps the segment reachable. If the program
    /// closes the segment's arena all the same, requests that touch the memory end with an error status, and
    /// nothing else happens.
    ///
    /// The memory behind a segment of the global arena must stay, unless `access` has [Access#ON_DEMAND]. Then
    /// there need not be memory at all, now or later: the program may unmap it (munmap(2)), protect it, cut its
    /// file short and map other memory there, at any time. What is there when a request touches it counts. A
    /// request that touches what is not there ends with [WcStatus#LOC_PROT_ERR], and a peer's with
    /// [WcStatus#REM_ACCESS_ERR]. Such memory costs more: in a Java program a software device asks the kernel
    /// for each packet's bytes, and its atomics are atomic only among those on such memory.
    ///
    /// @param segment native or mapped memory of any size, not confined to one thread
    /// @throws IllegalArgumentException when the segment is on the heap, confined, or read-only with write access,
    ///     or when `access` asks for remote writing or atomics without local writing
    /// @throws ResourceLimitException when the device has no more regions, or no more memory may be locked
    /// @throws UnsupportedException when `access` asks for a right that the device does not know
    default MemoryRegion register(MemorySegment segment, Set<Access> access) {
        return register(segment, access.contains(Access.ZERO_BASED) ? 0 : segment.address(), access);
    }

    /// Registers memory that peers address as starting at `iova` (ibv_reg_mr_iova(3)). Otherwise as
    /// [#register(MemorySegment, Set)].
    ///
    /// @param iova 0 when `access` has [Access#ZERO_BASED]
    MemoryRegion register(MemorySegment segment, long iova, Set<Access> access);

    /// Registers memory of another device, a GPU's for example, which the kernel shares as a dma-buf
    /// (ibv_reg_dmabuf_mr(3)). The program may close the descriptor afterwards. The region has no
    /// [MemoryRegion#segment()].
    ///
    /// @param fd descriptor of the dma-buf
    /// @param offset start of the region in the dma-buf, in bytes
    /// @param length bytes, at least 1
    /// @param iova address of the first byte as requests name it; as far into its page as `offset`
    /// @param access of `LOCAL_WRITE`, `REMOTE_READ`, `REMOTE_WRITE`, `REMOTE_ATOMIC` and `RELAXED_ORDERING`
    /// @throws IllegalArgumentException when `access` asks for other rights, the descriptor is no dma-buf's, or the
    ///     range is not in it
    /// @throws UnsupportedException when the device reaches no memory but the process's
    @Preview
    default MemoryRegion registerDmaBuf(int fd, long offset, long length, long iova, Set<Access> access) {
        throw new UnsupportedException(
                "registerDmaBuf", Capability.DMA_BUF, context().device().name());
    }

    /// Registers a part of the device's memory (ibv_reg_dm_mr(3)). Requests name its first byte as address 0, so the
    /// region has [Access#ZERO_BASED]. It has no [MemoryRegion#segment()].
    ///
    /// @param memory of the same device
    /// @param offset start of the region in `memory`, in bytes
    /// @param length bytes, 0 or more
    /// @throws IllegalArgumentException when `memory` is of another context, or `access` asks for remote writing or
    ///     atomics without local writing
    /// @throws IndexOutOfBoundsException when the range is not inside
    /// @throws ResourceLimitException when the device has no more regions
    /// @throws UnsupportedException when the device has no memory for programs
    @Preview
    default MemoryRegion register(DeviceMemory memory, long offset, long length, Set<Access> access) {
        throw new UnsupportedException(
                "register", Capability.DEVICE_MEMORY, context().device().name());
    }

    /// Registers the whole address space of the process, as it is and as it will be (ibv_reg_mr(3): an implicit
    /// region on demand). Requests then name any native memory by its address: `all.slice(segment.address(),
    /// segment.byteSize())`. Otherwise as [#register(MemorySegment, Set)] with [Access#ON_DEMAND].
    ///
    /// In a C program peers may have rights; the virtual machine's heap and classes count as not there. In a Java
    /// program a software device gives peers none, and on a card you must not: they could change the virtual
    /// machine's own memory.
    ///
    /// @param access with or without `ON_DEMAND`, which is meant; not `ZERO_BASED`, `MW_BIND` or `FLUSH_PERSISTENT`
    /// @throws IllegalArgumentException when `access` asks for one of these, for remote writing or atomics without
    ///     local writing, or for rights of peers that they may not have
    /// @throws ResourceLimitException when the device has no more regions
    /// @throws UnsupportedException when the device cannot do so ([OnDemandPaging#hasAddressSpace()])
    default MemoryRegion registerAddressSpace(Set<Access> access) {
        throw new UnsupportedException(
                "registerAddressSpace",
                Capability.ON_DEMAND_PAGING,
                context().device().name());
    }

    /// Makes a region without memory (ibv_alloc_null_mr(3)). This side's requests read zeros from it, and what they
    /// write to it is gone: a scatter entry skips bytes, a gather entry fills up. It has any address and the length
    /// `Long.MAX_VALUE`, and no peer may use it. It cannot be registered anew, and no window can be bound to it.
    ///
    /// @throws ResourceLimitException when the device has no more regions
    /// @throws UnsupportedException when the device cannot do so ([Capability#NULL_REGION])
    default MemoryRegion allocateNull() {
        throw new UnsupportedException(
                "allocateNull", Capability.NULL_REGION, context().device().name());
    }

    /// Advises the device what requests will do soon with memory on demand (ibv_advise_mr(3)). It changes no bytes,
    /// and no request depends on it. Returns after all is done.
    ///
    /// @param ranges of regions with [Access#ON_DEMAND] of this domain, at least one
    /// @throws IllegalArgumentException when there is no range, a region is of another domain or not on demand, or
    ///     [Advice#PREFETCH_WRITE] names one without `LOCAL_WRITE`
    /// @throws InvalidStateException when a region is closed, or memory is not there
    /// @throws UnsupportedException when the device cannot do so
    default void advise(Advice advice, LocalMemory... ranges) {
        throw new UnsupportedException(
                "advise", Capability.ON_DEMAND_PAGING, context().device().name());
    }

    /// Advises as [#advise] does, and only begins it. Memory that is not there is no failure.
    default void adviseLater(Advice advice, LocalMemory... ranges) {
        throw new UnsupportedException(
                "advise", Capability.ON_DEMAND_PAGING, context().device().name());
    }

    /// Allocates zeroed memory and registers it; closing the region frees it. Small regions share slabs, so many of
    /// them cost little. Within a host, requests are fastest between memory of this kind at both ends, because the
    /// processes share it.
    ///
    /// @param bytes at least 1
    /// @throws ResourceLimitException when the device has no more regions, or there is no memory left for it
    MemoryRegion allocate(long bytes, Set<Access> access);

    /// Makes a memory window (ibv_alloc_mw(3)). It gives access to nothing until it is bound.
    ///
    /// @throws ResourceLimitException when the device has no more
    /// @throws UnsupportedException when the device does not have windows of this type
    MemoryWindow allocateWindow(MemoryWindow.Type type);

    /// Makes a queue pair in state RESET (ibv_create_qp(3)).
    ///
    /// @throws IllegalArgumentException when an object in the options is of another context, the type is
    ///     [QpType#XRC_TARGET], which [XrcDomain#createTarget()] makes, or the shared receive queue is of an
    ///     [XrcDomain]
    /// @throws ResourceLimitException when a size is over the device's, or the device has no more
    /// @throws UnsupportedException when the device does not have this type or extension
    QueuePair createQueuePair(QueuePairOptions options);

    /// Makes a shared receive queue (ibv_create_srq(3)).
    ///
    /// @param maxWr receives that can be outstanding, at least 1
    /// @param maxSge scatter entries of each, 0 or more
    /// @throws ResourceLimitException when a size is over the device's, or the device has no more
    SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge);

    /// Makes an address handle for datagrams (ibv_create_ah(3)).
    ///
    /// @throws InvalidAttributesException when its own GID does not exist or is of another address family
    /// @throws UnsupportedException when the device has no datagrams ([Capability#UD])
    AddressHandle createAddressHandle(AddressVector to);

    /// Makes an address handle for the sender of a datagram (ibv_create_ah_from_wc(3)), by the port of the queue
    /// pair that received it. The number of the sender's queue pair is [WorkCompletion#sourceQpn()].
    ///
    /// @param received the completion of its receive
    /// @param area the first 40 bytes of the receive
    /// @throws IllegalArgumentException when the completion is not that of a datagram, or of no open queue pair
    default AddressHandle createAddressHandle(WorkCompletion received, MemorySegment area) {
        QueuePair receiver = context().queuePair(received.qpn());
        if (receiver == null) {
            throw new IllegalArgumentException("received: of an open queue pair, got " + received);
        }
        return createAddressHandle(AddressVector.toSender(
                received, area, context(), receiver.query().port()));
    }
}
