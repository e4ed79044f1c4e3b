package verbena.check.device;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedRegion;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Advice;
import verbena.verbs.Context;
import verbena.verbs.DeviceMemory;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;

/// The layer in front of a protection domain.
final class CheckedDomain extends CheckedObject<ProtectionDomain> implements ProtectionDomain {
    CheckedDomain(Layer layer, ProtectionDomain inner) {
        super(layer, inner);
    }

    @Override
    public Context context() {
        return layer().outer(Context.class, inner().context());
    }

    @Override
    public MemoryRegion register(MemorySegment segment, long iova, Set<Access> access) {
        // Rules read memory, which is not for memory that need not be there.
        return checked(
                inner().register(segment, iova, access), access.contains(Access.ON_DEMAND) ? null : segment, true);
    }

    @Override
    public MemoryRegion registerDmaBuf(int fd, long offset, long length, long iova, Set<Access> access) {
        return checked(inner().registerDmaBuf(fd, offset, length, iova, access), null, true);
    }

    @Override
    public MemoryRegion register(DeviceMemory memory, long offset, long length, Set<Access> access) {
        return checked(inner().register(CheckedObject.below(memory), offset, length, access), null, true);
    }

    @Override
    public MemoryRegion registerAddressSpace(Set<Access> access) {
        return checked(inner().registerAddressSpace(access), null, true);
    }

    @Override
    public MemoryRegion allocateNull() {
        return checked(inner().allocateNull(), null, true);
    }

    @Override
    public void advise(Advice advice, LocalMemory... ranges) {
        inner().advise(advice, below(ranges));
    }

    @Override
    public void adviseLater(Advice advice, LocalMemory... ranges) {
        inner().adviseLater(advice, below(ranges));
    }

    private static LocalMemory[] below(LocalMemory[] ranges) {
        return Arrays.stream(ranges).map(CheckedDomain::below).toArray(LocalMemory[]::new);
    }

    private static LocalMemory below(LocalMemory range) {
        return CheckedObject.below(range.region()).slice(range.offset(), range.length());
    }

    @Override
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        MemoryRegion region = inner().allocate(bytes, access);
        return checked(region, region.segment(), false);
    }

    private MemoryRegion checked(MemoryRegion region, @Nullable MemorySegment memory, boolean isRegistered) {
        return new CheckedRegion(
                layer(), region, new TrackedRegion(layer().device(), region, memory, isRegistered, CallPlace.here()));
    }

    @Override
    public MemoryWindow allocateWindow(MemoryWindow.Type type) {
        layer().device().addWindow();
        return new CheckedWindow(layer(), inner().allocateWindow(type));
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        return CheckedPair.made(layer(), inner().createQueuePair(CheckedPair.below(options)), options);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWr, int maxSge) {
        return new CheckedSharedQueue(layer(), inner().createSharedReceiveQueue(maxWr, maxSge), null);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector to) {
        return new CheckedHandle(layer(), inner().createAddressHandle(to));
    }
}
