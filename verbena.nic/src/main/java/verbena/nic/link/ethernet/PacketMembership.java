package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.PacketMreq;
import verbena.foreign.linux.LinuxSockets;

/// The groups that an interface receives frames for: a packet socket's memberships (packet(7)), which end with the
/// socket.
///
/// @param fd of the packet socket
record PacketMembership(LinuxSockets linux, int fd, int interfaceIndex) {
    private static final int MAC_BYTES = 6;

    /// Joins a group; returns the negative error when it fails.
    int join(long mac) {
        return change(LinuxAbi.PACKET_ADD_MEMBERSHIP, mac);
    }

    /// Leaves a group; it fails only when the interface has gone.
    void leave(long mac) {
        int _ = change(LinuxAbi.PACKET_DROP_MEMBERSHIP, mac);
    }

    private int change(int option, long mac) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment request = call.allocate(PacketMreq.BYTES, 4);
            request.set(JAVA_INT, PacketMreq.MR_IFINDEX, interfaceIndex);
            request.set(JAVA_SHORT, PacketMreq.MR_TYPE, (short) LinuxAbi.PACKET_MR_MULTICAST);
            request.set(JAVA_SHORT, PacketMreq.MR_ALEN, (short) MAC_BYTES);
            for (int i = 0; i < MAC_BYTES; i++) {
                request.set(JAVA_BYTE, PacketMreq.MR_ADDRESS + (long) i, (byte) (mac >>> (40 - 8 * i)));
            }
            return linux.setOption(fd, LinuxAbi.SOL_PACKET, option, request);
        }
    }
}
