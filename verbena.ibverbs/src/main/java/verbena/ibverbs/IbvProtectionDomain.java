package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.PD;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.provider.Arguments;
import verbena.provider.Slabs;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

final class IbvProtectionDomain extends OwnedObject implements ProtectionDomain {
    private final IbvContext context;
    private final long address;

    IbvProtectionDomain(IbvContext context, int number) {
        super("protection domain " + number);
        this.context = context;
        madeFrom(List.of(context));
        var made = context.library().allocPd.call(context.address());
        if (made.isNull()) {
            abandon();
            throw context.refused("allocateProtectionDomain", "protection domains", made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_pd", Memory.getLong(address + PD.at("context")));
    }

    long address() {
        return address;
    }

    IbvContext owner() {
        return context;
    }

    @Override
    public Context context() {
        return context;
    }

    // ---- memory

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        checkOpen("register");
        checkAccess("register", access);
        Registration.checkSegment("register", segment, access);
        Registration.checkIova("register", iova, segment.byteSize(), access);
        if (iova != segment.address()) {
            context.require("register", iova == 0 ? Capability.ZERO_BASED : Capability.IOVA);
        }
        return new IbvMemoryRegion("register", this, segment, iova, access, () -> {});
    }

    @Override
    public MemoryRegion registerDmaBuf(int fd, long offset, long length, long iova, Set<Access> access) {
        checkOpen("registerDmaBuf");
        context.require("registerDmaBuf", Capability.DMA_BUF);
        checkAccess("registerDmaBuf", access);
        if (!DMA_BUF_ACCESS.containsAll(access)) {
            throw new IllegalArgumentException("registerDmaBuf: access: of " + DMA_BUF_ACCESS + ", got " + access);
        }
        if (fd < 0) {
            throw new IllegalArgumentException("registerDmaBuf: fd: a descriptor, got " + fd);
        }
        if (offset < 0 || length < 1 || offset > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException(
                    "registerDmaBuf: offset: not negative, length: at least 1, got " + offset + " and " + length);
        }
        Registration.checkIova("registerDmaBuf", iova, length, access);
        return new IbvMemoryRegion(this, fd, offset, length, iova, access);
    }

    /// Memory of its own, from the start of a page on.
    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        checkOpen("allocate");
        checkAccess("allocate", access);
        if (access.contains(Access.ZERO_BASED)) {
            context.require("allocate", Capability.ZERO_BASED);
        }
        Slabs.Piece piece = context.slabs().allocate(bytes);
        MemorySegment segment = piece.segment();
        long iova = access.contains(Access.ZERO_BASED) ? 0 : segment.address();
        boolean done = false;
        try {
            var made = new IbvMemoryRegion("allocate", this, segment, iova, access, piece.free());
            done = true;
            return made;
        } finally {
            if (!done) {
                piece.free().run();
            }
        }
    }

    /// IBTA 10.6.3.1, ibv_reg_mr(3).
    void checkAccess(String verb, Set<Access> access) {
        Registration.checkAccess(verb, access);
        if (access.contains(Access.ON_DEMAND)) {
            context.require(verb, Capability.ON_DEMAND_PAGING);
        }
        if (access.contains(Access.FLUSH_GLOBAL) || access.contains(Access.FLUSH_PERSISTENT)) {
            context.require(verb, Capability.FLUSH);
        }
    }

    @Override
    public MemoryWindow allocateWindow(int type) {
        checkOpen("allocateWindow");
        Arguments.checkWindowType(type);
        context.require(
                "allocateWindow", type == 1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2);
        return new IbvMemoryWindow(this, type);
    }

    // ---- queues

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen("createQueuePair");
        Arguments.checkQueuePair(context, options);
        IbvCompletionQueue sendCq = own("sendCq", options.sendCq());
        IbvCompletionQueue receiveCq = own("receiveCq", options.receiveCq());
        IbvSharedReceiveQueue srq = Arguments.sharedReceiveQueue(IbvSharedReceiveQueue.class, context, options);
        return new IbvQueuePair(this, options, sendCq, receiveCq, srq, null);
    }

    private IbvCompletionQueue own(String argument, CompletionQueue cq) {
        return Arguments.own("createQueuePair", argument, IbvCompletionQueue.class, cq, cq.context(), context);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        context.require("createSharedReceiveQueue", Capability.SRQ);
        Arguments.checkShared(context, maxWr, maxSge);
        return new IbvSharedReceiveQueue(this, null, maxWr, maxSge);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        checkOpen("createAddressHandle");
        context.require("createAddressHandle", Capability.UD);
        return new IbvAddressHandle(this, to);
    }

    @Override
    protected void release() {
        int error = context.library().deallocPd.call(address).error();
        if (Errno.EBUSY.is(error)) {
            throw new InUseException(label(), List.of("something made from it"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_dealloc_pd says " + Errno.text(error));
        }
    }

    /// ibv_reg_dmabuf_mr(3).
    private static final Set<Access> DMA_BUF_ACCESS = Collections.unmodifiableSet(EnumSet.of(
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.RELAXED_ORDERING));
}
