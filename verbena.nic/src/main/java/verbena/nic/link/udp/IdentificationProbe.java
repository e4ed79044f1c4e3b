package verbena.nic.link.udp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Mmsghdr;
import verbena.foreign.linux.LinuxAbi.SockaddrIn;
import verbena.foreign.linux.LinuxSockets;
import verbena.wire.BigEndian;

/// A probe for the IPv4 identification that the next message of a connected UDP socket will have. Linux counts up
/// from a random one, by one for each message, and no call returns the count. But Linux gives a packet back with all
/// its headers to a sender that asks when the packet left (SO_TIMESTAMPING, since Linux 3.17), and that takes no
/// privilege. So an empty datagram shows the last identification.
///
/// For one thread at a time.
final class IdentificationProbe {
    /// The result of [#next] where the system does not show it.
    static final int UNKNOWN = -1;

    /// Room for an Ethernet, an IPv4 and a UDP header, and a few bytes more.
    private static final int PACKET_ROOM = 64;
    /// An empty datagram ends with its IPv4 and UDP headers.
    private static final int HEADERS = 20 + 8;
    /// The place of the identification in the IPv4 header (RFC 791, 3.1).
    private static final int IDENTIFICATION = 4;
    /// The number of attempts: a late error of an earlier packet makes the first attempt fail.
    private static final int ATTEMPTS = 3;

    private final LinuxSockets linux;
    private final MemorySegment header;
    private final MemorySegment vector;
    private final MemorySegment sink;
    private final MemorySegment packet;

    /// @param sink the socket address that the empty datagrams go to
    IdentificationProbe(LinuxSockets linux, Arena arena, MemorySegment sink) {
        this.linux = linux;
        header = arena.allocate(Mmsghdr.BYTES, 8);
        vector = arena.allocate(Iovec.BYTES, 8);
        packet = arena.allocate(PACKET_ROOM, 8);
        this.sink = arena.allocate(SockaddrIn.BYTES, 8).copyFrom(sink);
        header.set(JAVA_LONG, Mmsghdr.MSG_IOV, vector.address());
        header.set(JAVA_LONG, Mmsghdr.MSG_IOVLEN, 1);
        vector.set(JAVA_LONG, Iovec.IOV_BASE, packet.address());
    }

    /// Returns the identification of the next message of this socket, or [#UNKNOWN].
    int next(int fd) {
        int last = UNKNOWN;
        if (stamp(fd, LinuxAbi.SOF_TIMESTAMPING_TX_SCHED)) {
            for (int i = 0; i < ATTEMPTS && last == UNKNOWN; i++) {
                if (sendNothing(fd)) {
                    last = lastReturned(fd);
                }
            }
            boolean _ = stamp(fd, 0);
        }
        return last == UNKNOWN ? UNKNOWN : (last + 1) & 0xFFFF;
    }

    private boolean stamp(int fd, int flags) {
        return linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_TIMESTAMPING, flags) >= 0;
    }

    private boolean sendNothing(int fd) {
        header.set(JAVA_LONG, Mmsghdr.MSG_NAME, sink.address());
        header.set(JAVA_INT, Mmsghdr.MSG_NAMELEN, SockaddrIn.BYTES);
        vector.set(JAVA_LONG, Iovec.IOV_LEN, 0);
        return linux.sendMessages(fd, header, 1) == 1;
    }

    /// Takes all that was given back; the identification of the last packet, which was just sent.
    private int lastReturned(int fd) {
        header.set(JAVA_LONG, Mmsghdr.MSG_NAME, 0);
        header.set(JAVA_INT, Mmsghdr.MSG_NAMELEN, 0);
        vector.set(JAVA_LONG, Iovec.IOV_LEN, PACKET_ROOM);
        int last = UNKNOWN;
        while (LinuxSockets.receiveReturned(fd, header, 1) == 1) {
            int length = header.get(JAVA_INT, Mmsghdr.MSG_LEN);
            if (length >= HEADERS && length <= PACKET_ROOM) {
                last = BigEndian.u16(packet, length - HEADERS + IDENTIFICATION);
            }
        }
        return last;
    }
}
