package verbena.nic.roce;

import java.util.ArrayList;
import java.util.List;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.ethernet.PacketWire;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.roce.Ethernet;

/// The provider of `rocev1` devices: RoCE v1 on each Ethernet interface with an IP address, a link-local one for
/// example. They are listed where this process may open them, which takes a right (CAP_NET_RAW). [Device] tells the
/// names; the options are
///
/// | option | value |
/// |---|---|
/// | `link` | `raw` (default): a packet socket, or `xdp`: AF_XDP |
/// | `busy-poll` | behind `link=xdp`, `on`: a look for frames works for the interface itself; default `off` |
/// | `queue` | behind `link=xdp`: the queue of the interface, from 0 (default) |
/// | `vlan` | the VLAN of all frames, 1 to 4094, or 0 for a tag that has a priority only; default: no tag |
/// | `mtu` | path MTU: 256, 512, 1024, 2048 or 4096; default: the largest that the interface carries |
/// | `faults` | what to do to packets, for tests: `loss:5%,seed:7`, see [verbena.nic.link.Faults] |
public final class RoceV1Provider extends HostProvider {
    /// Called by the service loader.
    public RoceV1Provider() {}

    @Override
    public String kind() {
        return "rocev1";
    }

    @Override
    public List<Device> devices() {
        return PacketWire.isPermitted() ? super.devices() : List.of();
    }

    /// Returns the interfaces with their addresses in the order of the kernel's GID tables: first the address that
    /// is made from the interface's own, then those of IP.
    @Override
    protected List<HostInterface> interfaces() {
        return Interfaces.all().stream()
                .filter(host -> !host.loopback() && host.mac() != 0)
                .map(host -> host.with(gids(host)))
                .toList();
    }

    private static List<GidEntry> gids(HostInterface host) {
        var gids = new ArrayList<Gid>();
        gids.add(new Gid(Ethernet.linkLocalPrefix(), Ethernet.interfaceId(host.mac())));
        host.gids().stream()
                .map(GidEntry::gid)
                .filter(gid -> !gids.contains(gid))
                .forEach(gids::add);
        var entries = new ArrayList<GidEntry>();
        for (Gid gid : gids) {
            entries.add(new GidEntry(entries.size(), gid, GidType.ROCE_V1, host.name(), host.index()));
        }
        return entries;
    }

    @Override
    protected Device on(HostInterface host, String name, String options) {
        return new EthernetDevice(name, host, GidType.ROCE_V1, DeviceOptions.parseOnEthernet(name, options));
    }

    /// Returns a device whose opening fails, because loopback is no Ethernet.
    @Override
    protected Device onLoopback(HostInterface host, String name, String options) {
        return on(host, name, options);
    }
}
