package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Ndmsg;
import verbena.foreign.linux.LinuxAbi.Nlmsghdr;
import verbena.foreign.linux.LinuxAbi.Rtattr;
import verbena.foreign.linux.LinuxAbi.Rtmsg;
import verbena.foreign.linux.LinuxAbi.SockaddrIn6;
import verbena.foreign.linux.LinuxAbi.SockaddrNl;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.SocketFailure;
import verbena.wire.BigEndian;
import verbena.wire.roce.RoceV2;

/// The addresses of peers as the kernel's tables have them (rtnetlink(7)): its route to the peer, and the
/// neighbour that the route leads to. The kernel itself asks the network (ARP, neighbour discovery) when a
/// datagram goes there, so one without content is sent to the peer's discard port.
///
/// What was found is kept until the kernel tells of any change of its tables. An address that the kernel has
/// not heard of for a while is used and confirmed in the same way.
final class KernelNeighbours implements Resolver {
    /// The number of places of the cache, a power of two.
    private static final int CAPACITY = 1024;

    private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L; // spreads consecutive addresses
    private static final int DISCARD_PORT = 9;
    private static final int BUFFER_BYTES = 1 << 15;
    private static final int ATTRIBUTES = Nlmsghdr.BYTES + Rtmsg.BYTES; // both kinds of message have as many
    private static final int MAC_BYTES = 6;
    /// The states in which an entry has an address.
    private static final int KNOWN = LinuxAbi.NUD_REACHABLE
            | LinuxAbi.NUD_STALE
            | LinuxAbi.NUD_DELAY
            | LinuxAbi.NUD_PROBE
            | LinuxAbi.NUD_NOARP
            | LinuxAbi.NUD_PERMANENT;

    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final int interfaceIndex;
    private final int questions;
    private final int news;
    private final int toIpv4;
    private final int toIpv6;
    private final MemorySegment request;
    private final MemorySegment reply;
    private final MemorySegment name;

    private final long[] highs = new long[CAPACITY];
    private final long[] lows = new long[CAPACITY];
    private final long[] macs = new long[CAPACITY];

    /// @throws verbena.nic.link.LinkException when the system gives no socket
    KernelNeighbours(int interfaceIndex) {
        this.interfaceIndex = interfaceIndex;
        request = arena.allocate(128, 8);
        reply = arena.allocate(BUFFER_BYTES, 8);
        name = arena.allocate(SockaddrIn6.BYTES, 8);
        Arrays.fill(macs, UNKNOWN);
        questions = linux.netlinkSocket(LinuxAbi.NETLINK_ROUTE);
        news = linux.netlinkSocket(LinuxAbi.NETLINK_ROUTE);
        toIpv4 = probe(LinuxAbi.AF_INET);
        toIpv6 = probe(LinuxAbi.AF_INET6); // there is none where IPv6 is switched off
        int error = Math.min(questions, news);
        if (error >= 0) {
            MemorySegment groups = arena.allocate(SockaddrNl.BYTES, 8);
            groups.set(JAVA_SHORT, SockaddrNl.NL_FAMILY, (short) LinuxAbi.AF_NETLINK);
            groups.set(
                    JAVA_INT,
                    SockaddrNl.NL_GROUPS,
                    LinuxAbi.RTMGRP_NEIGH | LinuxAbi.RTMGRP_IPV4_ROUTE | LinuxAbi.RTMGRP_IPV6_ROUTE);
            error = linux.bind(news, groups);
        }
        if (error < 0) {
            close();
            throw SocketFailure.of("rtnetlink", -error);
        }
    }

    private int probe(int family) {
        int fd = linux.socket(family);
        if (fd >= 0) {
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_BINDTOIFINDEX, interfaceIndex);
        }
        return fd;
    }

    // ---- the cache

    @Override
    public long mac(long gidHigh, long gidLow, boolean asks) {
        int place = (int) (((gidHigh * 31 + gidLow) * GOLDEN_RATIO) >>> 54);
        if (macs[place] >= 0 && lows[place] == gidLow && highs[place] == gidHigh) {
            return macs[place];
        }
        long mac = lookUp(gidHigh, gidLow, asks);
        if (mac >= 0) {
            highs[place] = gidHigh;
            lows[place] = gidLow;
            macs[place] = mac;
        }
        return mac;
    }

    @Override
    public boolean hasNews() {
        boolean any = false;
        // An error is news too: some were lost because there were too many.
        while (LinuxSockets.read(news, reply) > 0) {
            any = true;
        }
        if (any) {
            Arrays.fill(macs, UNKNOWN);
        }
        return any;
    }

    @Override
    public int descriptor() {
        return news;
    }

    // ---- the kernel's tables

    private long lookUp(long gidHigh, long gidLow, boolean asks) {
        boolean isIpv4 = RoceV2.isIpv4(gidHigh, gidLow);
        if (!findRoute(isIpv4, gidHigh, gidLow)) {
            return NONE;
        }
        long nextHigh = gidHigh;
        long nextLow = gidLow;
        boolean nextIsIpv4 = isIpv4;
        int gateway = attribute(LinuxAbi.RTA_GATEWAY);
        int via = attribute(LinuxAbi.RTA_VIA);
        if (gateway < 0 && via >= 0) {
            nextIsIpv4 = (reply.get(JAVA_SHORT, via) & 0xFFFF) == LinuxAbi.AF_INET;
            gateway = via + Short.BYTES;
        }
        if (gateway >= 0) {
            nextHigh = nextIsIpv4 ? 0 : BigEndian.i64(reply, gateway);
            nextLow =
                    nextIsIpv4 ? 0xFFFF_0000_0000L | BigEndian.u32(reply, gateway) : BigEndian.i64(reply, gateway + 8);
        }
        int state = findNeighbour(nextIsIpv4, nextHigh, nextLow);
        int address = state == 0 ? -1 : attribute(LinuxAbi.NDA_LLADDR);
        boolean isKnown = (state & KNOWN) != 0 && address >= 0;
        if (isKnown && state != LinuxAbi.NUD_STALE) {
            return macAt(address);
        }
        long stale = isKnown ? macAt(address) : UNKNOWN;
        if (state == LinuxAbi.NUD_INCOMPLETE || (!asks && stale != UNKNOWN)) {
            return stale;
        }
        boolean isAsked = asks && ask(isIpv4, gidHigh, gidLow);
        return isAsked || stale != UNKNOWN ? stale : NONE;
    }

    private long macAt(int address) {
        return (long) BigEndian.u16(reply, address) << 32 | BigEndian.u32(reply, address + 2);
    }

    /// Returns whether there is a route to a host on this interface's network, or to a gateway there; it is in the
    /// reply then.
    private boolean findRoute(boolean isIpv4, long high, long low) {
        begin(LinuxAbi.RTM_GETROUTE, isIpv4);
        request.set(JAVA_BYTE, Nlmsghdr.BYTES + Rtmsg.RTM_DST_LEN, (byte) (isIpv4 ? 32 : 128));
        int end = addAddress(LinuxAbi.RTA_DST, isIpv4, high, low);
        putAttribute(end, LinuxAbi.RTA_OIF, Integer.BYTES);
        request.set(JAVA_INT, end + (long) Rtattr.BYTES, interfaceIndex);
        return isAnswered(end + Rtattr.BYTES + Integer.BYTES, LinuxAbi.RTM_NEWROUTE)
                && reply.get(JAVA_BYTE, Nlmsghdr.BYTES + Rtmsg.RTM_TYPE) == LinuxAbi.RTN_UNICAST;
    }

    /// Returns the state of the kernel's entry, which is in the reply then; 0 when it has none.
    private int findNeighbour(boolean isIpv4, long high, long low) {
        begin(LinuxAbi.RTM_GETNEIGH, isIpv4);
        request.set(JAVA_INT, Nlmsghdr.BYTES + Ndmsg.NDM_IFINDEX, interfaceIndex);
        int end = addAddress(LinuxAbi.NDA_DST, isIpv4, high, low);
        return isAnswered(end, LinuxAbi.RTM_NEWNEIGH)
                ? reply.get(JAVA_SHORT, Nlmsghdr.BYTES + Ndmsg.NDM_STATE) & 0xFFFF
                : 0;
    }

    private void begin(int type, boolean isIpv4) {
        request.fill((byte) 0);
        request.set(JAVA_SHORT, Nlmsghdr.NLMSG_TYPE, (short) type);
        request.set(JAVA_SHORT, Nlmsghdr.NLMSG_FLAGS, (short) LinuxAbi.NLM_F_REQUEST);
        request.set(JAVA_BYTE, Nlmsghdr.BYTES, (byte) (isIpv4 ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6));
    }

    /// Adds an address; returns the end of its attribute.
    private int addAddress(int type, boolean isIpv4, long high, long low) {
        int at = ATTRIBUTES + Rtattr.BYTES;
        int bytes = isIpv4 ? 4 : 16;
        putAttribute(ATTRIBUTES, type, bytes);
        if (isIpv4) {
            BigEndian.put32(request, at, (int) low);
        } else {
            BigEndian.put64(request, at, high);
            BigEndian.put64(request, at + 8L, low);
        }
        return at + bytes;
    }

    private void putAttribute(int at, int type, int bytes) {
        request.set(JAVA_SHORT, at + (long) Rtattr.RTA_LEN, (short) (Rtattr.BYTES + bytes));
        request.set(JAVA_SHORT, at + (long) Rtattr.RTA_TYPE, (short) type);
    }

    /// Sends the request; the kernel has answered when the call returns. Whether the reply is of this type.
    private boolean isAnswered(int bytes, int type) {
        request.set(JAVA_INT, Nlmsghdr.NLMSG_LEN, bytes);
        return LinuxSockets.send(questions, request.asSlice(0, bytes))
                && LinuxSockets.read(questions, reply) >= ATTRIBUTES
                && reply.get(JAVA_SHORT, Nlmsghdr.NLMSG_TYPE) == type;
    }

    /// Returns the place of the value of an attribute of the reply; -1 when there is none. An address of another
    /// length than Ethernet's is none.
    private int attribute(int type) {
        int end = Math.min(reply.get(JAVA_INT, Nlmsghdr.NLMSG_LEN), BUFFER_BYTES);
        int at = ATTRIBUTES;
        while (at + Rtattr.BYTES <= end) {
            int length = reply.get(JAVA_SHORT, at + (long) Rtattr.RTA_LEN) & 0xFFFF;
            if (length < Rtattr.BYTES || at + length > end) {
                return -1;
            }
            if ((reply.get(JAVA_SHORT, at + (long) Rtattr.RTA_TYPE) & 0xFFFF) == type) {
                boolean isMac = type == LinuxAbi.NDA_LLADDR && isNeighbour();
                return isMac && length != Rtattr.BYTES + MAC_BYTES ? -1 : at + Rtattr.BYTES;
            }
            at += length + 3 & -4;
        }
        return -1;
    }

    private boolean isNeighbour() {
        return reply.get(JAVA_SHORT, Nlmsghdr.NLMSG_TYPE) == LinuxAbi.RTM_NEWNEIGH;
    }

    /// Makes the kernel ask the network; returns false when it cannot.
    private boolean ask(boolean isIpv4, long high, long low) {
        int fd = isIpv4 ? toIpv4 : toIpv6;
        if (fd < 0) {
            return false;
        }
        int scope = high >>> 48 == 0xFE80 ? interfaceIndex : 0;
        int bytes = MessageBlock.putAddress(name, 0, high, low, DISCARD_PORT, scope);
        if (linux.connect(fd, name.asSlice(0, bytes)) < 0) {
            return false;
        }
        boolean isSent = LinuxSockets.send(fd, MemorySegment.NULL);
        // The call may have told that an earlier datagram was refused.
        return isSent || LinuxSockets.send(fd, MemorySegment.NULL);
    }

    @Override
    public void close() {
        for (int fd : new int[] {questions, news, toIpv4, toIpv6}) {
            if (fd >= 0) {
                LinuxSockets.close(fd);
            }
        }
        arena.close();
    }
}
