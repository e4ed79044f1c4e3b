package verbena.nic.kind;

import java.util.Map;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.link.tap.Tap;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.Gid;
import verbena.verbs.PortAttributes;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.StaticRate;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Watch;

/// A kind of device: what it can do, and how its queue pairs and connections are made. The objects of the API know
/// nothing else of the wire. An instance serves one open device.
public interface DeviceKind {
    /// Returns the abilities of devices of this kind.
    DeviceProfile profile();

    /// Returns the state that a modification leads to.
    ///
    /// @throws verbena.verbs.InvalidAttributesException when there is no such step, or attributes do not fit the
    ///     step
    QpState check(QpType type, QpState from, QpModification modification);

    /// Makes the driver of a new queue pair.
    QueuePairDriver queuePair(QueuePairWiring wiring);

    /// Returns the service that makes the device's connections.
    ConnectionService connections();

    /// Hands management datagrams of a class to `agent` ([verbena.nic.SoftContext#manage]).
    ManagementPort manage(int managementClass, ManagementAgent agent);

    /// Shows `tap` all traffic from now on. Any thread.
    void tap(Tap tap);

    /// Detaches `tap`: when this has returned, it is not called again.
    void untap(Tap tap);

    /// Returns the counters of this kind beyond those of engine and link, by name. Any thread.
    Map<String, Long> counters();

    /// Returns the attributes of the port, which are those of an Ethernet port at first. Any thread.
    default PortAttributes port(PortAttributes ethernet) {
        return ethernet;
    }

    /// Returns the P_Keys of the port: a table that the engine's owner changes, and any thread may look at.
    default int[] pkeys() {
        return new int[] {0xFFFF};
    }

    /// Returns how many bits per second of packets may leave by a path of this static rate; 0 for as many as the
    /// link takes. On Ethernet and IP it means nothing: control of congestion says how fast a sender is.
    default long bitsPerSecond(StaticRate rate) {
        return 0;
    }

    /// Waits until packets of a multicast group come, on a wire that forwards them to members only. The caller is
    /// not the engine's owner, and a queue pair is attached to the group.
    ///
    /// @throws verbena.verbs.DeviceException when they will not
    default void awaitGroup(Gid group) {}

    /// Makes the port a sender to a multicast group, on a wire where this is needed, and waits for it. Closing what
    /// this gives ends that.
    ///
    /// @throws verbena.verbs.DeviceException when it cannot be
    default Watch sendTo(Gid group) {
        return () -> {};
    }

    /// Returns the listener of the completion ring that `queue` owns.
    default CompletionRing.Listener listener(CompletionRing.Listener queue) {
        return queue;
    }

    /// Makes the memory of regions that bring theirs. Called once, when the device is opened; closed with it.
    default RegionMemory regionMemory() {
        return RegionMemory.ofProcess();
    }

    /// A maker of the kind of a device that is being opened.
    interface Maker {
        DeviceKind make(DeviceHost host);
    }
}
