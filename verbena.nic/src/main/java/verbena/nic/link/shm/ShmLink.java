package verbena.nic.link.shm;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.FrameRing;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.Occupancy;
import verbena.nic.link.OwnSeal;
import verbena.nic.link.PolledLink;
import verbena.nic.link.QuickTraffic;
import verbena.nic.link.Seal;
import verbena.nic.link.ServiceClaims;
import verbena.nic.link.sharing.Addressee;
import verbena.nic.link.sharing.EarlyRequests;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.sharing.PeerSocket;
import verbena.nic.link.sharing.PeerSockets;
import verbena.nic.link.sharing.Presence;
import verbena.nic.link.sharing.Service;
import verbena.nic.link.sharing.Services;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The frames through memory that the processes of one user on this host share.
///
/// Each link of the host's network namespace holds a slot, as on a
/// [verbena.nic.link.sharing.SharedAddress], and listens at the slot's name. A new link connects to all that are
/// there, so each link knows its neighbours, and the kernel reports the end of a process. The number in a packet
/// names the slot that the packet is for ([Addressee]); the address in it is only compared, by the link with that
/// slot. The first frame for a neighbour makes the memory that leads there ([ShmNeighbour]).
///
/// Frames carry no ICRC, because memory damages nothing. A frame that finds no room is dropped and counted, as
/// in a socket's buffer.
///
/// Threads as in [verbena.nic.link.Link]. Allocates nothing for a packet, except for requests of connection
/// management.
public final class ShmLink extends PolledLink implements QuickTraffic, ServiceClaims, OwnSeal, Neighbours {
    private static final int SELF_BYTES = 1 << 18;
    /// The number of calls of [#receive] after which the link looks at its sockets even if no bell has rung.
    private static final int LOOKS = 64;
    /// The only descriptor of its own that ends a sleep.
    private static final int SOCKETS = 0;
    /// The time to wait before the next try when the process has no descriptor left for a new connection.
    private static final long STUCK_NANOS = 100_000_000;
    /// The most messages that are taken at once.
    private static final int MESSAGES = 64;

    private final List<GidEntry> gids;
    private final ShmNeighbours neighbours;
    private final RingWriters writers;
    private final IncomingRings arrivals;
    private final OutgoingRings rings;
    private final Services services;
    private final Set<Gid> groups = new HashSet<>();

    /// The ring for frames from this link to itself.
    private final FrameRing self = new FrameRing(arena.allocate(FrameRing.bytes(SELF_BYTES), 64));

    /// The slots that messages are copied to.
    private final Frame[] messages = Frame.allocate(arena.allocate((long) MESSAGES * Frame.SLOT_BYTES, 64));

    private MessageListener messageListener = (_, _) -> false;
    private int untilLook = LOOKS;
    /// Whether the sleeping thread has seen that a socket has something.
    private volatile boolean isRung;

    // Written here, read by any thread.
    private final AtomicLong full = new AtomicLong();
    private final AtomicLong gone = new AtomicLong();

    /// Opens a link at these addresses of this host.
    ///
    /// @throws LinkException when this system does not permit it, or all slots are taken
    public static ShmLink open(List<GidEntry> addresses) {
        String why = NativeAccess.whyPortable();
        if (why != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "shm: " + why);
        }
        return new ShmLink(addresses);
    }

    /// Returns whether a link of a process of this user has claimed a service at an address. Any thread; opens no
    /// link.
    public static boolean isServed(long serviceId, Gid address) {
        return PeerSockets.isThere(ShmNeighbours.PLACE, new Service(serviceId, address).nameWithAddress());
    }

    private ShmLink(List<GidEntry> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("addresses: at least one");
        }
        super(1);
        gids = List.copyOf(addresses);
        Gid[] own = gids.stream().map(GidEntry::gid).toArray(Gid[]::new);
        services = new Services(this::offer, new EarlyRequests(arena, System::nanoTime));
        ShmNeighbours met = null;
        boolean isOpen = false;
        try {
            met = new ShmNeighbours(linux, arena, sleep);
            met.meet();
            neighbours = met;
            writers = new RingWriters(met, self);
            arrivals = new IncomingRings(met, self, own, groups);
            rings = new OutgoingRings(met, self, sleep);
            isOpen = true;
        } finally {
            if (!isOpen) {
                if (met != null) {
                    met.close();
                }
                free();
            }
        }
    }

    // --- what neighbours tell each other

    @Override
    public void listener(Listener told) {
        neighbours.news.listener = told;
    }

    @Override
    public boolean tell(int slot, MemorySegment told, int descriptor) {
        try (Occupancy.Stay stay = occupancy.move()) {
            return stay != null && neighbours.tell(slot, told, descriptor);
        }
    }

    /// Calls the listeners with the events of neighbours and the messages that have come.
    @Override
    public int move(long nowNanos) {
        return neighbours.news.tell() + (writers.areQuiet() ? 0 : moveAtOnce(nowNanos));
    }

    @Override
    public MemorySegment ownPage(int slot) {
        try (Occupancy.Stay stay = occupancy.move()) {
            return stay == null ? MemorySegment.NULL : neighbours.ownPage(slot);
        }
    }

    @Override
    public MemorySegment theirPage(int slot) {
        return neighbours.theirPage(slot);
    }

    @Override
    public int process(int slot) {
        return neighbours.process(slot);
    }

    @Override
    public boolean isThere(int slot) {
        return neighbours.isThere(slot);
    }

    // --- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            int received = arrivals.receive(frames, from, count);
            if (--untilLook <= 0 || isRung || neighbours.isStuck()) {
                received += look(frames, from + received, count - received);
            }
            return services.isDue() ? received + services.handOut(frames, from + received, count - received) : received;
        }
    }

    // --- messages without frames

    /// A listener for messages that need no frames.
    public interface MessageListener {
        /// Handles a [DirectMessage], which is well-formed and of the link that its source belongs to. Returns
        /// false when it is for no queue pair here: this link then answers a sender that asks.
        boolean onMessage(Frame message, long nowNanos);
    }

    /// Sets the listener, before the link is used.
    public void listener(MessageListener told) {
        messageListener = told;
    }

    @Override
    public int moveAtOnce(long about) {
        int taken = takeMessages();
        for (int i = 0; i < taken; i++) {
            Frame message = messages[i];
            if (!messageListener.onMessage(message, about) && DirectMessage.kind(message) == DirectMessage.QUERY) {
                decline(message);
            }
        }
        return taken;
    }

    private int takeMessages() {
        try (Occupancy.Stay stay = occupancy.move()) {
            return stay == null ? 0 : arrivals.takeMessages(messages);
        }
    }

    private void decline(Frame query) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay != null) {
                rings.decline(query);
            }
        }
    }

    @Override
    public boolean seemsQuiet() {
        return !isRung && writers.areQuiet();
    }

    /// Returns whether rings have records: a ring gives out its last message only after a look that found nothing.
    @Override
    public boolean mayHaveMore() {
        return !writers.areQuiet();
    }

    /// Reads what waits at the sockets; returns how many requests came with it.
    private int look(Frame[] frames, int from, int count) {
        isRung = false; // before the look: a later message rings again
        int ready = neighbours.ready();
        int received = 0;
        for (int i = 0; i < ready; i++) {
            int at = from + received;
            int read = neighbours.read(i, frames, at, count - received);
            for (int j = 0; j < read; j++) {
                if (!isKept(frames[at + j])) {
                    frames[from + received++].copyFrom(frames[at + j]);
                }
            }
        }
        untilLook = ready > 0 ? 1 : LOOKS; // where something was, there may be more
        return received;
    }

    // --- sending

    /// Returns the rings for messages that need no packets.
    public OutgoingRings rings() {
        return rings;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            for (int i = 0; i < count; i++) {
                route(frames[from + i]);
            }
            rings.show();
            return count;
        }
    }

    private void route(Frame frame) {
        frame.sourcePort = RoceV2.UDP_PORT;
        frame.icrcValid = frame.marks.damagedBit < 0;
        if (IncomingRings.isMulticast(frame)) {
            sendToAll(frame);
            return;
        }
        int addressee = Addressee.of(frame);
        switch (addressee) {
            case Addressee.ANY_LINK -> sendToSelf(frame);
            case Addressee.EVERY_LINK -> sendToAll(frame);
            case Addressee.SERVICE -> sendToService(frame);
            default -> sendTo(addressee, frame);
        }
    }

    private void sendTo(int slot, Frame frame) {
        if (slot == slot()) {
            sendToSelf(frame);
            return;
        }
        ShmNeighbour neighbour = neighbours.neighbour(slot);
        if (neighbour == null) {
            gone.incrementAndGet();
        } else if (!rings.put(neighbour, frame)) {
            full.incrementAndGet();
        }
    }

    private void sendToSelf(Frame frame) {
        if (!rings.putForSelf(frame)) {
            full.incrementAndGet();
        }
    }

    private void sendToAll(Frame frame) {
        sendToSelf(frame);
        for (int slot = 0; slot < Presence.SLOTS; slot++) {
            if (slot != slot() && neighbours.neighbour(slot) != null) {
                sendTo(slot, frame);
            }
        }
    }

    private void sendToService(Frame frame) {
        if (services.isServedHere(frame) || !(services.forward(frame) || isKept(frame))) {
            sendToSelf(frame);
        }
    }

    /// Keeps a request for a service that is not open yet. A thread that sleeps does not know its time.
    private boolean isKept(Frame frame) {
        boolean isKept = services.keep(frame);
        if (isKept) {
            wakeup();
        }
        return isKept;
    }

    /// Offers a request, as [Services.Ways] requires.
    private Services.Offer offer(Service service, Frame frame) {
        Services.Offer result = neighbours.offer(service.nameWithAddress(), frame);
        if (result == Services.Offer.NO_ROOM) {
            full.incrementAndGet();
        }
        return result;
    }

    // --- services and groups

    @Override
    public boolean claimService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                throw new LinkException(LinkException.Kind.FAILED, "service: the link is closed");
            }
            var service = new Service(serviceId, local);
            if (services.isClaimed(service)) {
                return true;
            }
            PeerSocket socket = neighbours.listen(service.nameWithAddress());
            if (socket == null) {
                return false;
            }
            services.claim(service, socket);
            return true;
        }
    }

    @Override
    public void openService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay != null) {
                services.open(new Service(serviceId, local));
                wakeup();
            }
        }
    }

    @Override
    public void releaseService(long serviceId, Gid local) {
        try (Occupancy.Stay stay = occupancy.move()) {
            PeerSocket socket = stay == null ? null : services.release(new Service(serviceId, local));
            if (socket != null) {
                neighbours.stop(socket);
            }
        }
    }

    @Override
    public void join(Gid group) {
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("group: " + group + " is not a multicast address");
        }
        if (groups.size() == GROUPS_MAX && !groups.contains(group)) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "multicast group " + group + ": this link is in " + GROUPS_MAX + " groups, and no more fit");
        }
        if (gids.stream().noneMatch(entry -> entry.gid().isIpv4() == group.isIpv4())) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED,
                    "multicast group " + group + ": none of this link's addresses is "
                            + (group.isIpv4() ? "an IPv4 one" : "an IPv6 one"));
        }
        groups.add(group);
    }

    @Override
    public void leave(Gid group) {
        groups.remove(group);
    }

    // --- what it is

    @Override
    public List<GidEntry> gids() {
        return gids;
    }

    @Override
    public int slot() {
        return neighbours.slot();
    }

    @Override
    public int packetMax() {
        return Frame.PACKET_MAX & ~3; // packets are whole words (IBTA 9.2, PadCnt)
    }

    @Override
    public Seal newSeal() {
        return new ShmSeal();
    }

    @Override
    public int sourcePort(Gid from, Gid to) {
        return RoceV2.UDP_PORT;
    }

    @Override
    public long malformed() {
        return arrivals.malformed();
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<String, Long>();
        neighbours.addCounters(counters);
        counters.put("shm.dropped.full", full.get());
        counters.put("shm.dropped.gone", gone.get() + arrivals.gone());
        counters.put("shm.waiting.now", services.waiting());
        return counters;
    }

    // --- sleeping

    /// Asks the writers of all rings to ring the bell, and looks once more whether there is something.
    @Override
    protected long lastLook(long timeoutNanos) {
        boolean isStuck = neighbours.isStuck();
        long nanos = isStuck ? sooner(timeoutNanos, STUCK_NANOS) : timeoutNanos;
        if (services.due() != Long.MAX_VALUE) {
            nanos = sooner(nanos, Math.max(0, services.due() - System.nanoTime()));
        }
        if (nanos == 0 || neighbours.news.isThere() || !writers.ask()) {
            writers.excuse();
            return 0;
        }
        sleep.watch(isStuck ? -1 : neighbours.watcher(), LinuxAbi.POLLIN);
        return nanos;
    }

    /// Returns the shorter of two times; a negative first time means no limit.
    private static long sooner(long timeoutNanos, long other) {
        return timeoutNanos < 0 ? other : Math.min(timeoutNanos, other);
    }

    @Override
    protected void afterSleep() {
        writers.excuse();
        if (sleep.isReadable(SOCKETS)) {
            isRung = true;
        }
    }

    @Override
    protected void release() {
        neighbours.close();
    }
}
