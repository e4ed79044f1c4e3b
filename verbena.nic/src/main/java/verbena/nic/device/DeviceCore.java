package verbena.nic.device;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.GidTable;
import verbena.nic.kind.RegionMemory;
import verbena.nic.observe.ObservedDevice;
import verbena.transport.memory.KeyTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.Path;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.OwnedObject;

/// The core of an open device, which its objects need: engines, kind, events, tables and limits. It knows none of
/// these objects.
final class DeviceCore {
    /// The context, as the program knows it.
    final ObservedDevice context;
    /// The context, as the object that all others are made from.
    final OwnedObject root;

    final Engines engines;
    final DeviceKind kind;
    final DeviceEvents events;
    final RandomGenerator random;
    final Placement placement;
    final RegionMemory regionMemory;

    final Limit completionQueues = new Limit("maxCq", DeviceLimits.CQ_MAX);
    final Limit protectionDomains = new Limit("maxPd", DeviceLimits.PD_MAX);
    final Limit sharedReceiveQueues = new Limit("maxSrq", DeviceLimits.SRQ_MAX);
    final Limit xrcDomains = new Limit("maxXrcd", DeviceLimits.PD_MAX);
    /// The shared receive queues of XRC domains, by number.
    final KeyTable<XrcQueue> xrcQueues;
    final OpenQueuePairs queuePairs;
    /// The completion queues whose threads may be waiting when the engine fails.
    final Set<CompletionRing.Listener> openQueues = ConcurrentHashMap.newKeySet();

    <C extends OwnedObject & ObservedDevice> DeviceCore(
            C context,
            Engines engines,
            DeviceKind kind,
            DeviceEvents events,
            RandomGenerator random,
            KeyTable<XrcQueue> xrcQueues,
            OpenQueuePairs queuePairs) {
        this.context = context;
        this.root = context;
        this.engines = engines;
        this.kind = kind;
        this.events = events;
        this.random = random;
        this.xrcQueues = xrcQueues;
        this.queuePairs = queuePairs;
        this.placement = new Placement(engines);
        this.regionMemory = kind.regionMemory();
    }

    /// Returns the name of the device in messages.
    String name() {
        return context.device().name();
    }

    /// Returns the first engine: the only one, or the one with the communication manager.
    Engine engine() {
        return engines.first();
    }

    /// Reports an asynchronous event. Any thread.
    void raise(AsyncEvent event) {
        events.raise(event);
    }

    /// @throws UnsupportedException when this device does not have the capability
    void require(String verb, Capability capability) {
        if (!kind.profile().capabilities().contains(capability)) {
            throw new UnsupportedException(verb, capability, name());
        }
    }

    /// Returns the path that an address vector describes, if the ends of the path fit.
    ///
    /// @param verb the beginning of the message
    Path path(String verb, AddressVector to) {
        GidEntry own;
        try {
            own = context.gid(1, to.sourceGidIndex());
        } catch (IllegalArgumentException e) {
            throw new InvalidAttributesException(verb + ": " + e.getMessage());
        }
        return GidTable.path(verb, own, to, kind::bitsPerSecond);
    }
}
