package verbena.nic;

import java.util.List;
import java.util.Optional;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.UdpLink;
import verbena.nic.link.UdpLinks;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// RoCE v2 in user space, on the addresses of one network interface.
///
/// @param name as [Device#name()]
/// @param host the interface; its GIDs are the device's, none for an address of its own on loopback
record RoceV2Device(String name, HostInterface host, DeviceOptions options) implements Device {
    /// UDP port of RoCE v2 (IBTA A17.2).
    static final int PORT = 4791;

    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    /// From the hardware address as soft-RoCE does it (EUI-64); on loopback, which has none, from the name.
    @Override
    public long nodeGuid() {
        long mac = host.mac();
        if (mac == 0) {
            return guid(name);
        }
        return (((mac >>> 24) ^ 0x02_0000L) << 40) | 0xFF_FE00_0000L | (mac & 0xFF_FFFF);
    }

    /// A GUID, locally administered, for something that has nothing but a name.
    static long guid(String name) {
        return 0x0200_00FF_FE00_0000L | (name.hashCode() & 0xFF_FFFF);
    }

    @Override
    public List<GidEntry> gids() {
        return host.gids();
    }

    @Override
    public Context open() {
        try {
            UdpLink link = host.gids().isEmpty()
                    ? LoopbackAddress.claim(address -> open(host.withOnly(address), options.link()))
                    : open(host, options.link().share());
            Mtu mtu =
                    Optional.ofNullable(options.mtu()).map(link.pathMtu()::min).orElse(link.pathMtu());
            Faults faults = options.faults();
            Link used = faults == null ? link : new FaultyLink(link, faults, System::nanoTime);
            var context = SoftContext.open(this, used, mtu, System::nanoTime, new SecureNumbers(), true);
            context.watchNetwork();
            return context;
        } catch (LinkException e) {
            throw new DeviceException("open " + name + ": " + e.getMessage(), e);
        }
    }

    private static UdpLink open(HostInterface on, UdpLinks.Options how) {
        return UdpLinks.open(on.gids(), PORT, how);
    }
}
