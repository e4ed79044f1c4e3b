package verbena.nic.link.udp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static verbena.foreign.linux.LinuxAbi.IPPROTO_IP;
import static verbena.foreign.linux.LinuxAbi.IPPROTO_IPV6;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.GroupReq;
import verbena.foreign.linux.LinuxAbi.SockaddrIn;
import verbena.foreign.linux.LinuxAbi.SockaddrIn6;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.SocketFailure;
import verbena.nic.link.sharing.SharedAddress;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// The factory of the sockets of a link, with all options that RoCE v2 needs.
final class UdpSockets {
    /// The number of ports to try for the sockets of packets to this host: another program may have one of them.
    private static final int NEAR_PORT_ATTEMPTS = 8;
    /// The least that the system makes of it is little, and nothing has to be received.
    private static final int NO_RECEIVE_BUFFER = 1;
    private static final int NONE = -1;

    private final LinuxSockets linux;
    private final Arena arena;
    private final int port;
    private final UdpOptions options;
    private boolean segmenting = true;

    /// @param port the port of all sockets
    UdpSockets(LinuxSockets linux, Arena arena, int port, UdpOptions options) {
        this.linux = linux;
        this.arena = arena;
        this.port = port;
        this.options = options;
    }

    /// Returns whether all sockets that were opened can send messages of several packets (UDP_SEGMENT).
    boolean canSegment() {
        return segmenting;
    }

    /// Opens a socket that is bound to an own address, for all packets from and to that address.
    ///
    /// @throws LinkException when the address cannot be had
    UdpSocket openOwn(GidEntry entry, @Nullable SharedAddress sharing) {
        Gid gid = entry.gid();
        int fd = openSocket(gid);
        try {
            prepareToSend(fd, gid);
            if (sharing != null) {
                require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1, "SO_REUSEPORT");
                sharing.onSocket(fd);
            }
            int scopeId = gid.isLinkLocal() ? entry.interfaceIndex() : 0;
            int bound = bind(fd, gid, port, scopeId);
            if (bound == -LinuxAbi.EADDRNOTAVAIL && !gid.isIpv4() && Interfaces.has(entry)) {
                // The kernel still asks the network whether another host has the address; nothing arrives there
                // until it knows.
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_FREEBIND, 1, "IPV6_FREEBIND");
                bound = bind(fd, gid, port, scopeId);
            }
            if (bound < 0) {
                throw bindFailed(entry, port, -bound);
            }
            sendMulticasts(fd, entry);
            if (sharing != null) {
                sharing.onBound();
            }
            return new UdpSocket(fd, port, gid, scopeId, sharing, options.wrapped());
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private void prepareToSend(int fd, Gid gid) {
        if (gid.isIpv4()) {
            // With this option, and unconnected, the kernel sends identification 0 and DF: the ICRC is sealed for
            // these.
            require(fd, IPPROTO_IP, LinuxAbi.IP_MTU_DISCOVER, LinuxAbi.IP_PMTUDISC_DO, "IP_MTU_DISCOVER");
            require(fd, IPPROTO_IP, LinuxAbi.IP_TTL, UdpSocket.HOP_LIMIT_DEFAULT, "IP_TTL");
        } else {
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MTU_DISCOVER, LinuxAbi.IPV6_PMTUDISC_DO, "IPV6_MTU_DISCOVER");
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_DONTFRAG, 1, "IPV6_DONTFRAG");
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_UNICAST_HOPS, UdpSocket.HOP_LIMIT_DEFAULT, "IPV6_UNICAST_HOPS");
        }
        askForBuffer(fd, LinuxAbi.SO_SNDBUFFORCE, LinuxAbi.SO_SNDBUF, options.sendBufferBytes());
    }

    /// Opens a socket beside each of these, for packets from its address to this host ([NearSockets]). All have one
    /// port, so that a queue pair that migrates from one own address to another goes on sending from its port. When
    /// that cannot be had, there are none.
    void openNear(UdpSocket[] own) {
        for (int i = 0; i < NEAR_PORT_ATTEMPTS && own[0].near == null; i++) {
            openNearAtOnePort(own);
        }
    }

    private void openNearAtOnePort(UdpSocket[] own) {
        int nearPort = 0; // the system chooses the first
        boolean all = false;
        try {
            for (UdpSocket socket : own) {
                socket.near = openNear(socket, nearPort);
                nearPort = socket.near.port();
            }
            all = true;
        } catch (LinkException _) {
            // the port is taken at another address, or the process has no descriptor left
        } finally {
            for (UdpSocket socket : own) {
                if (!all && socket.near != null) {
                    socket.near.close();
                    socket.near = null;
                }
            }
        }
    }

    private NearSockets openNear(UdpSocket own, int nearPort) {
        int fd = openToSend(own.gid());
        try {
            MemorySegment name = arena.allocate(SockaddrIn6.BYTES, 8);
            require("bind", bind(fd, own.gid(), nearPort, own.scopeId));
            // Now, and not before: otherwise the port that the system has chosen might be another program's.
            require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1, "SO_REUSEPORT");
            MemorySegment length = arena.allocate(JAVA_INT);
            length.set(JAVA_INT, 0, SockaddrIn6.BYTES);
            require("getsockname", linux.name(fd, name, length));
            var any = new UdpSocket(
                    fd, BigEndian.u16(name, SockaddrIn.SIN_PORT), own.gid(), own.scopeId, null, options.wrapped());
            var probe = own.ipv4 ? new IdentificationProbe(linux, arena, name.asSlice(0, SockaddrIn.BYTES)) : null;
            return new NearSockets(this, any, probe);
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    /// Opens a socket that has the address and the port of `any`, and is connected to the destination of a frame.
    ///
    /// @param probe tells its identifications; null for IPv6
    /// @return null where that cannot be had
    @Nullable
    UdpSocket openConnected(UdpSocket any, Frame to, @Nullable IdentificationProbe probe) {
        int fd = NONE;
        try (Arena call = Arena.ofConfined()) {
            fd = openToSend(any.gid());
            require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1, "SO_REUSEPORT");
            require("bind", bind(fd, any.gid(), any.port, any.scopeId));
            MemorySegment name = call.allocate(SockaddrIn6.BYTES, 8);
            int length = MessageBlock.putAddress(name, 0, to.destinationHigh, to.destinationLow, port, any.scopeId);
            require("connect", linux.connect(fd, name.asSlice(0, length)));
            var socket = new UdpSocket(fd, any.port, any.gid(), any.scopeId, null, options.wrapped());
            if (socket.connectedTo(to, probe)) {
                return socket;
            }
        } catch (LinkException _) {
            // no descriptor is left, or the system lacks something
        }
        if (fd != NONE) {
            LinuxSockets.close(fd);
        }
        return null;
    }

    /// Opens a socket that receives nothing.
    private int openToSend(Gid gid) {
        int fd = linux.socket(gid.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
        require("socket", fd);
        try {
            prepareToSend(fd, gid);
            require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_RCVBUF, NO_RECEIVE_BUFFER, "SO_RCVBUF");
            return fd;
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private static void require(String what, int result) {
        if (result < 0) {
            throw SocketFailure.of(what, -result);
        }
    }

    /// Makes multicasts leave by the interface of this address, and come back to members on this host.
    private void sendMulticasts(int fd, GidEntry entry) {
        Gid gid = entry.gid();
        if (gid.isIpv4()) {
            // An address in network order names its interface.
            int address = Integer.reverseBytes((int) gid.low());
            require(fd, IPPROTO_IP, LinuxAbi.IP_MULTICAST_IF, address, "IP_MULTICAST_IF");
            require(fd, IPPROTO_IP, LinuxAbi.IP_MULTICAST_LOOP, 1, "IP_MULTICAST_LOOP");
        } else {
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MULTICAST_IF, entry.interfaceIndex(), "IPV6_MULTICAST_IF");
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MULTICAST_LOOP, 1, "IPV6_MULTICAST_LOOP");
        }
    }

    /// Opens a socket that is bound to the group, so that it gets no other packets, and to the interface. Before
    /// Linux 5.7 only root may bind to an interface. Without that, packets of other interfaces arrive here too,
    /// when a program has joined the group there.
    ///
    /// @throws LinkException when the membership cannot be had
    UdpSocket openGroup(Gid group, GidEntry at) {
        int fd = openSocket(group);
        try (Arena call = Arena.ofConfined()) {
            require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEADDR, 1, "SO_REUSEADDR");
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_BINDTOIFINDEX, at.interfaceIndex());
            requireForGroup(bind(fd, group, port, at.interfaceIndex()), group, at);
            MemorySegment request = call.allocate(GroupReq.BYTES, 8);
            request.set(JAVA_INT, GroupReq.GR_INTERFACE, at.interfaceIndex());
            MessageBlock.putAddress(request, GroupReq.GR_GROUP, group.high(), group.low(), 0, 0);
            int level = group.isIpv4() ? IPPROTO_IP : IPPROTO_IPV6;
            requireForGroup(linux.setOption(fd, level, LinuxAbi.MCAST_JOIN_GROUP, request), group, at);
            return new UdpSocket(fd, port, group, 0, null, options.wrapped());
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private static void requireForGroup(int result, Gid group, GidEntry at) {
        if (result < 0) {
            throw LinkException.ofJoin(SocketFailure.kindOf(-result), group, at, LinuxSockets.message(-result), null);
        }
    }

    /// Opens a socket with the options that it needs to receive.
    private int openSocket(Gid gid) {
        int fd = linux.socket(gid.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
        if (fd < 0) {
            throw LinkException.ofBind(
                    SocketFailure.kindOf(-fd), gid.toString(), port, LinuxSockets.message(-fd), null);
        }
        try {
            if (gid.isIpv4()) {
                require(fd, IPPROTO_IP, LinuxAbi.IP_RECVTOS, 1, "IP_RECVTOS");
                require(fd, IPPROTO_IP, LinuxAbi.IP_RECVTTL, 1, "IP_RECVTTL");
            } else {
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_V6ONLY, 1, "IPV6_V6ONLY");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_RECVTCLASS, 1, "IPV6_RECVTCLASS");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_RECVHOPLIMIT, 1, "IPV6_RECVHOPLIMIT");
                // RoCE v2 leaves the UDP checksum 0 (IBTA A17); without this option, Linux drops such packets.
                require(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
            }
            // Linux before 5.0 has no UDP_GRO, and before 4.18 no UDP_SEGMENT.
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_GRO, 1);
            segmenting &= linux.option(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_SEGMENT) >= 0;
            askForBuffer(fd, LinuxAbi.SO_RCVBUFFORCE, LinuxAbi.SO_RCVBUF, options.receiveBufferBytes());
            return fd;
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private int bind(int fd, Gid gid, int to, int scopeId) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment name = call.allocate(SockaddrIn6.BYTES, 8);
            return linux.bind(
                    fd, name.asSlice(0, MessageBlock.putAddress(name, 0, gid.high(), gid.low(), to, scopeId)));
        }
    }

    private void require(int fd, int level, int option, int value, String name) {
        require(name, linux.setOption(fd, level, option, value));
    }

    /// Sets the size of a buffer. Forcing it needs CAP_NET_ADMIN; otherwise the system's limit (net.core.rmem_max,
    /// wmem_max) silently reduces it.
    private void askForBuffer(int fd, int force, int ask, int bytes) {
        if (linux.setOption(fd, LinuxAbi.SOL_SOCKET, force, bytes) < 0) {
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, ask, bytes);
        }
    }

    private static LinkException bindFailed(GidEntry entry, int port, int errno) {
        return LinkException.ofBind(
                SocketFailure.kindOf(errno), entry.gid().toString(), port, LinuxSockets.message(errno), null);
    }

    /// Returns the size of the smallest buffer of this kind among sockets, in bytes.
    long smallestBuffer(UdpSocket[] sockets, int option) {
        long smallest = Long.MAX_VALUE;
        for (UdpSocket socket : sockets) {
            smallest = Math.min(smallest, linux.option(socket.fd, LinuxAbi.SOL_SOCKET, option));
        }
        return smallest;
    }
}
