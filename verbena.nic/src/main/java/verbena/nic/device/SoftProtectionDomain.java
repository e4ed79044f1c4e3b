package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.observe.JfrEvents;
import verbena.transport.memory.Keyed;
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
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.Registration;

final class SoftProtectionDomain extends OwnedObject implements ProtectionDomain {
    private final DeviceContext context;
    private final int number;

    SoftProtectionDomain(DeviceContext context, int number) {
        super("protection domain " + number);
        this.context = context;
        this.number = number;
        madeFrom(context);
    }

    @Override
    public Context context() {
        return context;
    }

    DeviceContext soft() {
        return context;
    }

    int number() {
        return number;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        checkOpen("register");
        checkAccess("register", context, access);
        Registration.checkSegment("register", segment, access);
        if (access.contains(Access.FLUSH_PERSISTENT) && !segment.isMapped()) {
            throw new IllegalArgumentException("register: access: FLUSH_PERSISTENT is for memory that persists: map a"
                    + " file (FileChannel.map with an arena) and register that");
        }
        Registration.checkIova("register", iova, segment.byteSize(), access);
        return add("register", new Region(number, segment, iova, Access.bits(access)), access, () -> {});
    }

    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        checkOpen("allocate");
        checkAccess("allocate", context, access);
        if (bytes < 1) {
            throw new IllegalArgumentException("allocate: bytes: at least 1, got " + bytes);
        }
        if (access.contains(Access.FLUSH_PERSISTENT)) {
            throw new IllegalArgumentException("allocate: access: FLUSH_PERSISTENT is for memory that persists: map a"
                    + " file and register that");
        }
        Slabs.Piece piece;
        try {
            piece = context.slabs.allocate(bytes);
        } catch (OutOfMemoryError e) {
            throw new ResourceLimitException(
                    "allocate", "native memory", bytes, "so much is not to be had at once (" + e.getMessage() + ")");
        }
        MemorySegment segment = piece.segment();
        long iova = access.contains(Access.ZERO_BASED) ? 0 : segment.address();
        return add("allocate", new Region(number, segment, iova, Access.bits(access)), access, piece.free());
    }

    private MemoryRegion add(String verb, Region region, Set<Access> access, Runnable free) {
        SoftMemoryRegion made = null;
        boolean added = context.engines().memory().add(region);
        try {
            if (!added) {
                throw new ResourceLimitException(verb, "maxMr", DeviceLimits.MR_MAX, "all are in use; close some");
            }
            made = new SoftMemoryRegion(this, region, access, free);
            JfrEvents.registered(context.device().name(), made);
            return made;
        } finally {
            if (made == null) {
                forget(added ? region : null);
                free.run();
            }
        }
    }

    /// What could not be made after all, because this domain was closed at the same moment.
    private void forget(@Nullable Keyed keyed) {
        if (keyed != null) {
            context.engines().alone(() -> {
                context.engines().memory().remove(keyed);
                return true;
            });
        }
    }

    /// IBTA 10.6.3.1, ibv_reg_mr(3).
    static void checkAccess(String verb, DeviceContext context, Set<Access> access) {
        Registration.checkAccess(verb, access);
        if (access.contains(Access.ON_DEMAND)) {
            throw new UnsupportedException(
                    verb, Capability.ON_DEMAND_PAGING, context.device().name());
        }
    }

    @Override
    public MemoryWindow allocateWindow(int type) {
        checkOpen("allocateWindow");
        if (type != 1 && type != 2) {
            throw new IllegalArgumentException("allocateWindow: type: 1 or 2, got " + type);
        }
        var window = new Window(number, type);
        if (!context.engines().memory().add(window)) {
            throw new ResourceLimitException(
                    "allocateWindow", "maxMw", DeviceLimits.MR_MAX, "all are in use; close some");
        }
        SoftMemoryWindow made = null;
        try {
            made = new SoftMemoryWindow(this, window);
            return made;
        } finally {
            if (made == null) {
                forget(window);
            }
        }
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        checkOpen("createQueuePair");
        context.require("createQueuePair", options.type().capability());
        if (options.type() == QpType.XRC_TARGET) {
            throw new IllegalArgumentException(
                    "createQueuePair: type: a target is of an XRC domain; see XrcDomain.createTarget");
        }
        options.extensions().forEach(extension -> context.require("createQueuePair", extension));
        check("createQueuePair", "maxSendWr", options.maxSendWr(), DeviceLimits.QP_WR_MAX);
        check("createQueuePair", "maxReceiveWr", options.maxReceiveWr(), DeviceLimits.QP_WR_MAX);
        check("createQueuePair", "maxSendSge", options.maxSendSge(), DeviceLimits.SGE_MAX);
        check("createQueuePair", "maxReceiveSge", options.maxReceiveSge(), DeviceLimits.SGE_MAX);
        check("createQueuePair", "maxInlineBytes", options.maxInlineBytes(), DeviceLimits.INLINE_MAX);
        if (!(options.sendCq() instanceof SoftCompletionQueue sendCq) || sendCq.context() != context) {
            throw new IllegalArgumentException("createQueuePair: sendCq: belongs to another context");
        }
        if (!(options.receiveCq() instanceof SoftCompletionQueue receiveCq) || receiveCq.context() != context) {
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
        return SoftQueuePair.create(this, options, sendCq, receiveCq, (SoftSharedReceiveQueue) srq);
    }

    private static void check(String verb, String name, int value, int max) {
        if (value > max) {
            throw new ResourceLimitException(verb, name, max, "asked for " + value);
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        checkShared(maxWr, maxSge);
        return context.sharedReceiveQueues.take(
                "createSharedReceiveQueue", number -> new SoftSharedReceiveQueue(this, number, maxWr, maxSge));
    }

    static void checkShared(int maxWr, int maxSge) {
        if (maxWr < 1 || maxSge < 0) {
            throw new IllegalArgumentException("createSharedReceiveQueue: maxWr: at least 1, maxSge: not negative, got "
                    + maxWr + " and " + maxSge);
        }
        check("createSharedReceiveQueue", "maxSrqWr", maxWr, DeviceLimits.QP_WR_MAX);
        check("createSharedReceiveQueue", "maxSrqSge", maxSge, DeviceLimits.SGE_MAX);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        checkOpen("createAddressHandle");
        context.require("createAddressHandle", Capability.UD);
        return new SoftAddressHandle(this, to, context.path("createAddressHandle", to));
    }

    @Override
    protected void release() {
        context.protectionDomains.giveBack();
    }
}
