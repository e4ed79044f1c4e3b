package verbena.nic.shm;

import java.util.ArrayList;
import java.util.List;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.NodeGuid;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.shm.ShmLink;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// Memory of this host as a network.
///
/// @param name as [Device#name()]
/// @param host the interface whose addresses are the device's
record ShmDevice(String name, HostInterface host, ShmOptions options) implements Device {
    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public long nodeGuid() {
        return NodeGuid.of(name);
    }

    @Override
    public List<GidEntry> gids() {
        return host.gids();
    }

    @Override
    public boolean isOfHost() {
        return true;
    }

    @Override
    public Context open() {
        var links = new ArrayList<ShmLink>();
        boolean isOpen = false;
        try {
            while (links.size() < options.engines()) {
                links.add(ShmLink.open(gids()));
            }
            var context = DeviceContext.open(
                    this,
                    withFaults(links),
                    host -> new ShmKind(host, links, options.isDirect(), options.isDirect(), options.weakness()),
                    Mtu.MTU_4096);
            isOpen = true;
            return context.capturing(options.capture());
        } catch (LinkException e) {
            throw new DeviceException("open " + name + ": " + e.getMessage(), e);
        } finally {
            if (!isOpen) {
                links.forEach(ShmLink::close);
            }
        }
    }

    private List<? extends Link> withFaults(List<ShmLink> links) {
        Faults faults = options.faults();
        return faults == null
                ? links
                : links.stream()
                        .map(link -> new FaultyLink(link, faults, System::nanoTime))
                        .toList();
    }

    @Override
    public String toString() {
        return name;
    }
}
