package verbena.nic.kind.third;

import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.Tap;
import verbena.verbs.Capability;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.ConnectionService;

/// Devices of one process whose queue pairs hand messages to each other: SENDs of reliable connections, no more.
final class SwitchboardKind implements DeviceKind {
    private final DeviceHost host;
    private final AtomicLong messages = new AtomicLong();

    SwitchboardKind(DeviceHost host) {
        this.host = host;
    }

    @Override
    public DeviceProfile profile() {
        return new DeviceProfile(EnumSet.of(Capability.RC), 0, 0, 0);
    }

    /// Any state follows any other, and no attribute is needed.
    @Override
    public QpState check(QpType type, QpState from, QpModification modification) {
        return modification.get(QpAttribute.STATE, QpState.class, from);
    }

    @Override
    public QueuePairDriver queuePair(QueuePairWiring wiring) {
        return new SwitchboardDriver(wiring, messages);
    }

    @Override
    public ConnectionService connections() {
        throw new UnsupportedException("connections", Capability.CONNECTION_MANAGER, host.name());
    }

    @Override
    public ManagementPort manage(int managementClass, ManagementAgent agent) {
        throw new UnsupportedException("manage", Capability.UD, host.name());
    }

    @Override
    public void tap(Tap tap) {}

    @Override
    public void untap(Tap tap) {}

    @Override
    public Map<String, Long> counters() {
        return Map.of("switchboard.messages", messages.get());
    }
}
