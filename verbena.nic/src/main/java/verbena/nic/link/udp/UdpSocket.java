package verbena.nic.link.udp;

import static verbena.foreign.linux.LinuxAbi.IPPROTO_IP;
import static verbena.foreign.linux.LinuxAbi.IPPROTO_IPV6;

import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.PlainSeal;
import verbena.nic.link.Seal;
import verbena.nic.link.UdpSeal;
import verbena.nic.link.sharing.SharedAddress;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A UDP socket and the address or multicast group that it is bound to. Belongs to the engine's owner, except for
/// volatile fields.
final class UdpSocket {
    /// The hop limit of a frame that has none of its own (RFC 1700; rdma_cm uses the same).
    static final int HOP_LIMIT_DEFAULT = 64;
    /// The number of runs in a row that have to ask for the same, before the socket is set to it.
    private static final int RUNS_UNTIL_SET = 16;

    final int fd;
    final long gidHigh;
    final long gidLow;
    final boolean ipv4;
    final int scopeId;
    /// The UDP port that it is bound to, and its packets leave from.
    final int port;
    /// The seal of the packets that leave by it.
    final Seal seal;
    /// The sharing of its address; null when it is not shared, or when the address is a group's.
    final @Nullable SharedAddress sharing;
    /// The sockets by which packets from this address to this host leave; null when they leave by this socket.
    @Nullable
    NearSockets near;
    /// Among which sockets it is such a one; null for all others.
    @Nullable
    NearSockets among;
    /// Whether its send buffer was full: a sleeping thread waits for room as well.
    volatile boolean full;

    /// Whether it is connected; the fields below then have the address of the peer.
    private boolean connected;
    private long peerHigh;
    private long peerLow;

    /// The probe for identifications. Null when the system gives each message 0, because the socket is not
    /// connected, or none, because it is of IPv6.
    private @Nullable IdentificationProbe probe;
    /// The identification of the next message, of which the low 16 bits count.
    private int identification = IdentificationProbe.UNKNOWN;

    // What the system puts into the headers of messages that do not say something else.
    private int hopLimit = HOP_LIMIT_DEFAULT;
    private int trafficClass;
    // What runs have asked for lately, and how many did so in a row.
    private int lastHopLimit = HOP_LIMIT_DEFAULT;
    private int lastTrafficClass;
    private int inARow;

    UdpSocket(int fd, int port, Gid gid, int scopeId, @Nullable SharedAddress sharing, boolean isWrapped) {
        this.sharing = sharing;
        this.fd = fd;
        this.port = port;
        seal = isWrapped ? new PlainSeal(new UdpSeal(port)) : new UdpSeal(port);
        gidHigh = gid.high();
        gidLow = gid.low();
        ipv4 = gid.isIpv4();
        this.scopeId = scopeId;
    }

    /// Notes the address that it is connected to.
    ///
    /// @param learning null for IPv6
    /// @return whether its identifications are known
    boolean connectedTo(Frame frame, @Nullable IdentificationProbe learning) {
        connected = true;
        peerHigh = frame.destinationHigh;
        peerLow = frame.destinationLow;
        probe = learning;
        return learning == null || learn(learning);
    }

    private boolean learn(IdentificationProbe learning) {
        identification = learning.next(fd);
        return identification != IdentificationProbe.UNKNOWN;
    }

    Gid gid() {
        return new Gid(gidHigh, gidLow);
    }

    boolean isBoundTo(Gid gid) {
        return gidLow == gid.low() && gidHigh == gid.high();
    }

    /// Closes it and the sockets near it.
    void close() {
        LinuxSockets.close(fd);
        if (near != null) {
            near.close();
        }
    }

    /// Returns whether this frame has to leave from the address of this socket.
    boolean sends(Frame frame) {
        return frame.sourceLow == gidLow && frame.sourceHigh == gidHigh && UdpSeal.isSameFamily(frame);
    }

    /// Returns whether this frame goes where the socket is connected to.
    boolean isConnectedTo(Frame frame) {
        return connected && frame.destinationLow == peerLow && frame.destinationHigh == peerHigh;
    }

    // --- identifications

    /// Returns the IPv4 identification of the message after the next `messages`. Where the system no longer shows
    /// it, it is wrong, and no receiver on this host can see that.
    int identificationAfter(int messages) {
        return probe == null || (identification == IdentificationProbe.UNKNOWN && !learn(probe))
                ? 0
                : (identification + messages) & 0xFFFF;
    }

    /// Counts messages that the system has taken.
    void sent(int messages) {
        if (identification != IdentificationProbe.UNKNOWN) {
            identification = (identification + messages) & 0xFFFF;
        }
    }

    /// Notes that the system has refused a message; returns whether the messages behind it have to be sealed again.
    /// The system may have counted it or not.
    boolean refused() {
        identification = IdentificationProbe.UNKNOWN;
        return probe != null;
    }

    // --- hop limit and traffic class

    static int hopLimit(Frame frame) {
        return frame.hopLimit == 0 ? HOP_LIMIT_DEFAULT : frame.hopLimit;
    }

    /// Returns whether the system puts this hop limit into a unicast by itself.
    boolean isHopLimit(int value) {
        return value == hopLimit;
    }

    /// Returns whether the system puts this traffic class into a packet by itself.
    boolean isTrafficClass(int value) {
        return value == trafficClass;
    }

    /// Sets the socket to what its packets ask for, once many runs have asked for the same: a control message with
    /// each of them costs more, and takes a connected socket the long way.
    ///
    /// @param first the first packet of a run, not a multicast
    void settle(LinuxSockets linux, Frame first) {
        int askedHopLimit = hopLimit(first);
        if (askedHopLimit == hopLimit && first.trafficClass == trafficClass) {
            inARow = 0;
        } else if (askedHopLimit != lastHopLimit || first.trafficClass != lastTrafficClass) {
            lastHopLimit = askedHopLimit;
            lastTrafficClass = first.trafficClass;
            inARow = 1;
        } else if (++inARow == RUNS_UNTIL_SET) {
            set(linux);
            inARow = 0;
        }
    }

    private void set(LinuxSockets linux) {
        int level = ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
        if (linux.setOption(fd, level, ipv4 ? LinuxAbi.IP_TTL : LinuxAbi.IPV6_UNICAST_HOPS, lastHopLimit) >= 0) {
            hopLimit = lastHopLimit;
        }
        if (linux.setOption(fd, level, ipv4 ? LinuxAbi.IP_TOS : LinuxAbi.IPV6_TCLASS, lastTrafficClass) >= 0) {
            trafficClass = lastTrafficClass;
        }
    }
}
