package verbena.nic.roce;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.NodeGuid;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.nic.link.udp.WatchingLink;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;
import verbena.verbs.internal.QueryableDevice;

/// RoCE v2 in user space, on the addresses of one network interface.
///
/// @param name as [Device#name()]
/// @param host the interface; its GIDs are the device's, none for an address of its own on loopback
record RoceV2Device(String name, HostInterface host, DeviceOptions options) implements Device, QueryableDevice {
    /// UDP port of RoCE v2 (IBTA A17.2).
    static final int PORT = 4791;

    private static final String NOT_SHARED =
            "; with psp a device shares its address with no other, because packets hide"
                    + " for which of them they are: give each process an address (rocev2@ADDRESS)";

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
        return host.gids();
    }

    @Override
    public Context open() {
        var links = new ArrayList<UdpLink>();
        boolean opened = false;
        try {
            int engines = options.enginesToOpen();
            CongestionRule congestion = options.congestionOn(host);
            boolean isProtected = options.protection().isOn();
            UdpOptions how =
                    isProtected ? options.link().wrap(options.protection().port()) : options.link();
            UdpOptions alone = engines == 1 ? how : how.share();
            UdpLink first = host.gids().isEmpty()
                    ? UdpLinks.openOnLoopback(host, PORT, alone)
                    : open(host, isProtected ? how : how.share());
            links.add(first);
            var there = new HostInterface(
                    host.name(),
                    host.index(),
                    host.mtu(),
                    host.mac(),
                    host.up(),
                    host.loopback(),
                    host.bitsPerSecond(),
                    first.gids());
            while (links.size() < engines) {
                links.add(open(there, how.share()));
            }
            Faults faults = options.faults();
            List<? extends Link> used = faults == null
                    ? links
                    : links.stream()
                            .map(link -> new FaultyLink(link, faults, System::nanoTime))
                            .toList();
            Mtu most = first.pathMtu();
            if (isProtected) {
                requireAlone(first);
                Link around = options.protection().wrap(used.getFirst());
                most = most.min(LinkDevice.largestMtu(around));
                used = List.of(around);
            }
            Mtu mtu = Optional.ofNullable(options.mtu()).map(most::min).orElse(most);
            var context =
                    DeviceContext.open(this, used, made -> new EthernetKind(made, congestion, options.weakness()), mtu);
            opened = true;
            context.watchNetwork();
            return context.capturing(options.capture());
        } catch (LinkException e) {
            boolean isShared = options.protection().isOn() && e.kind() == LinkException.Kind.PORT_IN_USE;
            throw new DeviceException("open " + name + ": " + e.getMessage() + (isShared ? NOT_SHARED : ""), e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("device " + name + ": " + e.getMessage(), e);
        } finally {
            if (!opened) {
                links.forEach(UdpLink::close);
            }
        }
    }

    @Override
    public Context openForQueries(DeviceException why) {
        if (!(why.getCause() instanceof LinkException cause)
                || cause.kind() != LinkException.Kind.PORT_IN_USE
                || gids().isEmpty()
                || NativeAccess.whyPortable() != null) {
            throw why;
        }
        CongestionRule congestion = options.congestionOn(host);
        Mtu mtu = Optional.ofNullable(options.mtu()).map(host.pathMtu()::min).orElse(host.pathMtu());
        var link = new WatchingLink(gids(), cause);
        DeviceContext context = null;
        try {
            context = DeviceContext.open(
                    this, List.of(link), made -> new RoceKind(made, congestion, false, options.weakness()), mtu);
        } finally {
            if (context == null) {
                link.close();
            }
        }
        context.watchNetwork();
        return context;
    }

    @Override
    public boolean hasOneContext() {
        return options.protection().isOn();
    }

    /// Checks that the link shares its address with no other: PSP encrypts the fields that distinguish the devices.
    private static void requireAlone(UdpLink link) {
        if (link.slot() != Link.NO_SLOT) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED,
                    "option \"psp=on\": needs an address for itself, and of 127.0.0.0/8 only 127.0.0.1 is local here");
        }
    }

    private static UdpLink open(HostInterface on, UdpOptions how) {
        return UdpLinks.open(on.gids(), PORT, how);
    }

    @Override
    public String toString() {
        return name;
    }
}
