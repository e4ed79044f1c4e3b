package verbena.nic.link;

import static verbena.foreign.linux.LinuxAbi.IPPROTO_IP;
import static verbena.foreign.linux.LinuxAbi.IPPROTO_IPV6;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
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
    private final UdpSeal seal;
    private final UdpSocket[] sockets;
    private final Consumer<Frame> refused;
    /// The number of packets in each message of `outgoing`.
    private final int[] packetsOf = new int[MessageBlock.COUNT];
    /// Whether messages of several packets can be sent at all.
    private boolean segmenting;
    /// Packets that the system did not take together.
    private int together;
    /// Packets that have to leave one by one for that reason.
    private int oneByOne;
    /// Whether the socket has no room.
    private boolean full;

    /// @param outgoing free whenever no call of this object is under way
    /// @param sockets the sockets of the own addresses, by which packets leave
    /// @param segmenting whether all of them can send messages of several packets
    /// @param refused called with frames that the network stack will never take
    UdpOutbox(
            LinuxSockets linux,
            MessageBlock outgoing,
            UdpSeal seal,
            UdpSocket[] sockets,
            boolean segmenting,
            Consumer<Frame> refused) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.seal = seal;
        this.sockets = sockets;
        this.segmenting = segmenting;
        this.refused = refused;
    }

    /// Sends as [Link#transmit] says.
    int transmit(Frame[] frames, int from, int count) {
        int done = 0;
        full = false;
        while (done < count && !full) {
            UdpSocket socket = socketOf(frames[from + done]);
            if (socket == null) {
                refused.accept(frames[from + done]);
                done++;
                continue;
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
            if (socket.sends(frame)) {
                return socket;
            }
        }
        return null;
    }

    /// Prepares as many successive frames as leave by this socket, sealed, at most a block; returns the number of
    /// messages.
    private int prepareRun(UdpSocket socket, Frame[] frames, int from, int count) {
        int most = Math.min(count, MessageBlock.COUNT);
        int messages = 0;
        int run = 0;
        do {
            Frame first = frames[from + run];
            seal.seal(first, 0);
            outgoing.prepareSend(messages, run, first, seal.sourcePort(), socket.scopeId);
            addControls(socket, messages, first);
            int segments = 1;
            int bytes = first.length;
            int limit = Math.min(most - run, segmentsMax(first, run));
            while (segments < limit) {
                Frame next = frames[from + run + segments];
                if (!travelsWith(first, next) || bytes + next.length > MESSAGE_MAX) {
                    break;
                }
                seal.seal(next, segments);
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
        } while (run < most && socket.sends(frames[from + run]));
        assert run <= most && messages <= run;
        return messages;
    }

    private int segmentsMax(Frame first, int position) {
        return !segmenting || position < oneByOne || RoceV2.isMulticast(first.destinationHigh, first.destinationLow)
                ? 1
                : SEGMENTS_MAX;
    }

    /// Whether a packet goes to the same host, in the same way, and to the same slot there: steering looks at the
    /// first one only.
    private static boolean travelsWith(Frame first, Frame next) {
        return next.length <= first.length
                && next.destinationLow == first.destinationLow
                && next.destinationHigh == first.destinationHigh
                && next.sourceLow == first.sourceLow
                && next.sourceHigh == first.sourceHigh
                && next.trafficClass == first.trafficClass
                && next.hopLimit == first.hopLimit
                && Bth.destinationQp(next.slot, next.start) >>> 16 == Bth.destinationQp(first.slot, first.start) >>> 16;
    }

    /// As [Link#keepsTogether]: one message of the operating system, to this host, which nothing on the way cuts.
    boolean keepsTogether(Frame first, Frame next) {
        return segmenting && oneByOne == 0 && isForThisHost(first) && travelsWith(first, next);
    }

    private static boolean isForThisHost(Frame frame) {
        boolean own = frame.destinationLow == frame.sourceLow && frame.destinationHigh == frame.sourceHigh;
        return own
                || (RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow)
                        && (frame.destinationLow >>> 24 & 0xFF) == IPV4_LOOPBACK);
    }

    private void addControls(UdpSocket socket, int i, Frame frame) {
        if (frame.trafficClass != 0) {
            if (socket.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TOS, frame.trafficClass);
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_TCLASS, frame.trafficClass);
            }
        }
        boolean multicast = RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow);
        if (frame.hopLimit != 0
                && frame.hopLimit != (multicast ? UdpLink.MULTICAST_HOPS_DEFAULT : UdpSockets.HOP_LIMIT_DEFAULT)) {
            if (socket.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TTL, frame.hopLimit);
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_HOPLIMIT, frame.hopLimit);
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
                for (int i = 0; i < result; i++) {
                    packets += packetsOf[sent++];
                }
                continue;
            }
            switch (-result) {
                // ECONNREFUSED: a late error of an earlier packet, cleared by this report.
                case LinuxAbi.EINTR, LinuxAbi.ECONNREFUSED -> {}
                case LinuxAbi.EAGAIN, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> {
                    socket.full = true;
                    full = true;
                    return packets;
                }
                // EMSGSIZE, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EPERM (a firewall), EACCES (a broadcast), EINVAL, …
                default -> {
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
                }
            }
        }
        return packets;
    }
}
