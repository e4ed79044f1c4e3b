package verbena.nic.kind;

import java.util.Map;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.link.Tap;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.spi.ConnectionService;

/// A kind of device: what it can do, and how its queue pairs and its connections are made. The objects of the API know
/// nothing else of the wire. An instance serves one open device.
public interface DeviceKind {
    /// What devices of this kind can do.
    DeviceProfile profile();

    /// The state that a modification leads to.
    ///
    /// @throws verbena.verbs.InvalidAttributesException when there is no such step, or attributes do not fit it
    QpState check(QpType type, QpState from, QpModification modification);

    /// Makes what drives a new queue pair.
    QueuePairDriver queuePair(QueuePairWiring wiring);

    /// How the device's connections are made.
    ConnectionService connections();

    /// Hands management datagrams of a class to `agent` ([SoftContext#manage]).
    ManagementPort manage(int managementClass, ManagementAgent agent);

    /// Shows `tap` all that is sent and received from now on. Any thread.
    void tap(Tap tap);

    /// Ends that: when this has returned, `tap` is not called again.
    void untap(Tap tap);

    /// What this kind counts beyond engine and link, by name. Any thread.
    Map<String, Long> counters();

    /// Makes the kind of a device that is being opened.
    interface Maker {
        DeviceKind make(DeviceHost host);
    }
}
