package verbena.nic.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.foreign.linux.SleepTimer;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.Occupancy;
import verbena.nic.link.PacketPairs;
import verbena.nic.link.SecondPort;
import verbena.nic.link.ServiceClaims;
import verbena.nic.link.SocketFailure;
import verbena.nic.link.UnreadSockets;
import verbena.nic.link.sharing.SharedAddress;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// UDP through Linux system calls: batches of up to [MessageBlock#COUNT] packets per call, straight from the frames'
/// slots. It carries traffic class and hop limit both ways, and allocates nothing per packet.
///
/// Unlike the portable link, it receives IPv6 datagrams with checksum 0 (UDP_NO_CHECK6_RX), as soft-RoCE and
/// hardware send them, and sleeps with nanosecond resolution.
///
/// Successive frames of one size for one host leave as one message, which the kernel or the card cuts again
/// (UDP_SEGMENT); the ICRC of the i-th is sealed for the i-th IPv4 identification from that of the message on.
/// Packets that arrive together in this way are received together (UDP_GRO), into buffers of 64 KiB, and frames are
/// views into these. Where the system knows neither option, or a device cannot do it, one message carries one frame.
///
/// Packets to this host leave by sockets of their own ([NearSockets]). A second port has further sockets, one for
/// each address, where the system permits it at all of them.
public final class LinuxUdpLink extends UdpLink implements ServiceClaims, PacketPairs, SecondPort, UnreadSockets {
    /// The number of calls of [#receive] after which the link looks for messages of neighbours, even if the sleeper
    /// has reported none. The number is large while no other link is there, so that the look costs nothing, and
    /// small while others are.
    private static final int LOOKS_ALONE = 64;
    private static final int LOOKS_AMONG_OTHERS = 16;

    private static final UdpSocket[] NO_SOCKETS = {};
    /// The largest number of sockets near one of an own address.
    private static final int NEAR_MAX = NearSockets.CONNECTED_MAX + 1;

    private final Occupancy occupancy = new Occupancy();
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    /// The messages that neighbours pass on.
    private final MessageBlock envelopes = new MessageBlock(arena);
    private final MessageBlock outgoing = new MessageBlock(arena);
    private final UdpSockets sockets;
    private final UdpInbox inbox;
    private final UdpOutbox outbox;
    private final UnreadDatagrams unread;

    /// The sockets of the own addresses, those of a second port, then those of groups. The array never changes, but
    /// is replaced. The sleeping thread reads it.
    private volatile UdpSocket[] receivers;

    /// The entries of the sleeping thread: one for each receiver, then the event counter, the timer, and the
    /// descriptors of shared addresses and of sockets without room.
    private final MemorySegment sleepfds;

    /// The number of receivers that the sleeping thread sleeps on.
    private int asleepOn;

    private final EventCounter bell = new EventCounter(linux, arena);
    private final SleepTimer timer = new SleepTimer(linux, arena);
    private final long receiveBufferBytes;
    private final long sendBufferBytes;

    /// The shared addresses, one for each own address; empty when the link is alone there.
    private final SharedAddress[] shared;

    private final int secondPort;

    private int untilLook = LOOKS_ALONE;
    /// Whether the sleeping thread has seen that a neighbour has sent something.
    private volatile boolean neighboursRang;

    /// @throws LinkException when an address cannot be had
    LinuxUdpLink(List<GidEntry> addresses, int port, UdpOptions options) {
        super(addresses, port, options);
        sockets = new UdpSockets(linux, arena, port, options);
        long receiversMax = (long) addresses.size() * (2 + GROUPS_MAX);
        sleepfds = arena.allocate((receiversMax + 2 + (1L + 2 * NEAR_MAX) * addresses.size()) * Pollfd.BYTES, 8);
        var own = new UdpSocket[addresses.size()];
        int opened = 0;
        SharedAddress[] sharing = {};
        try {
            if (bell.fd() < 0) {
                throw SocketFailure.of("eventfd", -bell.fd());
            }
            if (timer.fd() < 0) {
                throw SocketFailure.of("timerfd", -timer.fd());
            }
            if (options.shared()) {
                sharing = SharedAddress.claim(
                        linux, arena, outgoing, addresses, port, options.sendBufferBytes(), this::wakeup);
            }
            for (GidEntry entry : addresses) {
                own[opened] = sockets.openOwn(entry, options.shared() ? sharing[opened] : null);
                opened++;
            }
            shared = sharing;
            sockets.openNear(own);
            UdpSocket[] second = openSecond(addresses, options);
            secondPort = second.length == 0 ? 0 : options.secondPort();
            inbox = new UdpInbox(seal, malformed, port, secondPort != 0, arena, receiversMax);
            UdpSocket[] all = Stream.of(own, second).flatMap(Arrays::stream).toArray(UdpSocket[]::new);
            receivers = all;
            inbox.receiveFrom(all);
            outbox = new UdpOutbox(linux, outgoing, all, port, sockets.canSegment(), this::refuse);
            int[] ports = Arrays.stream(all)
                    .mapToInt(socket -> socket.port)
                    .distinct()
                    .toArray();
            unread = new UnreadDatagrams(linux, ports, System::nanoTime);
            receiveBufferBytes = sockets.smallestBuffer(own, LinuxAbi.SO_RCVBUF);
            sendBufferBytes = sockets.smallestBuffer(own, LinuxAbi.SO_SNDBUF);
        } catch (LinkException e) {
            for (int i = 0; i < opened; i++) {
                own[i].close();
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

    /// Opens the sockets of the second port; none when the system does not permit it, or another program has it.
    private UdpSocket[] openSecond(List<GidEntry> addresses, UdpOptions options) {
        if (options.secondPort() == 0) {
            return NO_SOCKETS;
        }
        var factory = new UdpSockets(linux, arena, options.secondPort(), options);
        var second = new ArrayList<UdpSocket>();
        try {
            for (GidEntry entry : addresses) {
                second.add(factory.openOwn(entry, null));
            }
        } catch (LinkException _) {
            second.forEach(UdpSocket::close);
            return NO_SOCKETS;
        }
        UdpSocket[] all = second.toArray(UdpSocket[]::new);
        factory.openNear(all);
        return all;
    }

    @Override
    public int secondPort() {
        return secondPort;
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
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                throw new LinkException(LinkException.Kind.FAILED, "multicast group " + group + ": the link is closed");
            }
            receiveAlsoFrom(group, interfaces);
        }
    }

    private void receiveAlsoFrom(Gid group, Collection<GidEntry> interfaces) {
        int before = receivers.length;
        UdpSocket[] all = Arrays.copyOf(receivers, before + interfaces.size());
        int opened = before;
        try {
            for (GidEntry at : interfaces) {
                all[opened] = sockets.openGroup(group, at);
                opened++;
            }
            receiveFrom(all);
        } catch (LinkException e) {
            for (int i = before; i < opened; i++) {
                all[i].close();
            }
            throw e;
        }
    }

    @Override
    void ignore(Gid group) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return;
            }
            var left = new ArrayList<UdpSocket>();
            for (UdpSocket socket : receivers) {
                if (socket.isBoundTo(group)) {
                    socket.close();
                } else {
                    left.add(socket);
                }
            }
            receiveFrom(left.toArray(UdpSocket[]::new));
        }
    }

    private void receiveFrom(UdpSocket[] all) {
        inbox.receiveFrom(all);
        receivers = all;
    }

    // --- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            if (inbox.hasArrivals()) {
                return inbox.handOut(frames, from, count);
            }
            int received = shared.length == 0 ? 0 : receiveFromNeighbours(frames, from, count);
            inbox.land(receivers, count - received);
            return received + inbox.handOut(frames, from + received, count - received);
        }
    }

    /// Receives from neighbours before the own sockets, and at most half of the requested number, so that neither
    /// source waits for the other.
    private int receiveFromNeighbours(Frame[] frames, int from, int count) {
        boolean look = --untilLook <= 0 || neighboursRang;
        for (SharedAddress address : shared) {
            address.tick();
            look |= address.isEarlyDue();
        }
        if (!look) {
            return 0;
        }
        neighboursRang = false; // before the look: a later message sets it again
        int received = 0;
        int most = (count + 1) / 2;
        boolean others = false;
        for (SharedAddress address : shared) {
            received += address.receive(frames, from + received, most - received, envelopes, seal);
            address.tick();
            others |= address.hasNeighbours();
        }
        // Where packets have arrived, there may be more.
        untilLook = received > 0 ? 1 : others ? LOOKS_AMONG_OTHERS : LOOKS_ALONE;
        return received;
    }

    @Override
    public boolean hasArrivals() {
        return inbox.hasArrivals();
    }

    @Override
    public boolean mayHaveMore() {
        return inbox.mayHaveMore();
    }

    // --- sharing

    @Override
    public int slot() {
        return shared.length == 0 ? NO_SLOT : shared[0].slot();
    }

    @Override
    public boolean claimService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                throw new LinkException(LinkException.Kind.FAILED, "service: the link is closed");
            }
            SharedAddress address = sharedAt(local);
            return address == null || address.claimService(serviceId);
        }
    }

    @Override
    public void openService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            SharedAddress address = stay == null ? null : sharedAt(local);
            if (address != null) {
                address.openService(serviceId);
            }
        }
    }

    @Override
    public void releaseService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            SharedAddress address = stay == null ? null : sharedAt(local);
            if (address != null) {
                address.releaseService(serviceId);
            }
        }
    }

    /// Returns the shared address; null when this link has the address alone, or not at all.
    private @Nullable SharedAddress sharedAt(Gid local) {
        for (SharedAddress address : shared) {
            if (address.gid().equals(local)) {
                return address;
            }
        }
        return null;
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<String, Long>();
        for (SharedAddress address : shared) {
            address.addCounters(counters);
        }
        return counters;
    }

    // --- peers of this host

    @Override
    public Map<Integer, Integer> unread(Gid address) {
        try (Occupancy.Stay stay = occupancy.move()) {
            return stay == null ? Map.of() : unread.unread(address);
        }
    }

    // --- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            return outbox.transmit(frames, from, count);
        }
    }

    @Override
    public int sourcePort(Gid from, Gid to) {
        return outbox.sourcePort(from, to);
    }

    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        return outbox.keepsTogether(first, next);
    }

    // --- sleeping

    /// Sleeps as [verbena.nic.link.Link#await(long)] does. Also returns when there is room again after [#transmit]
    /// took fewer frames than it was given.
    @Override
    public void await(long timeoutNanos) {
        int count = fallAsleep(timeoutNanos);
        if (count == 0) {
            return;
        }
        try {
            int _ = LinuxSockets.poll(
                    sleepfds, count, MemorySegment.NULL); // a signal may end the poll: await may return early
        } finally {
            awake();
        }
    }

    @Override
    public boolean canBePolled() {
        return true;
    }

    @Override
    public MemorySegment pollfds() {
        return sleepfds;
    }

    @Override
    public int fallAsleep(long timeoutNanos) {
        Occupancy.Stay stay = occupancy.sleep();
        if (stay == null) {
            return 0;
        }
        int count = 0;
        try {
            if (signal.sleep()) {
                try {
                    count = timeoutNanos == 0 ? 0 : fillPollfds(timeoutNanos);
                } finally {
                    if (count == 0) {
                        signal.awake();
                    }
                }
            }
        } finally {
            if (count == 0) {
                stay.close();
            }
        }
        return count;
    }

    /// Returns zero when some address needs work at once.
    private int fillPollfds(long asked) {
        long timeoutNanos = asked;
        for (SharedAddress address : shared) {
            timeoutNanos = address.sleepAtMost(timeoutNanos);
        }
        if (timeoutNanos == 0) {
            return 0;
        }
        if (timeoutNanos > 0) {
            timer.set(System.nanoTime(), timeoutNanos);
        }
        UdpSocket[] all = receivers;
        assert (all.length + 2L + shared.length) * Pollfd.BYTES <= sleepfds.byteSize();
        for (int i = 0; i < all.length; i++) {
            Pollfds.watch(sleepfds, i, all[i].fd, all[i].full ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN);
            all[i].full = false;
        }
        Pollfds.watch(sleepfds, all.length, bell.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(sleepfds, all.length + 1, timer.fd(), LinuxAbi.POLLIN);
        int neighbours = all.length + 2;
        for (int i = 0; i < shared.length; i++) {
            Pollfds.watch(sleepfds, neighbours + i, shared[i].watcher(), LinuxAbi.POLLIN);
        }
        asleepOn = all.length;
        inbox.aboutToSleep();
        return watchForRoom(neighbours + shared.length, all);
    }

    /// Adds sockets near those that receive to the sleep, while they have no room; returns the number of entries.
    private int watchForRoom(int entries, UdpSocket[] all) {
        int count = entries;
        for (UdpSocket socket : all) {
            for (UdpSocket near : socket.near == null ? NO_SOCKETS : socket.near.all()) {
                if (near.full) {
                    Pollfds.watch(sleepfds, count++, near.fd, LinuxAbi.POLLOUT);
                    near.full = false;
                }
            }
        }
        return count;
    }

    @Override
    public void awake() {
        int neighbours = asleepOn + 2;
        for (int i = 0; i < shared.length; i++) {
            if (Pollfds.isReadable(sleepfds, neighbours + i)) {
                neighboursRang = true;
            }
        }
        if (Pollfds.isReadable(sleepfds, asleepOn)) {
            bell.clear();
        }
        if (Pollfds.isReadable(sleepfds, asleepOn + 1)) {
            timer.clear();
        }
        signal.awake();
        occupancy.endSleep();
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            bell.ring();
        }
    }

    // --- the end

    /// Implements [verbena.nic.link.Link#close()]; returns when the sleeping thread has left, and sockets and
    /// memory are released.
    @Override
    public void close() {
        if (!occupancy.close(bell::ring)) {
            return;
        }
        bell.close();
        timer.close();
        if (Arrays.stream(shared).anyMatch(SharedAddress::hasNeighbours)) {
            inbox.passOn(receivers, Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64)));
        }
        for (UdpSocket socket : receivers) {
            socket.close();
        }
        for (SharedAddress address : shared) {
            address.close(); // last: until then neighbours need not know that this link closes
        }
        arena.close();
    }
}
