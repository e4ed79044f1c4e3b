package verbena.nic.device;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.OwnProcess;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.observe.JfrEvents;
import verbena.provider.Arguments;
import verbena.provider.Slabs;
import verbena.transport.memory.Keyed;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.Path;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Advice;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.DeviceMemory;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.Registration;

final class SoftProtectionDomain extends SoftDomain {
    SoftProtectionDomain(DeviceCore core, int number) {
        super(core, number);
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        checkOpen("register");
        checkAccess("register", access);
        Registration.checkSegment("register", segment, access);
        if (access.contains(Access.FLUSH_PERSISTENT) && !segment.isMapped()) {
            throw new IllegalArgumentException("register: access: FLUSH_PERSISTENT is for memory that persists: map a"
                    + " file (FileChannel.map with an arena) and register that");
        }
        Registration.checkIova("register", iova, segment.byteSize(), access);
        int bits = Access.bits(access);
        Region region = access.contains(Access.ON_DEMAND)
                ? Region.onDemand(number(), segment, iova, bits)
                : new Region(number(), segment, iova, bits);
        return add("register", region, access, () -> {}, null);
    }

    @Override
    public MemoryRegion register(DeviceMemory memory, long offset, long length, Set<Access> access) {
        checkOpen("register");
        checkAccess("register", access);
        SoftDeviceMemory own =
                Arguments.own("register", "memory", SoftDeviceMemory.class, memory, memory.context(), context());
        Objects.checkFromIndexSize(offset, length, own.length());
        var rights = EnumSet.of(Access.ZERO_BASED);
        rights.addAll(access);
        return add("register", own.region(number(), offset, length, Access.bits(rights)), rights, () -> {}, own);
    }

    @Override
    public MemoryRegion registerAddressSpace(Set<Access> access) {
        checkOpen("registerAddressSpace");
        Set<Access> all = Registration.ofAddressSpace("registerAddressSpace", access);
        checkAccess("registerAddressSpace", all);
        checkAddressSpace("registerAddressSpace", all);
        return add(
                "registerAddressSpace",
                Region.onDemand(number(), Memory.ALL, 0, Access.bits(all)),
                all,
                () -> {},
                null);
    }

    @Override
    public MemoryRegion allocateNull() {
        checkOpen("allocateNull");
        core().require("allocateNull", Capability.NULL_REGION);
        return add(
                "allocateNull",
                Region.ofNothing(number(), Access.bits(Access.local())),
                Access.local(),
                () -> {},
                null);
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
        core().require("advise", Capability.ON_DEMAND_PAGING);
        Registration.checkAdvice(this, advice, ranges);
        if (advice == Advice.PREFETCH_NO_FAULT) {
            return; // what is there is there for this device too
        }
        for (LocalMemory range : ranges) {
            long address = range.region().segment().address() + range.offset();
            if (!isAwaited) {
                OwnProcess.readAhead(address, range.length());
            } else if (!OwnProcess.populate(address, range.length(), advice == Advice.PREFETCH_WRITE)) {
                throw new InvalidStateException("advise: " + range.length() + " bytes at 0x" + Long.toHexString(address)
                        + ": some of the memory is not there");
            }
        }
    }

    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        checkOpen("allocate");
        checkAccess("allocate", access);
        if (access.contains(Access.FLUSH_PERSISTENT)) {
            throw new IllegalArgumentException("allocate: access: FLUSH_PERSISTENT is for memory that persists: map a"
                    + " file and register that");
        }
        Slabs.Piece piece = core().regionMemory.allocate(bytes, access);
        MemorySegment segment = piece.segment();
        long iova = access.contains(Access.ZERO_BASED) ? 0 : segment.address();
        return add( // also with ON_DEMAND: this memory is always there
                "allocate",
                Region.ofLastingMemory(number(), segment, iova, Access.bits(access)),
                access,
                piece.free(),
                null);
    }

    /// @param of the device memory that it is of; null for memory of the process
    private MemoryRegion add(
            String verb, Region region, Set<Access> access, Runnable free, @Nullable SoftDeviceMemory of) {
        SoftMemoryRegion made = null;
        boolean added = core().engines.memory().add(region);
        try {
            if (!added) {
                throw new ResourceLimitException(verb, "maxMr", DeviceLimits.MR_MAX, "all are in use; close some");
            }
            made = new SoftMemoryRegion(this, region, access, free, of);
            JfrEvents.registered(core().name(), made);
            return made;
        } finally {
            if (made == null) {
                forget(added ? region : null);
                free.run();
            }
        }
    }

    /// Removes a key whose object could not be made, because this domain was closed at the same moment.
    private void forget(@Nullable Keyed keyed) {
        if (keyed != null) {
            boolean _ = core().engines.alone(() -> core().engines.memory().remove(keyed));
        }
    }

    @Override
    public MemoryWindow allocateWindow(MemoryWindow.Type type) {
        checkOpen("allocateWindow");
        var window = new Window(number(), type.code());
        if (!core().engines.memory().add(window)) {
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
        Arguments.checkQueuePair(context(), options);
        SoftCompletionQueue sendCq = own("sendCq", options.sendCq());
        SoftCompletionQueue receiveCq = own("receiveCq", options.receiveCq());
        SoftSharedReceiveQueue srq = Arguments.sharedReceiveQueue(SoftSharedReceiveQueue.class, context(), options);
        return SoftQueuePair.create(new QueuePairParts(this, options, sendCq, receiveCq, srq, null));
    }

    private SoftCompletionQueue own(String argument, CompletionQueue cq) {
        return Arguments.own("createQueuePair", argument, SoftCompletionQueue.class, cq, cq.context(), context());
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        checkOpen("createSharedReceiveQueue");
        Arguments.checkShared(context(), maxWr, maxSge);
        return core().sharedReceiveQueues
                .take("createSharedReceiveQueue", number -> new SoftSharedReceiveQueue(this, number, maxWr, maxSge));
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        checkOpen("createAddressHandle");
        core().require("createAddressHandle", Capability.UD);
        Path path = core().path("createAddressHandle", to);
        boolean isNamed = to.destinationLid() != 0 || !to.destination().isMulticast();
        return new SoftAddressHandle(
                this, to, path, isNamed ? () -> {} : core().kind.sendTo(to.destination()));
    }

    @Override
    protected void release() {
        core().protectionDomains.giveBack();
    }
}
