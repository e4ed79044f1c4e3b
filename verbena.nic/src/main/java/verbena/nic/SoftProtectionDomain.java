package verbena.nic;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;

final class SoftProtectionDomain extends SoftObject implements ProtectionDomain {
    private final SoftContext context;
    private final int number;

    SoftProtectionDomain(SoftContext context, int number) {
        super("protection domain " + number);
        this.context = context;
        this.number = number;
        madeFrom(context);
    }

    @Override
    public Context context() {
        return context;
    }

    SoftContext soft() {
        return context;
    }

    int number() {
        return number;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        checkOpen();
        checkAccess(access);
        if (!segment.isNative()) {
            throw new IllegalArgumentException("segment: is on the heap, where the collector moves it; use native"
                    + " memory (Arena.ofShared().allocate, ProtectionDomain.allocate, a mapped file)");
        }
        if (!segment.isAccessibleBy(NOBODY)) {
            throw new IllegalArgumentException(
                    "segment: is confined to one thread; use Arena.ofShared() or Arena.ofAuto()");
        }
        if (segment.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException("segment: is read-only, and access asks for LOCAL_WRITE");
        }
        return new SoftMemoryRegion(
                this, add(new Region(number, segment, iova, Access.bits(access)), "register"), access, () -> {});
    }

    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        checkOpen();
        checkAccess(access);
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: at least 1, got " + bytes);
        }
        Slabs.Piece piece = context.slabs.allocate(bytes);
        MemorySegment segment = piece.segment();
        long iova = access.contains(Access.ZERO_BASED) ? 0 : segment.address();
        return new SoftMemoryRegion(
                this, add(new Region(number, segment, iova, Access.bits(access)), "allocate"), access, piece.free());
    }

    private Region add(Region region, String verb) {
        if (!context.memory().add(region)) {
            throw new ResourceLimitException(verb, "maxMr", SoftContext.MR_MAX, "all are in use; close some");
        }
        return region;
    }

    /// IBTA 10.6.3.1, ibv_reg_mr(3).
    static void checkAccess(Set<Access> access) {
        if (!access.contains(Access.LOCAL_WRITE)
                && (access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC))) {
            throw new IllegalArgumentException(
                    "access: REMOTE_WRITE and REMOTE_ATOMIC ask for LOCAL_WRITE too, got " + access);
        }
    }

    @Override
    public MemoryWindow allocateWindow(int type) {
        checkOpen();
        if (type != 1 && type != 2) {
            throw new IllegalArgumentException("type: 1 or 2, got " + type);
        }
        var window = new Window(number, type);
        if (!context.memory().add(window)) {
            throw new ResourceLimitException(
                    "allocateWindow", "maxMw", SoftContext.MR_MAX, "all are in use; close some");
        }
        return new SoftMemoryWindow(this, window);
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen();
        if (options.type() != QpType.RC) {
            throw new UnsupportedException(
                    "createQueuePair",
                    options.type() == QpType.UC ? Capability.UC : Capability.UD,
                    context.device().name());
        }
        check("createQueuePair", "maxSendWr", options.maxSendWr(), SoftContext.QP_WR_MAX);
        check("createQueuePair", "maxReceiveWr", options.maxReceiveWr(), SoftContext.QP_WR_MAX);
        check("createQueuePair", "maxSendSge", options.maxSendSge(), SoftContext.SGE_MAX);
        check("createQueuePair", "maxReceiveSge", options.maxReceiveSge(), SoftContext.SGE_MAX);
        check("createQueuePair", "maxInlineBytes", options.maxInlineBytes(), SoftContext.INLINE_MAX);
        if (!(options.sendCq() instanceof SoftCompletionQueue sendCq) || sendCq.context() != context) {
            throw new IllegalArgumentException("sendCq: belongs to another context");
        }
        if (!(options.receiveCq() instanceof SoftCompletionQueue receiveCq) || receiveCq.context() != context) {
            throw new IllegalArgumentException("receiveCq: belongs to another context");
        }
        SharedReceiveQueue srq = options.sharedReceiveQueue().orElse(null);
        if (srq != null && srq.protectionDomain() != this) {
            throw new IllegalArgumentException("sharedReceiveQueue: belongs to another protection domain");
        }
        return SoftQueuePair.create(this, options, sendCq, receiveCq, (SoftSharedReceiveQueue) srq);
    }

    private static void check(String verb, String name, int value, int max) {
        if (value > max) {
            throw new ResourceLimitException(verb, name, max, "asked for " + value);
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen();
        if (maxWr < 1 || maxSge < 0) {
            throw new IllegalArgumentException(
                    "maxWr: at least 1, maxSge: not negative, got " + maxWr + " and " + maxSge);
        }
        check("createSharedReceiveQueue", "maxSrqWr", maxWr, SoftContext.QP_WR_MAX);
        check("createSharedReceiveQueue", "maxSrqSge", maxSge, SoftContext.SGE_MAX);
        return new SoftSharedReceiveQueue(
                this, context.sharedReceiveQueues.take("createSharedReceiveQueue"), maxWr, maxSge);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        throw new UnsupportedException(
                "createAddressHandle", Capability.UD, context.device().name());
    }

    @Override
    void release() {
        context.protectionDomains.giveBack();
    }

    /// A thread that nothing is confined to.
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});
}
