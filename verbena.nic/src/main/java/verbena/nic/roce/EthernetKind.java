package verbena.nic.roce;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.ethernet.PacketWire;
import verbena.nic.link.psp.PspLink;
import verbena.nic.raw.RawCounters;
import verbena.nic.raw.RawDriver;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.weak.Weakness;
import verbena.verbs.Capability;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.QpType;

/// RoCE on an interface of this host: where the process may, its queue pairs send and receive raw packets too. A
/// device that protects its packets has none, because they would leave as they are.
final class EthernetKind extends RoceKind {
    private final DeviceHost host;
    private final DeviceProfile profile;
    private final RawCounters raw = new RawCounters();

    EthernetKind(DeviceHost host, CongestionRule congestion, @Nullable Weakness weakness) {
        super(host, congestion, false, weakness);
        this.host = host;
        boolean isPlain = host.engine().link().service(PspLink.class) == null;
        DeviceProfile without = super.profile();
        this.profile = isPlain && PacketWire.isPermitted() ? without.with(Capability.RAW_PACKET) : without;
    }

    @Override
    public DeviceProfile profile() {
        return profile;
    }

    @Override
    public QueuePairDriver queuePair(QueuePairWiring w) {
        return w.type() == QpType.RAW_PACKET ? new RawDriver(interfaceOfFrames(), raw, w) : super.queuePair(w);
    }

    /// Returns the interface that has the device's first address.
    private HostInterface interfaceOfFrames() {
        GidEntry first = host.gids().entries().getFirst();
        return Interfaces.all().stream()
                .filter(one -> one.index() == first.interfaceIndex())
                .findFirst()
                .orElseThrow(() -> new DeviceException(
                        "createQueuePair: the interface " + first.networkInterface() + " is not there any more"));
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> all = new HashMap<>(super.counters());
        all.putAll(raw.all());
        return all;
    }
}
