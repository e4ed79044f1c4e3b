package verbena.nic.link;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// RoCE v2 through UDP sockets: what both kinds have in common.
///
/// There is one socket per address, bound to it and never connected, with "don't fragment" set. On such a socket Linux
/// sends IPv4 identification 0, which the ICRC covers and a socket cannot choose. The source port of what is sent is
/// the
/// link's own port, whatever [Frame#sourcePort] says on the way in; the link writes it there. Every arriving frame's
/// destination is the address of the socket it came through.
///
/// Safe for one thread at a time, except [#wakeup()], [#close()] and the counters, which any thread may call. After
/// [#close()] nothing is received or taken and [#await(long)] returns at once.
public abstract sealed class UdpLink implements Link permits LinuxUdpLink, DatagramChannelLink {
    /// Bytes of the smallest packet: BTH and ICRC.
    static final int PACKET_MIN = Bth.BYTES + 4;

    private final List<GidEntry> gids;
    private final int port;
    private final int packetMax;
    private final Mtu pathMtu;

    final RoceV2 roce = new RoceV2();
    final WakeSignal signal = new WakeSignal();
    // Written by the engine on paths that are rare; read by anybody.
    final AtomicLong malformed = new AtomicLong();
    final AtomicLong unsendable = new AtomicLong();

    UdpLink(List<GidEntry> addresses, int port) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("addresses: at least one");
        }
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 1 to 65535, got " + port);
        }
        this.gids = List.copyOf(addresses);
        this.port = port;
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
    }

    private static int interfaceMtu(GidEntry entry) {
        try {
            NetworkInterface at = NetworkInterface.getByInetAddress(entry.gid().address());
            if (at == null && entry.interfaceIndex() > 0) {
                // 127.0.0.0/8 is all local, but only 127.0.0.1 is listed.
                at = NetworkInterface.getByIndex(entry.interfaceIndex());
            }
            if (at == null) {
                at = NetworkInterface.getByName(entry.networkInterface());
            }
            return at == null ? PathMtu.UNKNOWN_INTERFACE : at.getMTU();
        } catch (SocketException e) {
            // The interface has gone this moment: binding will tell.
            return PathMtu.UNKNOWN_INTERFACE;
        }
    }

    @Override
    public final List<GidEntry> gids() {
        return gids;
    }

    /// The UDP port, source and destination of everything.
    public final int port() {
        return port;
    }

    @Override
    public int packetMax() {
        return packetMax;
    }

    /// The largest path MTU that every address of this link can use: what a port reports as its active MTU.
    public final Mtu pathMtu() {
        return pathMtu;
    }

    /// Bytes of the smallest receive buffer among the sockets, as the operating system accounts them: what may wait
    /// while nobody calls [#receive].
    public abstract long receiveBufferBytes();

    /// Bytes of the smallest send buffer among the sockets.
    public abstract long sendBufferBytes();

    @Override
    public void join(Gid group) {
        throw new LinkException(LinkException.Kind.UNSUPPORTED, "multicast " + group + ": not on UDP links");
    }

    @Override
    public void leave(Gid group) {
        // Never a member.
    }

    @Override
    public final long malformed() {
        return malformed.get();
    }

    @Override
    public final long unsendable() {
        return unsendable.get();
    }

    // A frame can leave by a socket of its own family only: the ICRC is laid out by the destination's.
    static boolean isSameFamily(Frame frame) {
        return RoceV2.isIpv4(frame.sourceHigh, frame.sourceLow)
                == RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow);
    }
}
