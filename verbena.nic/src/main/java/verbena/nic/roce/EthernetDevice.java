package verbena.nic.roce;

import java.util.List;
import java.util.Objects;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.NodeGuid;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.ethernet.EthernetLink;
import verbena.nic.link.ethernet.EthernetWay;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// RoCE in Ethernet frames of its own making, on one network interface.
///
/// @param name as [Device#name()]
/// @param host the interface; its GIDs are the device's
/// @param type of all GIDs: RoCE v1, or RoCE v2
record EthernetDevice(String name, HostInterface host, GidType type, DeviceOptions options) implements Device {
    /// The bytes that a packet of a path MTU has around its payload, as [HostInterface#pathMtu()] counts.
    private static final int AROUND_PAYLOAD_BYTES = 80;

    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public long nodeGuid() {
        return NodeGuid.of(host, name);
    }

    @Override
    public List<GidEntry> gids() {
        return host.gids().stream()
                .map(entry -> new GidEntry(
                        entry.index(), entry.gid(), type, entry.networkInterface(), entry.interfaceIndex()))
                .toList();
    }

    @Override
    public Context open() {
        List<? extends Link> links = List.of();
        boolean isOpen = false;
        try {
            Mtu mtu = mtu();
            CongestionRule congestion = options.congestionOn(host);
            EthernetWay way = Objects.requireNonNull(options.way(), "a device on Ethernet has one");
            Protection protection = options.protection();
            links = options.engines() > 1
                    ? EthernetLink.openQueues(host, gids(), options.vlan(), way, options.engines())
                    : List.of(
                            EthernetLink.open(host, gids(), options.vlan(), way, protection.isOn(), protection.port()));
            List<Link> used = links.stream().map(this::withFaults).toList();
            if (protection.isOn()) {
                used = List.of(protection.wrap(used.getFirst()));
                mtu = mtu.min(LinkDevice.largestMtu(used.getFirst()));
            }
            var context =
                    DeviceContext.open(this, used, made -> new EthernetKind(made, congestion, options.weakness()), mtu);
            isOpen = true;
            context.watchNetwork();
            return context.capturing(options.capture());
        } catch (LinkException e) {
            throw new DeviceException("open " + name + ": " + e.getMessage(), e);
        } finally {
            if (!isOpen) {
                links.forEach(Link::close);
            }
        }
    }

    /// Returns the path MTU that was asked for, else the largest one that the interface carries.
    private Mtu mtu() {
        Mtu asked = options.mtu();
        if (asked == null) {
            return host.pathMtu();
        }
        if (asked.bytes() > host.pathMtu().bytes()) {
            throw new IllegalArgumentException("device " + name + ": option \"mtu=" + asked.bytes() + "\": "
                    + host.name() + " carries packets of " + host.mtu() + " bytes, which is enough for "
                    + host.pathMtu().bytes() + "; " + asked.bytes() + " needs "
                    + (asked.bytes() + AROUND_PAYLOAD_BYTES) + " (ip link set " + host.name() + " mtu 9000)");
        }
        return asked;
    }

    private Link withFaults(Link link) {
        Faults faults = options.faults();
        return faults == null ? link : new FaultyLink(link, faults, System::nanoTime);
    }

    @Override
    public String toString() {
        return name;
    }
}
