package verbena.ibverbs;

import static verbena.ibverbs.abi.VerbsStructs.PD;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;
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
        if (bytes < 1) {
            throw new IllegalArgumentException("allocate: bytes: at least 1, got " + bytes);
        }
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            MemorySegment segment = arena.allocate(bytes, bytes < PAGE_BYTES ? Long.BYTES * 8 : PAGE_BYTES);
            long iova = access.contains(Access.ZERO_BASED) ? 0 : segment.address();
            if (iova == 0) {
                context.require("allocate", Capability.ZERO_BASED);
            }
            var made = new IbvMemoryRegion("allocate", this, segment, iova, access, arena::close);
            done = true;
            return made;
        } catch (OutOfMemoryError e) {
            throw new ResourceLimitException(
                    "allocate", "native memory", bytes, "so much is not to be had at once (" + e.getMessage() + ")");
        } finally {
            if (!done) {
                arena.close();
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
        if (type != 1 && type != 2) {
            throw new IllegalArgumentException("allocateWindow: type: 1 or 2, got " + type);
        }
        context.require(
                "allocateWindow", type == 1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2);
        return new IbvMemoryWindow(this, type);
    }

    // ---- queues

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen("createQueuePair");
        context.require("createQueuePair", options.type().capability());
        if (options.type() == QpType.XRC_TARGET) {
            throw new IllegalArgumentException(
                    "createQueuePair: type: a target is of an XRC domain; see XrcDomain.createTarget");
        }
        options.extensions().forEach(extension -> context.require("createQueuePair", extension));
        var limits = context.attributes();
        check("createQueuePair", "maxSendWr", options.maxSendWr(), limits.maxQpWr());
        check("createQueuePair", "maxReceiveWr", options.maxReceiveWr(), limits.maxQpWr());
        check("createQueuePair", "maxSendSge", options.maxSendSge(), limits.maxSge());
        check("createQueuePair", "maxReceiveSge", options.maxReceiveSge(), limits.maxSge());
        check("createQueuePair", "maxInlineBytes", options.maxInlineBytes(), limits.maxInlineBytes());
        if (!(options.sendCq() instanceof IbvCompletionQueue sendCq) || sendCq.context() != context) {
            throw new IllegalArgumentException("createQueuePair: sendCq: belongs to another context");
        }
        if (!(options.receiveCq() instanceof IbvCompletionQueue receiveCq) || receiveCq.context() != context) {
            throw new IllegalArgumentException("createQueuePair: receiveCq: belongs to another context");
        }
        SharedReceiveQueue srq = options.sharedReceiveQueue().orElse(null);
        if (srq != null && srq.protectionDomain().context() != context) {
            throw new IllegalArgumentException("createQueuePair: sharedReceiveQueue: belongs to another context");
        }
        if (srq != null && (srq.number().isPresent() || options.type().isXrc())) {
            throw new IllegalArgumentException("createQueuePair: sharedReceiveQueue: "
                    + (options.type().isXrc()
                            ? "an XRC initiator receives nothing"
                            : srq + " is of an XRC domain; only targets of that take receives from it"));
        }
        return new IbvQueuePair(this, options, sendCq, receiveCq, (IbvSharedReceiveQueue) srq, null);
    }

    private static void check(String verb, String name, int value, int max) {
        if (value > max) {
            throw new ResourceLimitException(verb, name, max, "asked for " + value);
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        context.require("createSharedReceiveQueue", Capability.SRQ);
        checkShared(maxWr, maxSge);
        return new IbvSharedReceiveQueue(this, null, maxWr, maxSge);
    }

    void checkShared(int maxWr, int maxSge) {
        if (maxWr < 1 || maxSge < 0) {
            throw new IllegalArgumentException("createSharedReceiveQueue: maxWr: at least 1, maxSge: not negative, got "
                    + maxWr + " and " + maxSge);
        }
        check(
                "createSharedReceiveQueue",
                "maxSrqWr",
                maxWr,
                context.attributes().maxSrqWr());
        check(
                "createSharedReceiveQueue",
                "maxSrqSge",
                maxSge,
                context.attributes().maxSrqSge());
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        checkOpen("createAddressHandle");
        if (!context.attributes().has(Capability.UD)) {
            throw new UnsupportedException(
                    "createAddressHandle", Capability.UD, context.device().name());
        }
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

    private static final long PAGE_BYTES = 4096;
    /// ibv_reg_dmabuf_mr(3).
    private static final Set<Access> DMA_BUF_ACCESS = Collections.unmodifiableSet(EnumSet.of(
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.RELAXED_ORDERING));
}
