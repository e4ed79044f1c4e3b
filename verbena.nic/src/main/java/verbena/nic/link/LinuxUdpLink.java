package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static verbena.nic.link.LinuxAbi.IPPROTO_IP;
import static verbena.nic.link.LinuxAbi.IPPROTO_IPV6;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// UDP through Linux system calls: batches of up to [MessageBlock#COUNT] packets a call, straight from the frames'
/// slots, with traffic class and hop limit both ways and nothing allocated per packet.
///
/// Beyond the portable link it receives IPv6 datagrams with checksum 0, which is what soft-RoCE and hardware send
/// (UDP_NO_CHECK6_RX), and sleeps with nanoseconds of resolution.
///
/// Successive frames of one size for one host leave as one message, which the kernel, or the card, cuts again
/// (UDP_SEGMENT; the ICRC of the i-th is sealed for IPv4 identification i). What arrives so together is received
/// so (UDP_GRO), into buffers of 64 KiB, and frames are views into them. Where the system knows neither, or a
/// device cannot do it, one message carries one frame.
public final class LinuxUdpLink extends UdpLink {
    /// What a frame without a hop limit leaves with (RFC 1700; what rdma_cm uses too).
    private static final int HOP_LIMIT_DEFAULT = 64;
    /// The first byte of loopback addresses (RFC 1122, 3.2.1.3).
    private static final int IPV4_LOOPBACK = 127;

    /// Packets in one message at most: so many every Linux takes (UDP_MAX_SEGMENTS).
    private static final int SEGMENTS_MAX = 64;
    /// Bytes of one message at most: what an IPv4 datagram can carry.
    private static final int MESSAGE_MAX = 65_507;
    /// Room for one, whatever it is, and not a power of two, so that the beginnings of all buffers do not compete
    /// for the same few lines of the cache.
    private static final int LANDING_BYTES = Frame.HEADROOM + (1 << 16) + 192;
    /// Messages asked for at once while packets arrive coalesced: a few are more than a batch.
    private static final int MESSAGES_COALESCED = 4;
    /// Calls of [#receive] after which the side doors are looked at, though the sleeper has not told of anything:
    /// seldom while nobody is there, to cost nothing, and often enough while others are.
    private static final int LOOKS_ALONE = 64;
    private static final int LOOKS_AMONG_OTHERS = 16;
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
    /// What comes by side doors.
    private final MessageBlock envelopes = new MessageBlock(arena);
    private final MessageBlock outgoing = new MessageBlock(arena);

    // One buffer for each message of `incoming`. Pages that nothing has arrived in cost nothing.
    private final MemorySegment[] landings = new MemorySegment[MessageBlock.COUNT];
    private final ByteBuffer[] landingBytes = new ByteBuffer[MessageBlock.COUNT];
    // What has arrived and was not handed out: messages from `message` on, its first `consumed` bytes excepted.
    private final Endpoint[] arrivedAt = new Endpoint[MessageBlock.COUNT];
    private int arrived;
    private int message;
    private int consumed;
    /// How that message came, which is how all packets in it did, and the bytes of each.
    private final Frame origin = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    private int segment;
    /// What arrived last was coalesced.
    private boolean coalesced;
    // A program that exchanges single messages gets one after each sleep, and to ask for a second, too, costs a quarter
    // of the call. Guesses: the sleeper writes them as well.
    private int landedSinceSleep;
    private boolean isOneLikely;
    /// Messages to ask for: twice as many as came the last time.
    private int expected = 1;
    /// A socket has brought as many as it was asked for.
    private boolean more;

    /// Packets in each message of `outgoing`.
    private final int[] packetsOf = new int[MessageBlock.COUNT];
    /// Whether messages of several packets can be sent at all.
    private boolean segmenting = true;
    /// Packets that the system did not take together.
    private int refused;
    /// Packets that are to leave one by one for that reason.
    private int oneByOne;
    /// The way out is full.
    private boolean full;
    // Of the own addresses, in their order: what is sent leaves by these.
    private final Endpoint[] endpoints;
    // Those, then the ones of groups; never changed, but replaced. The sleeper reads it too.
    private volatile Endpoint[] receivers;

    // One entry per receiver.
    private final MemorySegment pollfds;
    // The sleeper's own: one entry per receiver, then the event counter, the timer, and the side doors.
    private final MemorySegment sleepfds;
    private final MemorySegment nothing = arena.allocate(Timespec.BYTES, 8); // a timeout of 0
    private final UdpLinks.Options options;
    private final EventCounter bell = new EventCounter(linux, arena);
    private final SleepTimer timer = new SleepTimer(linux, arena);

    private final long receiveBufferBytes;
    private final long sendBufferBytes;

    private int firstToReceive;

    // One for each own address, none when the link is alone there.
    private final SharedAddress[] shared;
    private int untilLook = LOOKS_ALONE;
    // The sleeper has seen something at a side door.
    private volatile boolean doorRang;

    /// A socket and the address, or the group, that it is bound to. Belongs to the engine.
    private static final class Endpoint {
        final int fd;
        final long gidHigh;
        final long gidLow;
        final boolean ipv4;
        final int scopeId;
        /// How its address is shared; null when it is not, or when it is a group's.
        final @Nullable SharedAddress sharing;
        /// Its send buffer was full; await then waits for room as well.
        volatile boolean full;

        Endpoint(int fd, Gid gid, int scopeId, @Nullable SharedAddress sharing) {
            this.sharing = sharing;
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
        super(addresses, port, options);
        this.options = options;
        endpoints = new Endpoint[addresses.size()];
        long receiversMax = (long) endpoints.length * (1 + GROUPS_MAX);
        pollfds = arena.allocate(receiversMax * Pollfd.BYTES, 8);
        sleepfds = arena.allocate((receiversMax + 2 + endpoints.length) * Pollfd.BYTES, 8);
        for (int i = 0; i < landings.length; i++) {
            landings[i] = arena.allocate(LANDING_BYTES, 64);
            landingBytes[i] = landings[i].asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            incoming.landAt(i, landings[i].address() + Frame.HEADROOM, LANDING_BYTES - Frame.HEADROOM);
        }
        prepareReceive(MessageBlock.COUNT);
        int opened = 0;
        SharedAddress[] sharing = {};
        try {
            if (bell.fd() < 0) {
                throw failed("eventfd", -bell.fd());
            }
            if (timer.fd() < 0) {
                throw failed("timerfd", -timer.fd());
            }
            if (options.shared()) {
                sharing = SharedAddress.claim(linux, arena, addresses, port, options.sendBufferBytes(), this::wakeup);
            }
            for (GidEntry entry : addresses) {
                endpoints[opened] = openOwn(entry, options.shared() ? sharing[opened] : null);
                opened++;
            }
            shared = sharing;
            receivers = watched(endpoints);
            receiveBufferBytes = smallestBuffer(LinuxAbi.SO_RCVBUF);
            sendBufferBytes = smallestBuffer(LinuxAbi.SO_SNDBUF);
        } catch (LinkException e) {
            for (int i = 0; i < opened; i++) {
                LinuxSockets.close(endpoints[i].fd);
            }
            for (SharedAddress address : sharing) {
                address.close();
            }
            bell.close();
            timer.close();
            arena.close();
            throw e;
        }
    }

    private Endpoint openOwn(GidEntry entry, @Nullable SharedAddress sharing) {
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
            if (sharing != null) {
                require(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1, "SO_REUSEPORT");
                sharing.onSocket(fd);
            }
            int scopeId = gid.isLinkLocal() ? entry.interfaceIndex() : 0;
            int bound = bind(fd, gid, scopeId);
            if (bound < 0) {
                throw bindFailed(entry, port(), -bound);
            }
            sendMulticasts(fd, entry);
            if (sharing != null) {
                sharing.onBound();
            }
            return new Endpoint(fd, gid, scopeId, sharing);
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
            return new Endpoint(fd, group, 0, null);
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
            // Linux before 5.0 has neither this nor UDP_SEGMENT (4.18).
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_GRO, 1);
            segmenting &= linux.option(fd, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_SEGMENT) >= 0;
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
            if (hasArrivals()) {
                return handOut(frames, from, count);
            }
            int received = shared.length == 0 ? 0 : receiveFromNeighbours(frames, from, count);
            int wanted = count - received;
            prepareReceive(arrived);
            more = false;
            arrived = 0;
            message = 0;
            consumed = 0;
            Endpoint[] all = receivers;
            if (all.length == 1) {
                land(all[0], wanted);
            } else {
                landFromReady(all, wanted);
            }
            return received + handOut(frames, from + received, wanted);
        } finally {
            leave(MOVING);
        }
    }

    // Before the own sockets, and no more than half of what is asked for, so that neither waits for the other.
    private int receiveFromNeighbours(Frame[] frames, int from, int count) {
        boolean look = --untilLook <= 0 || doorRang;
        for (SharedAddress address : shared) {
            address.tick(outgoing);
            look |= address.isEarlyDue();
        }
        if (!look) {
            return 0;
        }
        doorRang = false; // before looking: what comes then is told anew
        int received = 0;
        int most = (count + 1) / 2;
        boolean others = false;
        for (SharedAddress address : shared) {
            received += address.receive(frames, from + received, most - received, envelopes, this);
            address.tick(outgoing);
            others |= address.hasNeighbours();
        }
        // Where something came there may be more.
        untilLook = received > 0 ? 1 : others ? LOOKS_AMONG_OTHERS : LOOKS_ALONE;
        return received;
    }

    // One poll tells which of several sockets are worth a call. Each gets its share of what is wanted, and the first to
    // be served changes, for fairness.
    private void landFromReady(Endpoint[] all, int wanted) {
        int ready = LinuxSockets.poll(pollfds, all.length, nothing);
        if (ready <= 0) {
            return;
        }
        int share = Math.max(1, wanted / ready);
        int first = firstToReceive < all.length ? firstToReceive : 0; // there may be fewer than last time
        firstToReceive = first + 1;
        for (int i = 0; i < all.length && arrived < MessageBlock.COUNT; i++) {
            int at = first + i < all.length ? first + i : first + i - all.length;
            if (isReadable(pollfds, at)) {
                land(all[at], share);
            }
        }
    }

    // The first messages of the block can be received into again: nothing looks at them any more.
    private void prepareReceive(int messages) {
        for (int i = 0; i < messages; i++) {
            incoming.prepareReceive(i);
        }
    }

    // Messages of this socket behind those that have landed. When few come, few are asked for: the system looks once
    // more after the last one, which costs half as much as to receive it.
    private void land(Endpoint endpoint, int wanted) {
        int most = Math.min(coalesced ? MESSAGES_COALESCED : wanted, MessageBlock.COUNT - arrived);
        int asked = Math.min(isOneLikely ? 1 : expected, most);
        isOneLikely = false;
        int messages = LinuxSockets.receiveMessages(endpoint.fd, incoming.headersFrom(arrived), asked);
        expected = Math.clamp(2L * messages, 1, MessageBlock.COUNT);
        more |= messages == asked;
        for (int i = 0; i < messages; i++) {
            arrivedAt[arrived++] = endpoint;
            landedSinceSleep++;
        }
    }

    // Packets among what has arrived, as many as there are or fit.
    private int handOut(Frame[] frames, int from, int count) {
        int taken = 0;
        while (message < arrived && taken < count) {
            Endpoint endpoint = arrivedAt[message];
            if (consumed == 0 && !beginMessage(endpoint)) {
                malformed.incrementAndGet();
                nextMessage();
                continue;
            }
            Frame frame = frames[from + taken];
            frame.length = Math.min(segment, incoming.length(message) - consumed);
            frame.view(landings[message], landingBytes[message], Frame.HEADROOM + consumed);
            if (!isPacket(frame)) {
                malformed.incrementAndGet();
            } else if (endpoint.sharing == null || !isPassedOn(endpoint.sharing, frame)) {
                frame.copyWay(origin);
                frame.icrcValid = isWhole(frame, consumed / segment);
                taken++;
            }
            consumed += segment;
            if (consumed >= incoming.length(message)) {
                nextMessage();
            }
        }
        return taken;
    }

    // False when it is too long for anything.
    private boolean beginMessage(Endpoint endpoint) {
        origin.destinationHigh = endpoint.gidHigh;
        origin.destinationLow = endpoint.gidLow;
        segment = incoming.takeReceived(message, origin);
        coalesced = segment < incoming.length(message);
        return !incoming.isTruncated(message);
    }

    private void nextMessage() {
        message++;
        consumed = 0;
    }

    private static boolean isPacket(Frame frame) {
        return frame.length >= PACKET_MIN && frame.length <= Frame.PACKET_MAX;
    }

    @Override
    public boolean hasArrivals() {
        return message < arrived;
    }

    @Override
    public boolean mayHaveMore() {
        return more;
    }

    // Whether no more needs to be done here: false when the packet is for this link's slot, or nobody is there whom it
    // is for.
    private boolean isPassedOn(SharedAddress sharing, Frame frame) {
        int addressee = Addressee.of(frame);
        if (addressee == sharing.slot()) {
            return false;
        }
        frame.copyWay(origin);
        if (addressee == Addressee.ANYBODY) {
            return sharing.onProbe(frame);
        }
        if (addressee == Addressee.SERVICE && sharing.isServedHere(Addressee.service(frame))) {
            return false;
        }
        SharedAddress.Door door = addressee >= 0 ? sharing.neighbour(addressee) : null;
        if (addressee >= 0 ? door == null : sharing.isAlone()) {
            return sharing.waits(frame);
        }
        if (!sharing.isInTime(incoming.arrivalMillis(message))) {
            return true;
        }
        frame.moveToOwn(); // the envelope goes before it
        if (door != null) {
            Envelope.seal(frame);
            outgoing.prepareEnvelope(0, frame);
            sharing.forward(door, outgoing, 1);
            return true;
        }
        if (addressee == Addressee.SERVICE) {
            return sharing.forwardToService(frame, Addressee.service(frame)) || sharing.waits(frame);
        }
        sharing.forwardToAll(frame);
        return false;
    }

    // --- sharing

    @Override
    public int slot() {
        return shared.length == 0 ? NO_SLOT : shared[0].slot();
    }

    @Override
    public boolean claimService(long serviceId) {
        if (shared.length == 0) {
            return true;
        }
        if (!enter(MOVING)) {
            throw new LinkException(LinkException.Kind.FAILED, "service: the link is closed");
        }
        try {
            return SharedAddress.claimService(shared, serviceId);
        } finally {
            leave(MOVING);
        }
    }

    @Override
    public void openService(long serviceId) {
        if (shared.length == 0 || !enter(MOVING)) {
            return;
        }
        try {
            for (SharedAddress address : shared) {
                address.openService(serviceId);
            }
        } finally {
            leave(MOVING);
        }
    }

    @Override
    public void releaseService(long serviceId) {
        if (shared.length == 0 || !enter(MOVING)) {
            return;
        }
        try {
            for (SharedAddress address : shared) {
                address.releaseService(serviceId);
            }
        } finally {
            leave(MOVING);
        }
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<String, Long>();
        for (SharedAddress address : shared) {
            address.addCounters(counters);
        }
        return counters;
    }

    // --- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        if (!enter(MOVING)) {
            return 0;
        }
        try {
            int done = 0;
            full = false;
            while (done < count && !full) {
                Endpoint endpoint = endpointOf(frames[from + done]);
                if (endpoint == null) {
                    refuse(frames[from + done]);
                    done++;
                    continue;
                }
                int messages = prepareRun(endpoint, frames, from + done, count - done);
                int sent = sendRun(endpoint, messages, frames, from + done);
                done += sent;
                oneByOne = refused > 0 ? refused : Math.max(0, oneByOne - sent);
                refused = 0;
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

    // As many successive frames as leave by this socket, sealed, at most a block; returns how many messages that makes.
    private int prepareRun(Endpoint endpoint, Frame[] frames, int from, int count) {
        int most = Math.min(count, MessageBlock.COUNT);
        int messages = 0;
        int run = 0;
        do {
            Frame first = frames[from + run];
            seal(first, 0);
            outgoing.prepareSend(messages, run, first, port(), endpoint.scopeId);
            addControls(endpoint, messages, first);
            int segments = 1;
            int bytes = first.length;
            int limit = Math.min(most - run, segmentsMax(first, run));
            while (segments < limit) {
                Frame next = frames[from + run + segments];
                if (!travelsWith(first, next) || bytes + next.length > MESSAGE_MAX) {
                    break;
                }
                seal(next, segments);
                outgoing.addSegment(messages, run + segments, next);
                segments++;
                bytes += next.length;
                if (next.length < first.length) {
                    break; // only the last may be shorter
                }
            }
            if (segments > 1) {
                outgoing.cutIntoSegments(messages, first.length);
            }
            packetsOf[messages++] = segments;
            run += segments;
        } while (run < most && leavesBy(endpoint, frames[from + run]));
        return messages;
    }

    private void seal(Frame frame, int identification) {
        frame.sourcePort = port();
        roce.seal(frame, identification);
    }

    private int segmentsMax(Frame first, int position) {
        return !segmenting || position < oneByOne || RoceV2.isMulticast(first.destinationHigh, first.destinationLow)
                ? 1
                : SEGMENTS_MAX;
    }

    // To the same host, in the same way, and there to the same slot: steering looks at the first only.
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

    /// One message of the operating system, to this host: nothing on the way cuts it.
    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        return segmenting && oneByOne == 0 && isForThisHost(first) && travelsWith(first, next);
    }

    private static boolean isForThisHost(Frame frame) {
        boolean own = frame.destinationLow == frame.sourceLow && frame.destinationHigh == frame.sourceHigh;
        return own
                || (RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow)
                        && (frame.destinationLow >>> 24 & 0xFF) == IPV4_LOOPBACK);
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

    // How many packets of the prepared messages were taken; fewer than all when the way out is full, or when a message
    // has to be prepared anew.
    private int sendRun(Endpoint endpoint, int messages, Frame[] frames, int from) {
        int sent = 0;
        int packets = 0;
        while (sent < messages) {
            int result = linux.sendMessages(endpoint.fd, outgoing.headersFrom(sent), messages - sent);
            if (result >= 0) {
                for (int i = 0; i < result; i++) {
                    packets += packetsOf[sent++];
                }
                continue;
            }
            switch (-result) {
                // ECONNREFUSED: late news about an earlier packet, cleared by being told.
                case LinuxAbi.EINTR, LinuxAbi.ECONNREFUSED -> {}
                case LinuxAbi.EAGAIN, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> {
                    endpoint.full = true;
                    full = true;
                    return packets;
                }
                // EMSGSIZE, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EPERM (a firewall), EACCES (a broadcast), EINVAL, …
                default -> {
                    if (packetsOf[sent] > 1) {
                        // EIO: this device cannot even have it done for it (no checksum offload); EINVAL, EMSGSIZE: a
                        // packet is too long for the way, or for being cut. One by one each gets its own answer.
                        segmenting &= -result != LinuxAbi.EIO;
                        refused = packetsOf[sent];
                        return packets;
                    }
                    refuse(frames[from + packets]);
                    packets++;
                    sent++;
                }
            }
        }
        return packets;
    }

    // --- sleeping

    /// As [Link#await(long)]; returns as well when there is room again after [#transmit] took fewer than it was
    /// given.
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

    private void sleep(long asked) {
        long timeoutNanos = asked;
        for (SharedAddress address : shared) {
            timeoutNanos = address.sleepAtMost(timeoutNanos);
        }
        if (timeoutNanos == 0) {
            return;
        }
        if (timeoutNanos > 0) {
            timer.set(System.nanoTime(), timeoutNanos);
        }
        Endpoint[] all = receivers;
        for (int i = 0; i < all.length; i++) {
            watch(sleepfds, i, all[i].fd, all[i].full ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN);
            all[i].full = false;
        }
        watch(sleepfds, all.length, bell.fd(), LinuxAbi.POLLIN);
        watch(sleepfds, all.length + 1, timer.fd(), LinuxAbi.POLLIN);
        int doors = all.length + 2;
        for (int i = 0; i < shared.length; i++) {
            watch(sleepfds, doors + i, shared[i].watcher(), LinuxAbi.POLLIN);
        }
        isOneLikely = landedSinceSleep == 1;
        landedSinceSleep = 0;
        int ready = LinuxSockets.poll(sleepfds, doors + shared.length, MemorySegment.NULL);
        if (ready <= 0) {
            return; // a signal came: may return early
        }
        for (int i = 0; i < shared.length; i++) {
            if (isReadable(sleepfds, doors + i)) {
                doorRang = true;
            }
        }
        if (isReadable(sleepfds, all.length)) {
            bell.clear();
        }
        if (isReadable(sleepfds, all.length + 1)) {
            timer.clear();
        }
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            bell.ring();
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
            bell.ring();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        bell.close();
        timer.close();
        for (Endpoint endpoint : receivers) {
            LinuxSockets.close(endpoint.fd);
        }
        for (SharedAddress address : shared) {
            address.close(); // last: meanwhile neighbours need not be told that we are gone
        }
        arena.close();
    }
}
