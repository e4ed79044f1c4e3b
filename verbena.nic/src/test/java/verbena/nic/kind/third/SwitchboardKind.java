package verbena.nic.kind.third;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.kind.RegionMemory;
import verbena.nic.link.tap.Tap;
import verbena.provider.Slabs;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.ConnectionService;

/// Devices of one process whose queue pairs hand messages to each other: only SENDs of reliable connections.
final class SwitchboardKind implements DeviceKind {
    private final DeviceHost host;
    private final AtomicLong messages = new AtomicLong();
    private final RecordedMemory memory = new RecordedMemory();

    SwitchboardKind(DeviceHost host) {
        this.host = host;
    }

    @Override
    public DeviceProfile profile() {
        return new DeviceProfile(EnumSet.of(Capability.RC), 0, 0, 0);
    }

    /// Allows any step between states, and needs no attributes.
    @Override
    public QpState check(QpType type, QpState from, QpModification modification) {
        return modification.get(QpAttribute.STATE, from);
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

    @Override
    public RegionMemory regionMemory() {
        return memory;
    }

    RecordedMemory memory() {
        return memory;
    }

    /// Keeps an account of what the device takes.
    static final class RecordedMemory implements RegionMemory {
        final List<String> events = new ArrayList<>();
        private final Slabs slabs = new Slabs((arena, bytes) -> {
            events.add("source " + bytes);
            return arena.allocate(bytes, Slabs.PAGE);
        });

        @Override
        public Slabs.Piece allocate(long bytes, Set<Access> access) {
            events.add(bytes + " " + access);
            return slabs.allocate(bytes);
        }

        @Override
        public void close() {
            events.add("closed");
        }
    }
}
