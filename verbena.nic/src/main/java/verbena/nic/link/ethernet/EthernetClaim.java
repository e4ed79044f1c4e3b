package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.GroupReq;
import verbena.foreign.linux.LinuxAbi.SockaddrIn6;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.SocketFailure;
import verbena.nic.link.sharing.PeerSockets;
import verbena.nic.link.sharing.Steering;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// The claim that keeps an [EthernetLink] alone while it is in use: the packets that a wire brings are not divided
/// between processes. Any thread.
///
/// On RoCE v1 it is a name for each interface, which the kernel removes when the process ends. On RoCE v2 it is
/// UDP port 4791 of each address, and a second port where that is free, at sockets that receive nothing. Without
/// these sockets the kernel would answer each packet with a complaint (ICMP), and would not tell switches of the
/// groups that this link has joined.
final class EthernetClaim implements AutoCloseable {
    private record Port(int fd, GidEntry at) {}

    private final Arena arena = Arena.ofShared();
    /// The system calls, under this object's lock: errors come back through memory that belongs to one thread.
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final List<Integer> numbers;
    private final List<GidEntry> gids;
    private final List<Port> ports = new ArrayList<>();
    private int name = -1;
    private boolean isTaken;
    private boolean isClosed;

    /// A claim that is not made yet.
    ///
    /// @param ports of UDP, the first of which no other may have; none for RoCE v1
    EthernetClaim(List<Integer> ports, List<GidEntry> gids) {
        this.numbers = ports;
        this.gids = gids;
    }

    /// Makes the claim; true when it was not made before. Does nothing after [#close()].
    ///
    /// @throws LinkException when another has it
    synchronized boolean take() {
        if (isTaken || isClosed) {
            return false;
        }
        try {
            if (numbers.isEmpty()) {
                takeName(gids.getFirst());
            } else {
                gids.forEach(at -> numbers.forEach(port -> takePort(at, port)));
            }
            isTaken = true;
        } finally {
            if (!isTaken) {
                giveBack();
            }
        }
        return true;
    }

    private void takeName(GidEntry at) {
        name = linux.localSocket();
        int result = name < 0 ? name : linux.bind(name, PeerSockets.address("verbena/rocev1/" + at.interfaceIndex()));
        if (result < 0) {
            boolean isInUse = result == -LinuxAbi.EADDRINUSE;
            throw new LinkException(
                    isInUse ? LinkException.Kind.PORT_IN_USE : LinkException.Kind.FAILED,
                    isInUse
                            ? "RoCE v1 on " + at.networkInterface()
                                    + " is in use: one device at a time has queue pairs at an interface."
                            : "RoCE v1 on " + at.networkInterface() + ": " + LinuxSockets.message(-result));
        }
    }

    private void takePort(GidEntry at, int port) {
        try (Arena call = Arena.ofConfined()) {
            Gid gid = at.gid();
            int fd = linux.socket(gid.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
            int result = fd;
            if (fd >= 0) {
                ports.add(new Port(fd, at));
                result = linux.setOption(
                        fd,
                        LinuxAbi.SOL_SOCKET,
                        LinuxAbi.SO_ATTACH_FILTER,
                        Steering.layOut(EthernetFilter.NOTHING, call));
            }
            if (result >= 0) {
                MemorySegment address = call.allocate(SockaddrIn6.BYTES, 8);
                int scope = gid.isLinkLocal() ? at.interfaceIndex() : 0;
                int bytes = MessageBlock.putAddress(address, 0, gid.high(), gid.low(), port, scope);
                result = linux.bind(fd, address.asSlice(0, bytes));
            }
            if (result < 0 && port == numbers.getFirst()) {
                throw LinkException.ofBind(
                        SocketFailure.kindOf(-result), gid.toString(), port, LinuxSockets.message(-result), null);
            }
        }
    }

    /// Joins a group where IP announces members to the network.
    ///
    /// @throws LinkException when the system does not permit it
    synchronized void join(Gid group) {
        Port port = portFor(group);
        if (port == null) {
            return;
        }
        int result = membership(port, group, LinuxAbi.MCAST_JOIN_GROUP);
        if (result < 0) {
            throw LinkException.ofJoin(
                    SocketFailure.kindOf(-result), group, port.at, LinuxSockets.message(-result), null);
        }
    }

    /// Leaves a group.
    synchronized void leave(Gid group) {
        Port port = portFor(group);
        if (port != null) {
            int _ = membership(port, group, LinuxAbi.MCAST_LEAVE_GROUP);
        }
    }

    private @Nullable Port portFor(Gid group) {
        return ports.stream()
                .filter(port -> port.at.gid().isIpv4() == group.isIpv4())
                .findFirst()
                .orElse(null);
    }

    private int membership(Port port, Gid group, int option) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment request = call.allocate(GroupReq.BYTES, 8);
            request.set(JAVA_INT, GroupReq.GR_INTERFACE, port.at.interfaceIndex());
            MessageBlock.putAddress(request, GroupReq.GR_GROUP, group.high(), group.low(), 0, 0);
            int level = group.isIpv4() ? LinuxAbi.IPPROTO_IP : LinuxAbi.IPPROTO_IPV6;
            return linux.setOption(port.fd, level, option, request);
        }
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            giveBack();
            arena.close();
        }
    }

    /// Ends the claim; it may be made again.
    synchronized void giveBack() {
        isTaken = false;
        ports.forEach(port -> LinuxSockets.close(port.fd));
        ports.clear();
        if (name >= 0) {
            LinuxSockets.close(name);
            name = -1;
        }
    }
}
