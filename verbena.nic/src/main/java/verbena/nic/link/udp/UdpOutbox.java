package verbena.nic.link.udp;

import static verbena.foreign.linux.LinuxAbi.IPPROTO_IP;
import static verbena.foreign.linux.LinuxAbi.IPPROTO_IPV6;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Link;
import verbena.nic.link.MessageBlock;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// The frames that leave a [LinuxUdpLink]. It puts as many packets into a message as can travel together, and hands
/// the messages to the system. For one thread at a time.
final class UdpOutbox {
    /// The most packets in one message: every Linux takes this many (UDP_MAX_SEGMENTS).
    private static final int SEGMENTS_MAX = 64;
    /// The most bytes of one message: as many as an IPv4 datagram can carry.
    private static final int MESSAGE_MAX = 65_507;
    /// The first byte of loopback addresses (RFC 1122, 3.2.1.3).
    private static final int IPV4_LOOPBACK = 127;

    private final LinuxSockets linux;
    private final MessageBlock outgoing;
    private final UdpSocket[] sockets;
    private final int port;
    private final Consumer<Frame> refused;
    /// The number of packets in each message of `outgoing`.
    private final int[] packetsOf = new int[MessageBlock.COUNT];
    /// Whether messages of several packets can be sent at all.
    private boolean segmenting;
    /// The number of packets that the system did not take together.
    private int together;
    /// The number of packets that have to leave one by one for that reason.
    private int oneByOne;
    /// Whether the socket has no room.
    private boolean full;

    /// @param outgoing free whenever no call of this object is under way
    /// @param sockets the sockets of the own addresses; packets leave by them, and by those near them
    /// @param port where packets go to that have no second port
    /// @param segmenting whether all of them can send messages of several packets
    /// @param refused called with frames that the network stack will never take
    UdpOutbox(
            LinuxSockets linux,
            MessageBlock outgoing,
            UdpSocket[] sockets,
            int port,
            boolean segmenting,
            Consumer<Frame> refused) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.sockets = sockets;
        this.port = port;
        this.segmenting = segmenting;
        this.refused = refused;
    }

    /// Implements [Link#transmit].
    int transmit(Frame[] frames, int from, int count) {
        int done = 0;
        full = false;
        while (done < count && !full) {
            Frame first = frames[from + done];
            UdpSocket socket = socketOf(first);
            if (socket == null) {
                refused.accept(first);
                done++;
                continue;
            }
            if (socket.among != null) {
                socket.among.begin(socket, first);
            }
            if (!isMulticast(first)) {
                socket.settle(linux, first);
            }
            int messages = prepareRun(socket, frames, from + done, count - done);
            int sent = sendRun(socket, messages, frames, from + done);
            done += sent;
            oneByOne = together > 0 ? together : Math.max(0, oneByOne - sent);
            together = 0;
        }
        return done;
    }

    private @Nullable UdpSocket socketOf(Frame frame) {
        for (UdpSocket socket : sockets) {
            if (socket.sends(frame) && socket.port == portOf(frame)) {
                return socket.near != null && isForThisHost(frame) ? socket.near.of(frame) : socket;
            }
        }
        return null;
    }

    private int portOf(Frame frame) {
        return frame.secondPort == 0 ? port : frame.secondPort;
    }

    /// Prepares as many successive frames as leave by this socket, sealed, at most a block; returns the number of
    /// messages.
    private int prepareRun(UdpSocket socket, Frame[] frames, int from, int count) {
        int most = Math.min(count, MessageBlock.COUNT);
        int messages = 0;
        int run = 0;
        do {
            Frame first = frames[from + run];
            int identification = socket.identificationAfter(messages);
            socket.seal.seal(first, identification);
            outgoing.prepareSend(messages, run, first);
            if (!socket.isConnectedTo(first)) {
                outgoing.address(messages, first, portOf(first), socket.scopeId);
            }
            addControls(socket, messages, first);
            int segments = 1;
            int bytes = first.length;
            int limit = Math.min(most - run, segmentsMax(first, run));
            while (segments < limit) {
                Frame next = frames[from + run + segments];
                if (!travelsWith(first, next) || bytes + next.length > MESSAGE_MAX) {
                    break;
                }
                socket.seal.seal(next, identification + segments);
                outgoing.addSegment(messages, run + segments, next);
                segments++;
                bytes += next.length;
                if (next.length < first.length) {
                    break; // only the last packet may be shorter
                }
            }
            if (segments > 1) {
                outgoing.cutIntoSegments(messages, first.length);
            }
            packetsOf[messages++] = segments;
            run += segments;
        } while (run < most && socketOf(frames[from + run]) == socket);
        assert run <= most && messages <= run;
        return messages;
    }

    private int segmentsMax(Frame first, int position) {
        return !segmenting || position < oneByOne || isMulticast(first) ? 1 : SEGMENTS_MAX;
    }

    private static boolean isMulticast(Frame frame) {
        return RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow);
    }

    /// Returns whether a packet goes to the same host, in the same way, and to the same slot there: steering looks
    /// at the first one only.
    private static boolean travelsWith(Frame first, Frame next) {
        return next.length <= first.length
                && next.destinationLow == first.destinationLow
                && next.destinationHigh == first.destinationHigh
                && next.sourceLow == first.sourceLow
                && next.sourceHigh == first.sourceHigh
                && next.secondPort == first.secondPort
                && next.trafficClass == first.trafficClass
                && next.hopLimit == first.hopLimit
                && Bth.destinationQp(next.slot, next.start) >>> 16 == Bth.destinationQp(first.slot, first.start) >>> 16;
    }

    /// Implements [verbena.nic.link.PacketPairs#keepsTogether]: both are one message of the operating system to
    /// this host, and nothing on the path divides it.
    boolean keepsTogether(Frame first, Frame next) {
        return segmenting && oneByOne == 0 && isForThisHost(first) && travelsWith(first, next);
    }

    private static boolean isForThisHost(Frame frame) {
        return isForThisHost(frame.sourceHigh, frame.sourceLow, frame.destinationHigh, frame.destinationLow);
    }

    private static boolean isForThisHost(long fromHigh, long fromLow, long toHigh, long toLow) {
        boolean own = toLow == fromLow && toHigh == fromHigh;
        return own || (RoceV2.isIpv4(toHigh, toLow) && (toLow >>> 24 & 0xFF) == IPV4_LOOPBACK);
    }

    /// Returns the UDP port that all packets between these addresses leave from; 0 when there is no such socket.
    /// Any thread.
    int sourcePort(Gid from, Gid to) {
        for (UdpSocket socket : sockets) {
            if (socket.isBoundTo(from)) {
                boolean isNear = isForThisHost(from.high(), from.low(), to.high(), to.low());
                NearSockets near = isNear ? socket.near : null;
                return near == null ? socket.port : near.port();
            }
        }
        return 0;
    }

    private void addControls(UdpSocket socket, int i, Frame frame) {
        if (!socket.isTrafficClass(frame.trafficClass)) {
            if (socket.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TOS, frame.trafficClass);
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_TCLASS, frame.trafficClass);
            }
        }
        boolean isUsual = isMulticast(frame)
                ? frame.hopLimit == 0 || frame.hopLimit == Link.MULTICAST_HOPS_DEFAULT
                : socket.isHopLimit(UdpSocket.hopLimit(frame));
        if (!isUsual) {
            if (socket.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TTL, UdpSocket.hopLimit(frame));
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_HOPLIMIT, UdpSocket.hopLimit(frame));
            }
        }
    }

    /// Sends the prepared messages; returns how many of their packets were taken. That is fewer than all when there
    /// is no room, or when a message has to be prepared again.
    private int sendRun(UdpSocket socket, int messages, Frame[] frames, int from) {
        int sent = 0;
        int packets = 0;
        while (sent < messages) {
            int result = linux.sendMessages(socket.fd, outgoing.headersFrom(sent), messages - sent);
            if (result >= 0) {
                socket.sent(result);
                for (int i = 0; i < result; i++) {
                    packets += packetsOf[sent++];
                }
                continue;
            }
            switch (-result) {
                // ECONNREFUSED: a late error of an earlier packet, cleared by this report.
                case LinuxAbi.EINTR, LinuxAbi.ECONNREFUSED -> {}
                case LinuxAbi.EAGAIN, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> {
                    if (-result != LinuxAbi.EAGAIN) { // then the message has got no identification
                        boolean _ = socket.refused();
                    }
                    socket.full = true;
                    full = true;
                    return packets;
                }
                // EMSGSIZE, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EPERM (a firewall), EACCES (a broadcast), EINVAL, …
                default -> {
                    boolean again = socket.refused();
                    if (packetsOf[sent] > 1) {
                        // EIO: this device cannot cut messages (no checksum offload). EINVAL, EMSGSIZE: a packet is
                        // too long for the path, or for being cut. Sent one by one, each packet gets its own result.
                        segmenting &= -result != LinuxAbi.EIO;
                        together = packetsOf[sent];
                        return packets;
                    }
                    refused.accept(frames[from + packets]);
                    packets++;
                    sent++;
                    if (again) {
                        return packets;
                    }
                }
            }
        }
        return packets;
    }
}
