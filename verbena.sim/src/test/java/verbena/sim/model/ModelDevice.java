package verbena.sim.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;

/// A device with one port: its addresses, its objects, by their numbers, and its events.
///
/// Keys, queue pair numbers and addresses are drawn by the real device and told here; that no two are the same is a
/// rule.
public final class ModelDevice {
    private final List<Gid> gids;
    private final Mtu activeMtu;
    private final Map<Integer, Keyed> keys = new HashMap<>();
    private final Map<Integer, ModelQueuePair> queuePairs = new LinkedHashMap<>();
    /// The shared receive queues that peers name.
    private final Map<Integer, ModelSharedReceiveQueue> numbered = new HashMap<>();

    private final Map<Gid, Set<ModelQueuePair>> groups = new HashMap<>();
    private final List<ModelEvent> events = new ArrayList<>();

    /// @param gids its GID table
    public ModelDevice(List<Gid> gids, Mtu activeMtu) {
        this.gids = List.copyOf(gids);
        this.activeMtu = activeMtu;
    }

    public List<Gid> gids() {
        return gids;
    }

    Mtu activeMtu() {
        return activeMtu;
    }

    // ---- verbs that make something

    public ModelDomain allocateDomain() {
        return new ModelDomain(this);
    }

    /// ibv_reg_mr_iova(3).
    public List<Refusal> mayRegister(ModelDomain domain, long length, long iova, Set<Access> access) {
        return new Reasons()
                .and(domain.mayBeUsed())
                .and(MemoryRules.mayGrant(access))
                .when(
                        access.contains(Access.ZERO_BASED) && iova != 0,
                        IllegalArgumentException.class,
                        "iova",
                        "ZERO_BASED")
                .when(!MemoryRules.isAddressable(iova, length), IllegalArgumentException.class, "iova")
                .list();
    }

    public ModelRegion register(
            ModelDomain domain, ModelMemory memory, int offset, int length, long iova, Set<Access> access, int key) {
        var region = new ModelRegion(domain, memory, offset, length, iova, access, key);
        name(region);
        return region;
    }

    public List<Refusal> mayAllocate(ModelDomain domain, long bytes, Set<Access> access) {
        return new Reasons()
                .and(domain.mayBeUsed())
                .and(MemoryRules.mayGrant(access))
                .when(bytes < 1, IllegalArgumentException.class, "bytes")
                .list();
    }

    public List<Refusal> mayAllocateWindow(ModelDomain domain, int type) {
        return new Reasons()
                .and(domain.mayBeUsed())
                .when(type != 1 && type != 2, IllegalArgumentException.class, "type")
                .list();
    }

    public ModelWindow allocateWindow(ModelDomain domain, int type, int key) {
        var window = new ModelWindow(domain, type, key);
        name(window);
        return window;
    }

    /// IBTA 10.6.3.2: a key names one thing; the upper 24 bits alone do.
    private void name(Keyed keyed) {
        if (keys.putIfAbsent(keyed.key() >>> 8, keyed) != null) {
            throw new IllegalStateException("two things have the key 0x" + Integer.toHexString(keyed.key()));
        }
    }

    /// ibv_create_ah(3).
    public List<Refusal> mayCreateAddressHandle(ModelDomain domain, AddressVector way) {
        return new Reasons()
                .and(domain.mayBeUsed())
                .when(!ModifyRules.fits(this, way), InvalidAttributesException.class, "createAddressHandle")
                .list();
    }

    public ModelAddressHandle createAddressHandle(ModelDomain domain, AddressVector way) {
        return new ModelAddressHandle(domain, way);
    }

    static List<Refusal> mayHaveEntries(int entries) {
        return new Reasons()
                .when(entries < 1, IllegalArgumentException.class, "entries")
                .when(entries > 1 << 20, ResourceLimitException.class, "maxCqe")
                .list();
    }

    public List<Refusal> mayCreateCompletionQueue(int entries, Optional<ModelChannel> channel) {
        return new Reasons()
                .and(mayHaveEntries(entries))
                .and(channel.map(ModelObject::mayBeUsed).orElse(List.of()))
                .list();
    }

    public ModelCompletionQueue createCompletionQueue(int entries, Optional<ModelChannel> channel) {
        return new ModelCompletionQueue(this, entries, channel.orElse(null));
    }

    public ModelChannel createChannel() {
        return new ModelChannel();
    }

    public List<Refusal> mayCreateSharedReceiveQueue(ModelDomain domain, int maxWr, int maxSge) {
        return new Reasons()
                .and(domain.mayBeUsed())
                .when(maxWr < 1, IllegalArgumentException.class, "maxWr")
                .when(maxSge < 0, IllegalArgumentException.class, "maxSge")
                .when(maxWr > 16_384, ResourceLimitException.class, "maxSrqWr")
                .when(maxSge > 32, ResourceLimitException.class, "maxSrqSge")
                .list();
    }

    public ModelSharedReceiveQueue createSharedReceiveQueue(ModelDomain domain, int maxWr, int maxSge) {
        return new ModelSharedReceiveQueue(domain, maxWr, maxSge);
    }

    public ModelXrcDomain openXrcDomain() {
        return new ModelXrcDomain(this);
    }

    /// ibv_create_qp(3).
    ///
    /// @param options what the device is asked for; its objects are the three that follow
    public List<Refusal> mayCreateQueuePair(
            ModelDomain domain,
            QueuePairOptions options,
            ModelCompletionQueue sendCq,
            ModelCompletionQueue receiveCq,
            @Nullable ModelSharedReceiveQueue srq) {
        boolean hasReceives = srq == null && !options.type().isXrc(); // else their sizes mean nothing, ibv_create_qp(3)
        return new Reasons()
                .and(domain.mayBeUsed())
                .and(sendCq.mayBeUsed())
                .and(receiveCq.mayBeUsed())
                .and(srq == null ? List.of() : srq.mayBeUsed())
                .when(
                        srq != null
                                && (options.type().isXrc() || srq.xrcDomain().isPresent()),
                        IllegalArgumentException.class,
                        "sharedReceiveQueue")
                .when(options.maxSendWr() > 16_384, ResourceLimitException.class, "maxSendWr")
                .when(hasReceives && options.maxReceiveWr() > 16_384, ResourceLimitException.class, "maxReceiveWr")
                .when(options.maxSendSge() > 32, ResourceLimitException.class, "maxSendSge")
                .when(hasReceives && options.maxReceiveSge() > 32, ResourceLimitException.class, "maxReceiveSge")
                .when(options.maxInlineBytes() > 512, ResourceLimitException.class, "maxInlineBytes")
                .when(sendCq.device() != this, IllegalArgumentException.class, "sendCq")
                .when(receiveCq.device() != this, IllegalArgumentException.class, "receiveCq")
                .when(
                        srq != null && srq.domain().device() != this,
                        IllegalArgumentException.class,
                        "sharedReceiveQueue")
                .list();
    }

    public ModelQueuePair createQueuePair(
            ModelDomain domain,
            QueuePairOptions options,
            ModelCompletionQueue sendCq,
            ModelCompletionQueue receiveCq,
            @Nullable ModelSharedReceiveQueue srq,
            int qpn) {
        return add(new ModelQueuePair(domain, options, sendCq, receiveCq, srq, null, qpn));
    }

    /// Two numbers that are the same are a mistake of the real device.
    ModelQueuePair add(ModelQueuePair queuePair) {
        int qpn = queuePair.qpn();
        if (qpn < 2 || qpn >= 0xFF_FFFF || queuePairs.putIfAbsent(qpn, queuePair) != null) {
            throw new IllegalStateException("no number for a new queue pair: 0x" + Integer.toHexString(qpn));
        }
        return queuePair;
    }

    void number(int number, ModelSharedReceiveQueue queue) {
        if (number < 0 || number > 0xFF_FFFF || numbered.putIfAbsent(number, queue) != null) {
            throw new IllegalStateException("no number for a new queue: 0x" + Integer.toHexString(number));
        }
    }

    void forgetNumber(int number) {
        numbered.remove(number);
    }

    // ---- what is there

    @Nullable
    Keyed keyed(int key) {
        Keyed keyed = keys.get(key >>> 8);
        return keyed != null && keyed.key() == key ? keyed : null;
    }

    void forget(Keyed keyed) {
        keys.remove(keyed.key() >>> 8);
    }

    /// The open shared receive queue that peers name so.
    public Optional<ModelSharedReceiveQueue> numbered(int number) {
        return Optional.ofNullable(numbered.get(number));
    }

    Collection<ModelQueuePair> queuePairs() {
        return Collections.unmodifiableCollection(queuePairs.values());
    }

    @Nullable
    ModelQueuePair queuePair(int qpn) {
        return queuePairs.get(qpn);
    }

    void forget(ModelQueuePair queuePair) {
        queuePairs.remove(queuePair.qpn());
        groups.values().forEach(group -> group.remove(queuePair));
    }

    /// Queue pairs that take part in a multicast group, in the order in which they came.
    Set<ModelQueuePair> attached(Gid group) {
        return groups.computeIfAbsent(group, _ -> new LinkedHashSet<>());
    }

    // ---- events

    void raise(AsyncEvent.Type type, ModelObject about) {
        events.add(new ModelEvent(type, about));
    }

    /// What has been raised since it was asked last.
    public List<ModelEvent> takeEvents() {
        var taken = List.copyOf(events);
        events.clear();
        return taken;
    }
}
