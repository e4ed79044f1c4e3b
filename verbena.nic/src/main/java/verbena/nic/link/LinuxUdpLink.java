package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static verbena.nic.link.LinuxAbi.IPPROTO_IP;
import static verbena.nic.link.LinuxAbi.IPPROTO_IPV6;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.LinuxAbi.GroupReq;
import verbena.nic.link.LinuxAbi.Pollfd;
import verbena.nic.link.LinuxAbi.SockaddrIn6;
import verbena.nic.link.LinuxAbi.Timespec;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// UDP through Linux system calls: batches of up to [MessageBlock#COUNT] packets a call, straight from and into the
/// frames' slots, with traffic class and hop limit both ways and nothing allocated per packet.
///
/// Beyond the portable link it receives IPv6 datagrams with checksum 0, which is what soft-RoCE and hardware send
/// (UDP_NO_CHECK6_RX), and sleeps with nanoseconds of resolution.
///
/// One message carries one frame. Segmentation offload (UDP_SEGMENT: several frames in one message, the ICRC of the
/// i-th sealed for IPv4 identification i) would be built in [#prepareRun] and [#sendRun], its counterpart (UDP_GRO) in
/// [#receiveFrom]; the contract would not notice.
public final class LinuxUdpLink extends UdpLink {
    /// What a frame without a hop limit leaves with (RFC 1700; what rdma_cm uses too).
    private static final int HOP_LIMIT_DEFAULT = 64;
    private static final int NANOS_PER_SECOND = 1_000_000_000;
    /// How long the closer gives whoever is inside to get out before it rings again.
    private static final long CLOSE_RETRY_NANOS = 20_000;

    // Who uses sockets and memory at this moment: a thread that receives or sends, another that sleeps, both for the
    // length of a call; or the closer for ever.
    private static final int FREE = 0;
    private static final int MOVING = 1;
    private static final int SLEEPING = 2;
    private static final int CLOSED = 4;
    private final AtomicInteger occupied = new AtomicInteger(FREE);
    private volatile boolean closing;

    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final MessageBlock incoming = new MessageBlock(arena);
    private final MessageBlock outgoing = new MessageBlock(arena);
    // Of the own addresses, in their order: what is sent leaves by these.
    private final Endpoint[] endpoints;
    // Those, then the ones of groups; never changed, but replaced. The sleeper reads it too.
    private volatile Endpoint[] receivers;

    // One entry per receiver.
    private final MemorySegment pollfds;
    // The sleeper's own: one entry per receiver, then the event counter.
    private final MemorySegment sleepfds;
    private final MemorySegment timeout = arena.allocate(Timespec.BYTES, 8);
    private final MemorySegment nothing = arena.allocate(Timespec.BYTES, 8); // a timeout of 0
    private final MemorySegment one = arena.allocate(JAVA_LONG);
    private final MemorySegment scratch = arena.allocate(JAVA_LONG);
    private final UdpLinks.Options options;
    private final int eventFd;
    private final Object eventFdLock = new Object();
    private boolean eventFdOpen = true; // under the lock

    private final long receiveBufferBytes;
    private final long sendBufferBytes;

    private int firstToReceive;

    /// A socket and the address, or the group, that it is bound to. Belongs to the engine.
    private static final class Endpoint {
        final int fd;
        final long gidHigh;
        final long gidLow;
        final boolean ipv4;
        final int scopeId;
        /// Its send buffer was full; await then waits for room as well.
        volatile boolean full;

        Endpoint(int fd, Gid gid, int scopeId) {
            this.fd = fd;
            gidHigh = gid.high();
            gidLow = gid.low();
            ipv4 = gid.isIpv4();
            this.scopeId = scopeId;
        }

        boolean isBoundTo(Gid gid) {
            return gidLow == gid.low() && gidHigh == gid.high();
        }
    }

    /// @throws LinkException when an address cannot be had
    LinuxUdpLink(List<GidEntry> addresses, int port, UdpLinks.Options options) {
        super(addresses, port);
        this.options = options;
        one.set(JAVA_LONG, 0, 1);
        endpoints = new Endpoint[addresses.size()];
        long receiversMax = (long) endpoints.length * (1 + GROUPS_MAX);
        pollfds = arena.allocate(receiversMax * Pollfd.BYTES, 8);
        sleepfds = arena.allocate((receiversMax + 1) * Pollfd.BYTES, 8);
        eventFd = linux.eventCounter();
        int opened = 0;
        try {
            if (eventFd < 0) {
                throw failed("eventfd", -eventFd);
            }
            for (GidEntry entry : addresses) {
                endpoints[opened] = openOwn(entry);
                opened++;
            }
            receivers = watched(endpoints);
            receiveBufferBytes = smallestBuffer(LinuxAbi.SO_RCVBUF);
            sendBufferBytes = smallestBuffer(LinuxAbi.SO_SNDBUF);
        } catch (LinkException e) {
            for (int i = 0; i < opened; i++) {
                LinuxSockets.close(endpoints[i].fd);
            }
            if (eventFd >= 0) {
                LinuxSockets.close(eventFd);
            }
            arena.close();
            throw e;
        }
    }

    private Endpoint openOwn(GidEntry entry) {
        Gid gid = entry.gid();
        int fd = openSocket(gid);
        try {
            if (gid.isIpv4()) {
                // With this, and not connected, the kernel sends identification 0 and DF: what the ICRC is sealed for.
                require(fd, IPPROTO_IP, LinuxAbi.IP_MTU_DISCOVER, LinuxAbi.IP_PMTUDISC_DO, "IP_MTU_DISCOVER");
                require(fd, IPPROTO_IP, LinuxAbi.IP_TTL, HOP_LIMIT_DEFAULT, "IP_TTL");
            } else {
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MTU_DISCOVER, LinuxAbi.IPV6_PMTUDISC_DO, "IPV6_MTU_DISCOVER");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_DONTFRAG, 1, "IPV6_DONTFRAG");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_UNICAST_HOPS, HOP_LIMIT_DEFAULT, "IPV6_UNICAST_HOPS");
            }
            askForBuffer(fd, LinuxAbi.SO_SNDBUFFORCE, LinuxAbi.SO_SNDBUF, options.sendBufferBytes());
            int scopeId = gid.isLinkLocal() ? entry.interfaceIndex() : 0;
            int bound = bind(fd, gid, scopeId);
            if (bound < 0) {
                throw bindFailed(entry, port(), -bound);
            }
            sendMulticasts(fd, entry);
            return new Endpoint(fd, gid, scopeId);
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    // By the interface of this address, and back to this host's members.
    private void sendMulticasts(int fd, GidEntry entry) {
        Gid gid = entry.gid();
        if (gid.isIpv4()) {
            // An address in network order names the interface that has it.
            int address = Integer.reverseBytes((int) gid.low());
            require(fd, IPPROTO_IP, LinuxAbi.IP_MULTICAST_IF, address, "IP_MULTICAST_IF");
            require(fd, IPPROTO_IP, LinuxAbi.IP_MULTICAST_LOOP, 1, "IP_MULTICAST_LOOP");
        } else {
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MULTICAST_IF, entry.interfaceIndex(), "IPV6_MULTICAST_IF");
            require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_MULTICAST_LOOP, 1, "IPV6_MULTICAST_LOOP");
        }
    }

    // Bound to the group, so that it gets nothing else, and to the interface. To that only root may before Linux 5.7;
    // without, what other interfaces bring arrives here too, where somebody of this host has joined there.
    private Endpoint openGroup(Gid group, GidEntry at) {
        int fd = openSocket(group);
        try (Arena call = Arena.ofConfined()) {
            require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEADDR, 1, "SO_REUSEADDR");
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_BINDTOIFINDEX, at.interfaceIndex());
            requireForGroup(bind(fd, group, at.interfaceIndex()), group, at);
            MemorySegment request = call.allocate(GroupReq.BYTES, 8);
            request.set(JAVA_INT, GroupReq.GR_INTERFACE, at.interfaceIndex());
            MessageBlock.putAddress(request, GroupReq.GR_GROUP, group.high(), group.low(), 0, 0);
            int level = group.isIpv4() ? IPPROTO_IP : IPPROTO_IPV6;
            requireForGroup(linux.setOption(fd, level, LinuxAbi.MCAST_JOIN_GROUP, request), group, at);
            return new Endpoint(fd, group, 0);
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private static void requireForGroup(int result, Gid group, GidEntry at) {
        if (result < 0) {
            throw LinkException.ofJoin(kindOf(-result), group, at, LinuxSockets.message(-result), null);
        }
    }

    // With what a socket needs for receiving.
    private int openSocket(Gid gid) {
        int fd = linux.socket(gid.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
        if (fd < 0) {
            throw LinkException.ofBind(kindOf(-fd), gid.toString(), port(), LinuxSockets.message(-fd), null);
        }
        try {
            if (gid.isIpv4()) {
                require(fd, IPPROTO_IP, LinuxAbi.IP_RECVTOS, 1, "IP_RECVTOS");
                require(fd, IPPROTO_IP, LinuxAbi.IP_RECVTTL, 1, "IP_RECVTTL");
            } else {
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_V6ONLY, 1, "IPV6_V6ONLY");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_RECVTCLASS, 1, "IPV6_RECVTCLASS");
                require(fd, IPPROTO_IPV6, LinuxAbi.IPV6_RECVHOPLIMIT, 1, "IPV6_RECVHOPLIMIT");
                // RoCE v2 leaves the UDP checksum 0 (IBTA A17), which Linux throws away without this.
                require(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
            }
            askForBuffer(fd, LinuxAbi.SO_RCVBUFFORCE, LinuxAbi.SO_RCVBUF, options.receiveBufferBytes());
            return fd;
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private int bind(int fd, Gid gid, int scopeId) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment name = call.allocate(SockaddrIn6.BYTES, 8);
            return linux.bind(
                    fd, name.asSlice(0, MessageBlock.putAddress(name, 0, gid.high(), gid.low(), port(), scopeId)));
        }
    }

    private void require(int fd, int level, int option, int value, String name) {
        int result = linux.setOption(fd, level, option, value);
        if (result < 0) {
            throw failed(name, -result);
        }
    }

    // By force needs CAP_NET_ADMIN; without, the system's limit (net.core.rmem_max, wmem_max) cuts it silently.
    private void askForBuffer(int fd, int force, int ask, int bytes) {
        if (linux.setOption(fd, LinuxAbi.SOL_SOCKET, force, bytes) < 0) {
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, ask, bytes);
        }
    }

    private static LinkException failed(String what, int errno) {
        return new LinkException(LinkException.Kind.FAILED, what + ": " + LinuxSockets.message(errno));
    }

    private static LinkException bindFailed(GidEntry entry, int port, int errno) {
        return LinkException.ofBind(kindOf(errno), entry.gid().toString(), port, LinuxSockets.message(errno), null);
    }

    private static LinkException.Kind kindOf(int errno) {
        return switch (errno) {
            case LinuxAbi.EADDRINUSE -> LinkException.Kind.PORT_IN_USE;
            // EINVAL and ENODEV: a link-local address without its interface.
            case LinuxAbi.EADDRNOTAVAIL, LinuxAbi.EINVAL, LinuxAbi.ENODEV -> LinkException.Kind.ADDRESS_NOT_LOCAL;
            case LinuxAbi.EPERM, LinuxAbi.EACCES -> LinkException.Kind.NOT_PERMITTED;
            case LinuxAbi.EAFNOSUPPORT -> LinkException.Kind.UNSUPPORTED;
            default -> LinkException.Kind.FAILED;
        };
    }

    private static void watch(MemorySegment pollfds, int i, int fd, int events) {
        pollfds.set(JAVA_INT, (long) i * Pollfd.BYTES + Pollfd.FD, fd);
        pollfds.set(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.EVENTS, (short) events);
    }

    private static boolean isReadable(MemorySegment pollfds, int i) {
        // Errors count: receiving is what takes them off the socket.
        return (pollfds.get(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.REVENTS) & ~LinuxAbi.POLLOUT) != 0;
    }

    private long smallestBuffer(int option) {
        long smallest = Long.MAX_VALUE;
        for (Endpoint endpoint : endpoints) {
            smallest = Math.min(smallest, linux.option(endpoint.fd, LinuxAbi.SOL_SOCKET, option));
        }
        return smallest;
    }

    @Override
    public long receiveBufferBytes() {
        return receiveBufferBytes;
    }

    @Override
    public long sendBufferBytes() {
        return sendBufferBytes;
    }

    // --- multicast

    @Override
    void listen(Gid group, Collection<GidEntry> interfaces) {
        if (!enter(MOVING)) {
            throw new LinkException(LinkException.Kind.FAILED, "multicast group " + group + ": the link is closed");
        }
        int before = receivers.length;
        Endpoint[] all = Arrays.copyOf(receivers, before + interfaces.size());
        int opened = before;
        try {
            for (GidEntry at : interfaces) {
                all[opened] = openGroup(group, at);
                opened++;
            }
            receivers = watched(all);
        } catch (LinkException e) {
            for (int i = before; i < opened; i++) {
                LinuxSockets.close(all[i].fd);
            }
            throw e;
        } finally {
            leave(MOVING);
        }
    }

    @Override
    void ignore(Gid group) {
        if (!enter(MOVING)) {
            return;
        }
        try {
            var left = new ArrayList<Endpoint>();
            for (Endpoint endpoint : receivers) {
                if (endpoint.isBoundTo(group)) {
                    LinuxSockets.close(endpoint.fd);
                } else {
                    left.add(endpoint);
                }
            }
            receivers = watched(left.toArray(Endpoint[]::new));
        } finally {
            leave(MOVING);
        }
    }

    private Endpoint[] watched(Endpoint[] all) {
        for (int i = 0; i < all.length; i++) {
            watch(pollfds, i, all[i].fd, LinuxAbi.POLLIN);
        }
        return all;
    }

    // --- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        if (!enter(MOVING)) {
            return 0;
        }
        try {
            Endpoint[] all = receivers;
            return all.length == 1
                    ? receiveFrom(all[0], frames, from, count)
                    : receiveFromReady(all, frames, from, count);
        } finally {
            leave(MOVING);
        }
    }

    // One poll tells which of several sockets are worth a call; the first to be served changes, for fairness.
    private int receiveFromReady(Endpoint[] all, Frame[] frames, int from, int count) {
        if (LinuxSockets.poll(pollfds, all.length, nothing) <= 0) {
            return 0;
        }
        int received = 0;
        int first = firstToReceive < all.length ? firstToReceive : 0; // there may be fewer than last time
        firstToReceive = first + 1;
        for (int i = 0; i < all.length && received < count; i++) {
            int at = first + i < all.length ? first + i : first + i - all.length;
            if (isReadable(pollfds, at)) {
                received += receiveFrom(all[at], frames, from + received, count - received);
            }
        }
        return received;
    }

    private int receiveFrom(Endpoint endpoint, Frame[] frames, int from, int count) {
        int received = 0;
        while (received < count) {
            int asked = Math.min(count - received, MessageBlock.COUNT);
            for (int i = 0; i < asked; i++) {
                incoming.prepareReceive(i, frames[from + received + i]);
            }
            int arrived = LinuxSockets.receiveMessages(endpoint.fd, incoming.headersFrom(0), asked);
            if (arrived < 0) {
                return received;
            }
            received += takeReceived(endpoint, frames, from + received, arrived);
            if (arrived < asked) {
                return received;
            }
        }
        return received;
    }

    // Hands out the packets among what has arrived, without gaps: behind one that is none, the next ones move up.
    private int takeReceived(Endpoint endpoint, Frame[] frames, int from, int arrived) {
        int taken = 0;
        for (int i = 0; i < arrived; i++) {
            int length = incoming.length(i);
            if (length < PACKET_MIN || incoming.isTruncated(i)) {
                malformed.incrementAndGet();
                continue;
            }
            Frame frame = frames[from + taken];
            if (taken < i) {
                MemorySegment.copy(frames[from + i].slot, Frame.HEADROOM, frame.slot, Frame.HEADROOM, length);
            }
            frame.length = length;
            frame.destinationHigh = endpoint.gidHigh;
            frame.destinationLow = endpoint.gidLow;
            incoming.takeReceived(i, frame);
            frame.icrcValid = roce.verify(frame);
            taken++;
        }
        return taken;
    }

    // --- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        if (!enter(MOVING)) {
            return 0;
        }
        try {
            int done = 0;
            while (done < count) {
                Endpoint endpoint = endpointOf(frames[from + done]);
                if (endpoint == null) {
                    unsendable.incrementAndGet();
                    done++;
                    continue;
                }
                int run = prepareRun(endpoint, frames, from + done, count - done);
                int sent = sendRun(endpoint, run);
                done += sent;
                if (sent < run) {
                    break;
                }
            }
            return done;
        } finally {
            leave(MOVING);
        }
    }

    private @Nullable Endpoint endpointOf(Frame frame) {
        for (Endpoint endpoint : endpoints) {
            if (leavesBy(endpoint, frame)) {
                return endpoint;
            }
        }
        return null;
    }

    private static boolean leavesBy(Endpoint endpoint, Frame frame) {
        return frame.sourceLow == endpoint.gidLow && frame.sourceHigh == endpoint.gidHigh && isSameFamily(frame);
    }

    // As many successive frames as leave by this socket, sealed, at most a block.
    private int prepareRun(Endpoint endpoint, Frame[] frames, int from, int count) {
        int most = Math.min(count, MessageBlock.COUNT);
        int run = 0;
        do {
            Frame frame = frames[from + run];
            frame.sourcePort = port();
            roce.seal(frame, 0);
            outgoing.prepareSend(run, frame, port(), endpoint.scopeId);
            addControls(endpoint, run, frame);
            run++;
        } while (run < most && leavesBy(endpoint, frames[from + run]));
        return run;
    }

    private void addControls(Endpoint endpoint, int i, Frame frame) {
        if (frame.trafficClass != 0) {
            if (endpoint.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TOS, frame.trafficClass);
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_TCLASS, frame.trafficClass);
            }
        }
        boolean multicast = RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow);
        if (frame.hopLimit != 0 && frame.hopLimit != (multicast ? MULTICAST_HOPS_DEFAULT : HOP_LIMIT_DEFAULT)) {
            if (endpoint.ipv4) {
                outgoing.addControl(i, IPPROTO_IP, LinuxAbi.IP_TTL, frame.hopLimit);
            } else {
                outgoing.addControl(i, IPPROTO_IPV6, LinuxAbi.IPV6_HOPLIMIT, frame.hopLimit);
            }
        }
    }

    // How many of the prepared messages were taken; fewer than all when the way out is full.
    private int sendRun(Endpoint endpoint, int run) {
        int sent = 0;
        while (sent < run) {
            int result = linux.sendMessages(endpoint.fd, outgoing.headersFrom(sent), run - sent);
            if (result >= 0) {
                sent += result;
                continue;
            }
            switch (-result) {
                // ECONNREFUSED: late news about an earlier packet, cleared by being told.
                case LinuxAbi.EINTR, LinuxAbi.ECONNREFUSED -> {}
                case LinuxAbi.EAGAIN, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> {
                    endpoint.full = true;
                    return sent;
                }
                // EMSGSIZE, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EPERM (a firewall), EACCES (a broadcast), EINVAL, …
                default -> {
                    unsendable.incrementAndGet();
                    sent++;
                }
            }
        }
        return sent;
    }

    // --- sleeping

    /// As [Link#await(long)]; returns as well when there is room again after [#transmit] took fewer than it was given.
    @Override
    public void await(long timeoutNanos) {
        if (!enter(SLEEPING)) {
            return;
        }
        try {
            if (!signal.sleep()) {
                return;
            }
            try {
                if (timeoutNanos != 0) {
                    sleep(timeoutNanos);
                }
            } finally {
                signal.awake();
            }
        } finally {
            leave(SLEEPING);
        }
    }

    private void sleep(long timeoutNanos) {
        MemorySegment limit = MemorySegment.NULL;
        if (timeoutNanos > 0) {
            limit = timeout;
            timeout.set(JAVA_LONG, Timespec.TV_SEC, timeoutNanos / NANOS_PER_SECOND);
            timeout.set(JAVA_LONG, Timespec.TV_NSEC, timeoutNanos % NANOS_PER_SECOND);
        }
        Endpoint[] all = receivers;
        for (int i = 0; i < all.length; i++) {
            watch(sleepfds, i, all[i].fd, all[i].full ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN);
            all[i].full = false;
        }
        watch(sleepfds, all.length, eventFd, LinuxAbi.POLLIN);
        int ready = LinuxSockets.poll(sleepfds, all.length + 1, limit);
        if (ready <= 0) {
            return; // the time is over, or a signal came: may return early
        }
        if (isReadable(sleepfds, all.length)) {
            LinuxSockets.clearEventCounter(eventFd, scratch);
        }
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            ring();
        }
    }

    private void ring() {
        // The lock keeps the descriptor from being closed, and its number reused, under our feet.
        synchronized (eventFdLock) {
            if (eventFdOpen) {
                LinuxSockets.addToEventCounter(eventFd, one);
            }
        }
    }

    // --- the end

    // False when closed.
    private boolean enter(int as) {
        while (!closing) {
            int now = occupied.get();
            if ((now & as) != 0) {
                throw new IllegalStateException("link: used by two threads at once");
            }
            if (now != CLOSED && occupied.compareAndSet(now, now | as)) {
                return true;
            }
        }
        return false;
    }

    private void leave(int as) {
        occupied.addAndGet(-as);
    }

    /// As [Link#close()]; returns when whoever slept is out and sockets and memory are given back.
    @Override
    public void close() {
        closing = true;
        while (!occupied.compareAndSet(FREE, CLOSED)) {
            if (occupied.get() == CLOSED) {
                return;
            }
            ring();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        synchronized (eventFdLock) {
            eventFdOpen = false;
            LinuxSockets.close(eventFd);
        }
        for (Endpoint endpoint : receivers) {
            LinuxSockets.close(endpoint.fd);
        }
        arena.close();
    }
}
