package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.MR;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.ibverbs.lib.LockedMemory;
import verbena.provider.Arguments;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

/// A region of C's. The kernel holds its pages, so the device can go on with them whatever the program does. A
/// program that closes its arena first gives the addresses back to the allocator while peers can still write to
/// the pages: regions are to be closed before their memory.
final class IbvMemoryRegion extends OwnedObject implements MemoryRegion {
    private static final long SIZE_MAX = -1;

    /// Null when it is the device's own, or another device's, or there is none.
    private final @Nullable MemorySegment segment;
    private boolean isNull;
    private final long length;
    private final Runnable free;
    private final long address;
    private final long iova;
    private final int lkey;
    private final int rkey;
    private volatile OwnDomain domain;
    private volatile Set<Access> access;

    IbvMemoryRegion(
            String verb, OwnDomain domain, MemorySegment segment, long iova, Set<Access> access, Runnable free) {
        this(
                List.of(domain),
                domain,
                segment,
                segment.byteSize(),
                iova,
                access,
                () -> make(domain, segment, iova, bits(access)),
                error -> refused(verb, domain.owner(), segment, error),
                free);
    }

    /// One of the whole address space.
    IbvMemoryRegion(OwnDomain domain, Set<Access> access) {
        this(
                List.of(domain),
                domain,
                Memory.ALL,
                Long.MAX_VALUE,
                0,
                access,
                () -> domain.owner().library().regMr.call(domain.address(), 0L, SIZE_MAX, bits(access)),
                error -> refused("registerAddressSpace", domain.owner(), Memory.ALL, error),
                () -> {});
    }

    /// One without memory.
    ///
    /// @param allocate `alloc_null_mr`
    IbvMemoryRegion(OwnDomain domain, NativeFunction allocate) {
        this(
                List.of(domain),
                domain,
                null,
                Long.MAX_VALUE,
                0,
                Access.local(),
                () -> allocate.call(domain.address()),
                error -> domain.owner().refused("allocateNull", "memory regions", error),
                () -> {});
        this.isNull = true;
    }

    /// One of memory that the kernel shares.
    IbvMemoryRegion(OwnDomain domain, int fd, long offset, long length, long iova, Set<Access> access) {
        this(
                List.of(domain),
                domain,
                null,
                length,
                iova,
                access,
                () -> domain.owner()
                        .library()
                        .regDmabufMr
                        .orElseThrow() // or the device would not have the capability
                        .call(domain.address(), offset, length, iova, fd, bits(access)),
                error -> refused(fd, offset, length, iova, error),
                () -> {});
    }

    /// One of the device's memory.
    IbvMemoryRegion(OwnDomain domain, IbvDeviceMemory memory, long offset, long length, Set<Access> access) {
        this(
                List.of(domain, memory),
                domain,
                null,
                length,
                0,
                access,
                () -> memory.register(domain.address(), offset, length, Access.bits(access)),
                error -> domain.owner().refused("register", "regions of device memory", error),
                () -> {});
    }

    /// @param parents the objects that cannot be closed before it
    private IbvMemoryRegion(
            List<? extends OwnedObject> parents,
            OwnDomain domain,
            @Nullable MemorySegment segment,
            long length,
            long iova,
            Set<Access> access,
            Supplier<NativeFunction.Result> make,
            IntFunction<RuntimeException> refused,
            Runnable free) {
        super("memory region");
        this.domain = domain;
        this.segment = segment;
        this.length = length;
        this.iova = iova;
        this.access = Set.copyOf(access);
        this.free = free;
        madeFrom(parents);
        var made = make.get();
        if (made.isNull()) {
            abandon();
            throw refused.apply(made.errno());
        }
        this.address = made.value();
        domain.owner().checkLayout("ibv_mr", Memory.getLong(address + MR.at("context")));
        this.lkey = Memory.getInt(address + MR.at("lkey"));
        this.rkey = Memory.getInt(address + MR.at("rkey"));
        label("memory region 0x" + Integer.toHexString(lkey));
    }

    private static NativeFunction.Result make(OwnDomain domain, MemorySegment segment, long iova, int access) {
        var library = domain.owner().library();
        // Only the newest of the three drops rights that are hints where the device does not know them.
        boolean hasHints = (access & Access.RELAXED_ORDERING.bit()) != 0;
        if (library.regMrIova2.isPresent() && hasHints) {
            return library.regMrIova2.get().call(domain.address(), segment, segment.byteSize(), iova, access);
        }
        int known = access & ~Access.RELAXED_ORDERING.bit();
        if (iova == segment.address()) {
            return library.regMr.call(domain.address(), segment, segment.byteSize(), known);
        }
        return library.regMrIova
                .orElseThrow() // or the device would not have the capability
                .call(domain.address(), segment, segment.byteSize(), iova, known);
    }

    /// Returns the flags of rights. A region that starts at 0 is registered there, so no device needs another flag
    /// for that.
    private static int bits(Set<Access> access) {
        return Access.bits(access) & ~Access.ZERO_BASED.bit();
    }

    private static RuntimeException refused(String verb, OpenContext context, MemorySegment segment, int error) {
        long limit = LockedMemory.limitBytes();
        if (Errno.ENOMEM.is(error) || Errno.EAGAIN.is(error)) {
            return new ResourceLimitException(
                    verb,
                    "locked memory",
                    limit,
                    "the device says " + Errno.text(error) + " for " + segment.byteSize() + " bytes; "
                            + LockedMemory.HINT);
        }
        if (Errno.EFAULT.is(error)) {
            return new IllegalArgumentException(verb + ": segment: the kernel cannot hold its pages: "
                    + Errno.text(error) + "; a file that is mapped for reading only cannot be registered for writing");
        }
        if (Errno.EINVAL.is(error) && segment.byteSize() == 0) {
            return new IllegalArgumentException(
                    verb + ": segment: has no bytes, and " + context.device().name() + " registers no empty regions");
        }
        return new DeviceException(verb + ": the device says " + Errno.text(error));
    }

    private static RuntimeException refused(int fd, long offset, long length, long iova, int error) {
        if (Errno.EBADF.is(error)) {
            return new IllegalArgumentException("registerDmaBuf: fd: " + fd + " is no open descriptor");
        }
        if (Errno.EINVAL.is(error)) {
            return new IllegalArgumentException("registerDmaBuf: the device refuses fd " + fd + ", offset " + offset
                    + ", length " + length + ", iova 0x" + Long.toHexString(iova) + ": the descriptor is no dma-buf's,"
                    + " the range is not in it, or iova is not as far into its page as offset");
        }
        return new DeviceException("registerDmaBuf: the device says " + Errno.text(error));
    }

    long c() {
        return address;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        checkOpen("segment");
        if (isNull) {
            throw new InvalidStateException("segment: " + this + " has no memory");
        }
        if (segment == null) {
            throw new InvalidStateException(
                    "segment: " + this + " is of device memory or of a dma-buf: this process has"
                            + " no address of it; the process that has made a dma-buf can map it");
        }
        return segment;
    }

    @Override
    public long address() {
        return iova;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public int lkey() {
        return lkey;
    }

    @Override
    public int rkey() {
        return isNull ? 0 : rkey;
    }

    @Override
    public Set<Access> access() {
        return access;
    }

    @Override
    public synchronized void reregister(ProtectionDomain to, Set<Access> newAccess) {
        checkOpen("reregister");
        if (isNull) {
            throw new InvalidStateException("reregister: " + this + " has no memory, and stays as it is");
        }
        domain.checkAccess("reregister", newAccess);
        OwnDomain target = Arguments.checkReregister(OwnDomain.class, this, to, newAccess);
        if (segment != null) {
            Registration.checkWritable("reregister", segment, newAccess);
        }
        domain.owner().require("reregister", Capability.REREGISTER);
        // Until it is known how this ends, both domains stay open. No close of the region comes in between: it waits
        // for this monitor.
        OwnDomain from = domain;
        madeFrom(target);
        int flags = VerbsConstants.IBV_REREG_MR_CHANGE_ACCESS
                | (target == from ? 0 : VerbsConstants.IBV_REREG_MR_CHANGE_PD);
        int code = (int) domain.owner()
                .library()
                .reregMr
                .call(address, flags, target.address(), 0L, 0L, bits(newAccess))
                .value();
        if (code == 0) {
            domain = target;
            access = Set.copyOf(newAccess);
        }
        if (target != from) {
            leave(code == 0 ? from : target);
        }
        if (code == 0) {
            return;
        }
        if (code == VerbsConstants.IBV_REREG_MR_ERR_INPUT) {
            throw new UnsupportedException(
                    "reregister",
                    Capability.REREGISTER,
                    domain.context().device().name());
        }
        throw new InvalidStateException(
                "reregister: " + this + ": the device could not, and what the region's rights are now is not known;"
                        + " close it and register anew (ibv_rereg_mr says " + code + ")");
    }

    @Override
    protected synchronized void release() {
        int error = domain.owner().library().deregMr.call(address).error();
        if (Errno.EBUSY.is(error) || (error != 0 && access.contains(Access.MW_BIND))) {
            throw new InUseException("close", label(), List.of("a bound memory window"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_dereg_mr says " + Errno.text(error));
        }
        free.run(); // the device is done with it
    }
}
