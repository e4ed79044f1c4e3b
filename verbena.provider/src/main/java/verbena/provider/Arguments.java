package verbena.provider;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceMemory;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;

/// Checks of the arguments that programs hand to verbs, alike for all devices. A mistake throws and names the verb
/// and its argument.
public final class Arguments {
    private Arguments() {}

    /// Checks that a device has the capability that a verb needs.
    ///
    /// @throws UnsupportedException when the device does not declare it
    public static void require(String verb, Context context, Capability capability) {
        if (!context.attributes().has(capability)) {
            throw new UnsupportedException(verb, capability, context.device().name());
        }
    }

    /// Returns the device's own object, after a check that it belongs to this context.
    ///
    /// @param kind the device's own class
    /// @param its its context
    public static <T> T own(String verb, String argument, Class<T> kind, Object object, Context its, Context context) {
        if (!kind.isInstance(object) || its != context) {
            throw new IllegalArgumentException(verb + ": " + argument + ": belongs to another context");
        }
        return kind.cast(object);
    }

    /// Checks a number of objects, of which a device has a limited number.
    ///
    /// @throws ResourceLimitException when the value is larger than the device's limit
    public static void atMost(String verb, String limit, int max, int value) {
        if (value > max) {
            throw new ResourceLimitException(verb, limit, max, "asked for " + value);
        }
    }

    /// Checks that a completion queue has lost no completions. If it has, no more will come.
    ///
    /// @param label the queue, as its device names it
    public static void checkWhole(String verb, CompletionQueue queue, String label, boolean isBroken) {
        if (isBroken) {
            throw new InvalidStateException(verb + ": " + label + " is broken: more completions came than its "
                    + queue.capacity() + " entries; make it as large as all requests that can be outstanding on it");
        }
    }

    /// Checks the options of a queue pair, except the classes of its completion queues.
    public static void checkQueuePair(Context context, QueuePairOptions options) {
        String verb = "createQueuePair";
        require(verb, context, options.type().capability());
        if (options.type() == QpType.XRC_TARGET) {
            throw new IllegalArgumentException(
                    verb + ": type: a target is of an XRC domain; see XrcDomain.createTarget");
        }
        options.extensions().forEach(extension -> require(verb, context, extension));
        DeviceAttributes limits = context.attributes();
        atMost(verb, "maxSendWr", limits.queues().maxQpWr(), options.maxSendWr());
        atMost(verb, "maxSendSge", limits.queues().maxSge(), options.maxSendSge());
        if (options.sharedReceiveQueue().isEmpty() && !options.type().isXrc()) { // else they mean nothing
            atMost(verb, "maxReceiveWr", limits.queues().maxQpWr(), options.maxReceiveWr());
            atMost(verb, "maxReceiveSge", limits.queues().maxSge(), options.maxReceiveSge());
        }
        atMost(verb, "maxInlineBytes", limits.queues().maxInlineBytes(), options.maxInlineBytes());
    }

    /// Returns the shared receive queue of a queue pair; null for a queue pair without.
    ///
    /// @param kind the device's own class
    public static <T> @Nullable T sharedReceiveQueue(Class<T> kind, Context context, QueuePairOptions options) {
        SharedReceiveQueue srq = options.sharedReceiveQueue().orElse(null);
        if (srq == null) {
            return null;
        }
        T own = own(
                "createQueuePair",
                "sharedReceiveQueue",
                kind,
                srq,
                srq.protectionDomain().context(),
                context);
        if (options.type().isXrc()) {
            throw new IllegalArgumentException(
                    "createQueuePair: sharedReceiveQueue: an XRC initiator receives nothing");
        }
        if (srq.number().isPresent()) {
            throw new IllegalArgumentException("createQueuePair: sharedReceiveQueue: " + srq
                    + " is of an XRC domain; only targets of that take receives from it");
        }
        return own;
    }

    /// Checks the sizes of a shared receive queue.
    public static void checkShared(Context context, int maxWr, int maxSge) {
        String verb = "createSharedReceiveQueue";
        if (maxWr < 1 || maxSge < 0) {
            throw new IllegalArgumentException(
                    verb + ": maxWr: at least 1, maxSge: not negative, got " + maxWr + " and " + maxSge);
        }
        atMost(verb, "maxSrqWr", context.attributes().queues().maxSrqWr(), maxWr);
        atMost(verb, "maxSrqSge", context.attributes().queues().maxSrqSge(), maxSge);
    }

    /// Checks the limit of a shared receive queue that is to be armed.
    public static void checkLimit(SharedReceiveQueue srq, int limit) {
        if (limit < 0 || limit > srq.maxWr()) {
            throw new IllegalArgumentException("armLimit: limit: 0 to " + srq.maxWr() + ", got " + limit);
        }
    }

    /// Checks the bytes that are copied into device memory, or out of it.
    public static void checkDeviceCopy(String verb, DeviceMemory memory, long offset, long bytes) {
        if (offset % DeviceMemory.COPY_UNIT != 0 || bytes % DeviceMemory.COPY_UNIT != 0) {
            throw new IllegalArgumentException(verb + ": offset and length: multiples of " + DeviceMemory.COPY_UNIT
                    + ", got " + offset + " and " + bytes);
        }
        Objects.checkFromIndexSize(offset, bytes, memory.length());
    }

    /// Checks the new properties of a region, except rights that its device does not know.
    ///
    /// @param kind the device's own class of protection domains
    public static <T> T checkReregister(Class<T> kind, MemoryRegion region, ProtectionDomain to, Set<Access> access) {
        T target = own(
                "reregister",
                "protectionDomain",
                kind,
                to,
                to.context(),
                region.protectionDomain().context());
        if (access.contains(Access.ZERO_BASED) != region.access().contains(Access.ZERO_BASED)) {
            throw new IllegalArgumentException("reregister: access: ZERO_BASED cannot change, because addresses stay");
        }
        if (access.contains(Access.ON_DEMAND) != region.access().contains(Access.ON_DEMAND)) {
            throw new IllegalArgumentException("reregister: access: ON_DEMAND cannot change, because the memory stays");
        }
        return target;
    }

    /// Checks a queue pair and the group that it joins or leaves.
    public static void checkMulticast(String verb, Context context, QueuePair qp, Gid group) {
        require(verb, context, Capability.MULTICAST);
        if (qp.type() != QpType.UD) {
            throw new InvalidStateException(verb + ": " + qp + " is of type " + qp.type() + "; only UD takes part");
        }
        if (!group.isMulticast()) {
            throw new IllegalArgumentException(
                    verb + ": group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got " + group);
        }
    }
}
