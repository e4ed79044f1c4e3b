package verbena.ibverbs.objects;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.lib.LockedMemory;
import verbena.ibverbs.lib.Ops;
import verbena.ibverbs.lib.Poller;
import verbena.ibverbs.lib.VerbsLibrary;
import verbena.provider.Arguments;
import verbena.provider.FailureWatch;
import verbena.provider.QueuePairTable;
import verbena.provider.Slabs;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.QueuePair;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.TransportType;
import verbena.verbs.spi.OwnedObject;

/// An opened device of the system's, `struct ibv_context`, as the objects that are made from it need it.
public abstract class OpenContext extends OwnedObject implements Context {
    /// A completion queue as events find it, all by the poller.
    public interface Queue extends CompletionQueue {
        /// Returns the address of C's struct.
        long address();

        /// Called when C has something to tell.
        void onEvent();

        /// Called when it has overflowed.
        void onBroken();

        /// Wakes threads that wait, to look anew.
        void wakeAll();
    }

    private final VerbsLibrary library;
    private final Device device;
    private final long address;
    private final Ops ops;
    private final Poller poller;
    private final int vectors;
    private final FailureWatch failureWatch = new FailureWatch();
    private final Slabs slabs = new Slabs();
    private final Map<Long, Queue> completionQueues = new ConcurrentHashMap<>();
    /// Queue pairs and shared receive queues, by the address of C's.
    private final Map<Long, OwnedObject> byAddress = new ConcurrentHashMap<>();

    private final QueuePairTable queuePairs = new QueuePairTable();

    private final AtomicInteger vector = new AtomicInteger();
    private volatile boolean failed;

    /// @param vectors interrupts that the device has
    protected OpenContext(VerbsLibrary library, Device device, long address, Ops ops, int vectors) {
        super("device " + device.name());
        this.library = library;
        this.device = device;
        this.address = address;
        this.ops = ops;
        this.vectors = vectors;
        this.poller = new Poller("verbena-ibverbs-" + device.name());
    }

    @Override
    public final Device device() {
        return device;
    }

    public final VerbsLibrary library() {
        return library;
    }

    public final long address() {
        return address;
    }

    public final Ops ops() {
        return ops;
    }

    public final Poller poller() {
        return poller;
    }

    public final boolean isIwarp() {
        return device.transportType() == TransportType.IWARP;
    }

    /// Returns the memory of regions that allocate their own.
    public final Slabs slabs() {
        return slabs;
    }

    public final FailureWatch failureWatch() {
        return failureWatch;
    }

    public final void require(String verb, Capability capability) {
        Arguments.require(verb, this, capability);
    }

    /// Returns the next interrupt of the device: completion queues take turns at the interrupts that the device
    /// has.
    public final int nextVector() {
        return Math.floorMod(vector.getAndIncrement(), vectors);
    }

    // ---- what goes wrong

    /// Checks that a struct of C points back to its context; if it does not, its layout is not known here.
    public final void checkLayout(String struct, long context) {
        if (context != address) {
            throw new DeviceException("device " + device.name() + ": struct " + struct + " of this libibverbs is laid"
                    + " out in a way that is not known here; please report its version");
        }
    }

    /// Returns the reason for which an object could not be made, as an exception to throw.
    ///
    /// @param resource what there may not be enough of
    public final RuntimeException refused(String verb, String resource, int error) {
        String said = "the device says " + Errno.text(error);
        if (Errno.ENOMEM.is(error) || Errno.ENOSPC.is(error) || Errno.EAGAIN.is(error)) {
            return new ResourceLimitException(
                    verb,
                    "locked memory",
                    LockedMemory.limitBytes(),
                    said + ": it has no more " + resource + ", or memory that may" + " be locked is short ("
                            + LockedMemory.HINT + ")");
        }
        if (Errno.isUnsupported(error)) {
            return new DeviceException(verb + ": device " + device.name() + " does not do this: " + said);
        }
        return new DeviceException(verb + ": " + said);
    }

    /// Handles a failed request of this queue pair, which has brought a connected one into ERR.
    public abstract void onFailedRequest(int qpn);

    /// Handles the end of the device, which is gone, or of no use any more.
    public final void onFailed(String why) {
        failed = true;
        completionQueues.values().forEach(Queue::wakeAll);
        failureWatch.tell(why);
    }

    public final boolean hasFailed() {
        return failed;
    }

    // ---- who is told of events

    public final Collection<Queue> completionQueues() {
        return completionQueues.values();
    }

    public final @Nullable Queue completionQueue(long token) {
        return completionQueues.get(token);
    }

    public final void addCompletionQueue(long token, Queue cq) {
        completionQueues.put(token, cq);
    }

    public final void removeCompletionQueue(long token) {
        completionQueues.remove(token);
    }

    /// Returns queue pairs and shared receive queues.
    public final Collection<OwnedObject> objects() {
        return byAddress.values();
    }

    @Override
    public final @Nullable QueuePair queuePair(int qpn) {
        return queuePairs.get(qpn);
    }

    public final @Nullable OwnedObject object(long of) {
        return byAddress.get(of);
    }

    public final void add(long of, OwnedObject queue) {
        byAddress.put(of, queue);
        if (queue instanceof QueuePair queuePair) {
            queuePairs.add(queuePair);
        }
    }

    public final void forget(long of) {
        if (byAddress.remove(of) instanceof QueuePair queuePair) {
            queuePairs.remove(queuePair);
        }
    }
}
