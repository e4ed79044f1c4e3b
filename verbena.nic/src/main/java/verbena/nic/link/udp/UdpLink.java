package verbena.nic.link.udp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.PathMtu;
import verbena.nic.link.PlainSeal;
import verbena.nic.link.Seal;
import verbena.nic.link.UdpSeal;
import verbena.nic.link.WakeSignal;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// RoCE v2 through UDP sockets: the common part of both kinds of link.
///
/// There is one socket per address, bound to it and never connected, with "don't fragment" set. On such a socket,
/// Linux sends IPv4 identification 0; the ICRC covers the identification, and a socket cannot choose it. Packets
/// leave from the link's own port, whatever [Frame#sourcePort] says; the link writes its port there. On Linux,
/// packets to this host leave by further sockets, from a port of their own ([#sourcePort]). The destination of an
/// arriving frame is the address of the socket that received it.
///
/// Packets to a multicast group leave by these sockets too; without a hop limit they go no further than the network
/// of their source (RFC 1112, 6.1). They arrive through further sockets, because a socket that is bound to an
/// address receives only packets to that address. There is one for each group and interface, bound to the group and
/// shared with every program that binds it the same way.
///
/// For one thread at a time, except [#wakeup()], [#close()] and the counters, which any thread may call. After
/// [#close()], nothing is received or taken, and [#await(long)] returns at once.
public abstract sealed class UdpLink implements Link permits LinuxUdpLink, DatagramChannelLink {
    private final List<GidEntry> gids;
    private final Set<Gid> groups = new HashSet<>();
    private final int packetMax;
    private final Mtu pathMtu;

    private final int port;

    final Seal seal;
    final WakeSignal signal = new WakeSignal();
    // Written by the engine on rare paths; read by any thread.
    final AtomicLong malformed = new AtomicLong();
    final AtomicLong unsendable = new AtomicLong();

    UdpLink(List<GidEntry> addresses, int port, UdpOptions options) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("addresses: at least one");
        }
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 1 to 65535, got " + port);
        }
        this.gids = List.copyOf(addresses);
        int packetMax = Frame.PACKET_MAX;
        Mtu pathMtu = Mtu.MTU_4096;
        for (GidEntry entry : gids) {
            int interfaceMtu = interfaceMtu(entry);
            int overhead = entry.gid().isIpv4() ? RoceV2.IPV4_OVERHEAD : RoceV2.IPV6_OVERHEAD;
            packetMax = Math.min(packetMax, interfaceMtu - overhead);
            pathMtu = pathMtu.min(PathMtu.ofInterface(interfaceMtu));
        }
        // Packets are whole words (IBTA 9.2, PadCnt).
        this.packetMax = packetMax & ~3;
        this.pathMtu = pathMtu;
        this.port = port;
        this.seal = options.wrapped() ? new PlainSeal(new UdpSeal(port)) : new UdpSeal(port);
    }

    @Override
    public int sourcePort(Gid from, Gid to) {
        return port();
    }

    private static int interfaceMtu(GidEntry entry) {
        try {
            NetworkInterface at = Interfaces.of(entry);
            if (at == null) {
                at = NetworkInterface.getByName(entry.networkInterface());
            }
            return at == null ? PathMtu.UNKNOWN_INTERFACE : at.getMTU();
        } catch (SocketException e) {
            // The interface has just gone: the bind will fail.
            return PathMtu.UNKNOWN_INTERFACE;
        }
    }

    @Override
    public final List<GidEntry> liveGids() {
        return Interfaces.live(gids);
    }

    @Override
    public final List<GidEntry> gids() {
        return gids;
    }

    /// Returns the UDP port: the destination of all packets, and the source of those to other hosts.
    public final int port() {
        return port;
    }

    @Override
    public int packetMax() {
        return packetMax;
    }

    /// Returns the largest path MTU that every address of this link can use: what a port reports as its active MTU.
    public final Mtu pathMtu() {
        return pathMtu;
    }

    /// Returns the size of the smallest receive buffer among the sockets, in bytes as the operating system counts
    /// them: this much may wait while no thread calls [#receive].
    public abstract long receiveBufferBytes();

    /// Returns the size of the smallest send buffer among the sockets, in bytes.
    public abstract long sendBufferBytes();

    @Override
    public final void join(Gid group) {
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("group: " + group + " is not a multicast address");
        }
        if (groups.contains(group)) {
            return;
        }
        if (groups.size() == GROUPS_MAX) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "multicast group " + group + ": this link is in " + GROUPS_MAX + " groups, and no more fit");
        }
        Collection<GidEntry> interfaces = interfacesFor(group);
        if (interfaces.isEmpty()) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED,
                    "multicast group " + group + ": none of this link's addresses is "
                            + (group.isIpv4() ? "an IPv4 one" : "an IPv6 one"));
        }
        for (GidEntry at : interfaces) {
            requireRoute(group, at);
        }
        listen(group, interfaces);
        groups.add(group);
        wakeup(); // a sleeping thread does not know the new sockets yet
    }

    @Override
    public final void leave(Gid group) {
        if (groups.remove(group)) {
            ignore(group);
            wakeup(); // a sleeping thread keeps the sockets open, and with them the membership
        }
    }

    /// Counts a frame that the network stack will never take.
    final void refuse(Frame frame) {
        frame.marks.unsendable = true;
        unsendable.incrementAndGet();
    }

    /// Opens a socket for the group at each of `interfaces`, or at none of them.
    ///
    /// @throws LinkException when one of the sockets cannot be had
    abstract void listen(Gid group, Collection<GidEntry> interfaces);

    /// Closes the group's sockets, which ends the membership.
    abstract void ignore(Gid group);

    // One own address of the group's family for each interface.
    private Collection<GidEntry> interfacesFor(Gid group) {
        var interfaces = new LinkedHashMap<Integer, GidEntry>();
        for (GidEntry entry : gids) {
            if (entry.gid().isIpv4() == group.isIpv4()) {
                interfaces.putIfAbsent(entry.interfaceIndex(), entry);
            }
        }
        return interfaces.values();
    }

    // Connecting a socket looks for a route. Without a route nothing can be sent to the group, and a member would
    // wait for ever. IPv6 on loopback is such a case: Linux makes no route for groups there by itself.
    private static void requireRoute(Gid group, GidEntry from) {
        var family = group.isIpv4() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
        try (DatagramChannel probe = DatagramChannel.open(family)) {
            NetworkInterface at = Interfaces.of(group, from);
            probe.setOption(StandardSocketOptions.IP_MULTICAST_IF, at);
            InetAddress own = Interfaces.scoped(from.gid(), from.interfaceIndex());
            boolean isStandIn = own.isLoopbackAddress() && from.gid().isIpv4(); // perhaps: all have the same routes
            probe.bind(new InetSocketAddress(isStandIn ? InetAddress.ofLiteral("127.0.0.1") : own, 0));
            try {
                probe.connect(new InetSocketAddress(Interfaces.scoped(group, from.interfaceIndex()), RoceV2.UDP_PORT));
            } catch (IOException e) {
                String route = at.isLoopback() ? "local ff00::/8" : "multicast ff00::/8 table local";
                throw LinkException.ofJoin(
                        LinkException.Kind.UNSUPPORTED,
                        group,
                        from,
                        "no route leads there from " + from.gid() + " (" + e.getMessage() + ")"
                                + (group.isIpv4()
                                        ? ""
                                        : "; as root: ip -6 route add " + route + " dev " + at.getName()),
                        e);
            }
        } catch (IOException e) {
            throw LinkException.ofJoin(LinkException.Kind.FAILED, group, from, String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public final long malformed() {
        return malformed.get();
    }

    @Override
    public final long unsendable() {
        return unsendable.get();
    }
}
