package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.ibverbs.lib.DeviceQuery;
import verbena.provider.Arguments;
import verbena.provider.Slabs;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Advice;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.Registration;

public final class IbvProtectionDomain extends OwnDomain {
    public IbvProtectionDomain(OpenContext context, int number) {
        super(context, number);
    }

    // ---- memory

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        checkOpen("register");
        checkAccess("register", access);
        Registration.checkSegment("register", segment, access);
        Registration.checkIova("register", iova, segment.byteSize(), access);
        if (iova != segment.address()) {
            owner().require("register", iova == 0 ? Capability.ZERO_BASED : Capability.IOVA);
        }
        return new IbvMemoryRegion("register", this, segment, iova, access, () -> {});
    }

    @Override
    public MemoryRegion registerDmaBuf(int fd, long offset, long length, long iova, Set<Access> access) {
        checkOpen("registerDmaBuf");
        owner().require("registerDmaBuf", Capability.DMA_BUF);
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

    @Override
    public MemoryRegion register(DeviceMemory memory, long offset, long length, Set<Access> access) {
        checkOpen("register");
        owner().require("register", Capability.DEVICE_MEMORY);
        checkAccess("register", access);
        IbvDeviceMemory own =
                Arguments.own("register", "memory", IbvDeviceMemory.class, memory, memory.context(), owner());
        Objects.checkFromIndexSize(offset, length, own.length());
        var rights = EnumSet.of(Access.ZERO_BASED);
        rights.addAll(access);
        return new IbvMemoryRegion(this, own, offset, length, rights);
    }

    @Override
    public MemoryRegion registerAddressSpace(Set<Access> access) {
        checkOpen("registerAddressSpace");
        Set<Access> all = Registration.ofAddressSpace("registerAddressSpace", access);
        checkAccess("registerAddressSpace", all);
        if (!owner().attributes().memory().onDemandPaging().hasAddressSpace()) {
            throw new UnsupportedException(
                    "registerAddressSpace",
                    Capability.ON_DEMAND_PAGING,
                    owner().device().name());
        }
        return new IbvMemoryRegion(this, all);
    }

    @Override
    public MemoryRegion allocateNull() {
        checkOpen("allocateNull");
        owner().require("allocateNull", Capability.NULL_REGION);
        return new IbvMemoryRegion(
                this, owner().ops().extended(DeviceQuery.ALLOCATE_NULL).orElseThrow());
    }

    @Override
    public void advise(Advice advice, LocalMemory... ranges) {
        advise(advice, true, ranges);
    }

    @Override
    public void adviseLater(Advice advice, LocalMemory... ranges) {
        advise(advice, false, ranges);
    }

    private void advise(Advice advice, boolean isAwaited, LocalMemory[] ranges) {
        checkOpen("advise");
        owner().require("advise", Capability.ON_DEMAND_PAGING);
        Registration.checkAdvice(this, advice, ranges);
        try (Arena arena = Arena.ofConfined()) {
            long list = arena.allocate(ranges.length * SGE.size(), 8).address();
            for (int i = 0; i < ranges.length; i++) {
                LocalMemory range = ranges[i];
                if (range.length() > 0xFFFF_FFFFL) {
                    throw new IllegalArgumentException(
                            "advise: ranges: below 4 GiB each, got " + range.length() + " bytes");
                }
                long at = list + i * SGE.size();
                Memory.putLong(at + SGE.at("addr"), range.region().address() + range.offset());
                Memory.putInt(at + SGE.at("length"), (int) range.length());
                Memory.putInt(at + SGE.at("lkey"), range.region().lkey());
            }
            int flags = isAwaited ? VerbsConstants.IBV_ADVISE_MR_FLAG_FLUSH : 0;
            int error = owner().ops()
                    .extended("u32 advise_mr(ptr, u32, u32, ptr, u32)")
                    .map(call -> call.call(address(), advice.code(), flags, list, ranges.length))
                    .map(NativeFunction.Result::error)
                    .orElse(Errno.EOPNOTSUPP.code);
            if (Errno.isUnsupported(error)) {
                throw new UnsupportedException(
                        "advise", Capability.ON_DEMAND_PAGING, owner().device().name());
            }
            if (Errno.EFAULT.is(error)) {
                throw new InvalidStateException("advise: some of the memory is not there");
            }
            if (error != 0) {
                throw new DeviceException("advise: the device says " + Errno.text(error));
            }
        }
    }

    /// Allocates memory of its own, from the start of a page on.
    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        checkOpen("allocate");
        checkAccess("allocate", access);
        if (access.contains(Access.ZERO_BASED)) {
            owner().require("allocate", Capability.ZERO_BASED);
        }
        Slabs.Piece piece = owner().slabs().allocate(bytes);
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

    @Override
    public MemoryWindow allocateWindow(MemoryWindow.Type type) {
        checkOpen("allocateWindow");
        owner().require(
                        "allocateWindow",
                        type == MemoryWindow.Type.TYPE_1
                                ? Capability.MEMORY_WINDOW_TYPE_1
                                : Capability.MEMORY_WINDOW_TYPE_2);
        return new IbvMemoryWindow(this, type);
    }

    // ---- queues

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen("createQueuePair");
        Arguments.checkQueuePair(owner(), options);
        IbvCompletionQueue sendCq = own("sendCq", options.sendCq());
        IbvCompletionQueue receiveCq = own("receiveCq", options.receiveCq());
        IbvSharedReceiveQueue srq = Arguments.sharedReceiveQueue(IbvSharedReceiveQueue.class, owner(), options);
        return new IbvQueuePair(this, options, sendCq, receiveCq, srq, null);
    }

    private IbvCompletionQueue own(String argument, CompletionQueue cq) {
        return Arguments.own("createQueuePair", argument, IbvCompletionQueue.class, cq, cq.context(), owner());
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        owner().require("createSharedReceiveQueue", Capability.SRQ);
        Arguments.checkShared(owner(), maxWr, maxSge);
        return new IbvSharedReceiveQueue(this, null, maxWr, maxSge);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        checkOpen("createAddressHandle");
        owner().require("createAddressHandle", Capability.UD);
        return new IbvAddressHandle(this, to);
    }

    /// ibv_reg_dmabuf_mr(3).
    private static final Set<Access> DMA_BUF_ACCESS = Collections.unmodifiableSet(EnumSet.of(
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.RELAXED_ORDERING));
}
