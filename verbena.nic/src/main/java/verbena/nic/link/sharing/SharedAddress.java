package verbena.nic.link.sharing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Envelope;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.Seal;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.spi.Provider.Served;
import verbena.wire.Frame;

/// An address whose UDP port several links of this host share, in one process or in several of one user.
///
/// Each link holds a slot, a part of all numbers that are assigned at this address ([Link#slot()]), by listening at
/// the slot's name ([PeerSockets]). A new link connects to all links that are there. So each link knows its
/// neighbours ([Presence]), and the end of a link ends its connections.
///
/// - **Forwarding makes it correct.** The kernel hands an arriving packet to any of the sockets. [Relay] passes it
///   on to the link that it is for. [Services] knows which link gets which requests of connection management.
/// - **Steering makes it fast.** With [Steering] the kernel hands packets to the right socket at once. It has to
///   know the index of each socket in the kernel's group, which changes when a link leaves. A [Survey] finds the
///   indexes. A new link surveys; so does the link with the lowest slot when a link has left, and any link that
///   forwards many packets.
///
/// For the thread that may receive on the link, except where a method allows any thread. Nothing here blocks.
public final class SharedAddress {

    private static final String SLOT = "slot-";

    /// The time to wait before the next try when the process has no descriptor left for a new connection.
    private static final long STUCK_NANOS = 100_000_000;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final Gid gid;
    private final Runnable wakeup;

    private final PeerSockets peers;
    private final Presence presence = new Presence();
    private final Services services;
    private final Relay relay;
    private final SocketGroup group;
    private final Survey survey;

    /// The socket that neighbours connect to.
    private @Nullable PeerSocket slotSocket;
    /// Whether a link has connected and cannot be accepted, because this process has no descriptor left. The
    /// sleeping thread reads it.
    private volatile boolean isStuck;

    private final MemorySegment word;

    // Written here, read by any thread.
    private final AtomicLong arrived = new AtomicLong();
    private final AtomicLong stray = new AtomicLong();

    private SharedAddress(
            LinuxSockets linux,
            Arena arena,
            MessageBlock outgoing,
            GidEntry at,
            int port,
            int sendBufferBytes,
            Runnable wakeup) {
        this.gid = at.gid();
        this.wakeup = wakeup;
        word = arena.allocate(Envelope.BYTES, 8);
        services = new Services(this::offer, new EarlyRequests(arena, System::nanoTime));
        relay = new Relay(presence, services, new Neighbours(), System::currentTimeMillis);
        group = new SocketGroup(linux, arena, outgoing, presence, at, port, wakeup);
        survey = new Survey(group, System::nanoTime);
        String name = place(gid, gid.isLinkLocal() ? "%" + at.interfaceIndex() : "", port);
        peers = new PeerSockets(linux, arena, outgoing, gid.toString(), name, sendBufferBytes);
    }

    private static String place(Gid gid, String scope, int port) {
        return gid + scope + "/" + port;
    }

    /// Returns whether a link that shares the service's address, of any user, serves it. Links that do not share have
    /// no slots, and are not known. Any thread; opens no link.
    public static Served served(Service service, int port) {
        if (service.address().isLinkLocal()) {
            return Served.UNKNOWN; // its interface is not known here
        }
        Set<String> names = PeerSockets.names(place(service.address(), "", port));
        if (names.contains(service.name())) {
            return Served.YES;
        }
        return names.stream().anyMatch(name -> name.startsWith(SLOT)) ? Served.NO : Served.UNKNOWN;
    }

    // --- opening

    /// Takes a slot, the same at all addresses, drawn from the free ones, and connects to the neighbours.
    ///
    /// @param outgoing free whenever no call of these objects is under way
    /// @param wakeup makes the link's sleeping thread call [#sleepAtMost(long)] again
    /// @throws LinkException when no slot is free, or the system does not permit it
    public static SharedAddress[] claim(
            LinuxSockets linux,
            Arena arena,
            MessageBlock outgoing,
            List<GidEntry> at,
            int port,
            int sendBufferBytes,
            Runnable wakeup) {
        var all = new ArrayList<SharedAddress>();
        boolean claimed = false;
        try {
            for (GidEntry entry : at) {
                all.add(new SharedAddress(linux, arena, outgoing, entry, port, sendBufferBytes, wakeup));
            }
            int slot = Presence.draw(RANDOM, candidate -> takeSlot(all, candidate));
            if (slot == PeerSocket.NO_SLOT) {
                throw new LinkException(
                        LinkException.Kind.PORT_IN_USE,
                        "address " + at.getFirst().gid() + ": all " + Presence.SLOTS
                                + " slots of the links that share it are taken"
                                + all.stream()
                                        .map(address -> address.peers.othersShare(SLOT, Presence.SLOTS))
                                        .filter(share -> !share.isEmpty())
                                        .findFirst()
                                        .orElse(""));
            }
            for (SharedAddress address : all) {
                address.meet(slot);
            }
            claimed = true;
            return all.toArray(SharedAddress[]::new);
        } finally {
            if (!claimed) {
                all.forEach(SharedAddress::close);
            }
        }
    }

    private static boolean takeSlot(List<SharedAddress> all, int slot) {
        List<PeerSocket> sockets = listenEverywhere(all, slotName(slot));
        for (int i = 0; sockets != null && i < all.size(); i++) {
            all.get(i).slotSocket = sockets.get(i);
        }
        return sockets != null;
    }

    private static String slotName(int slot) {
        return SLOT + slot;
    }

    /// Listens at the name at every address; null when another link has the name at one of them.
    private static @Nullable List<PeerSocket> listenEverywhere(List<SharedAddress> all, String name) {
        var opened = new ArrayList<PeerSocket>();
        boolean everywhere = false;
        try {
            for (SharedAddress address : all) {
                PeerSocket listening = address.peers.listen(name);
                if (listening == null) {
                    return null;
                }
                opened.add(listening);
            }
            everywhere = true;
            return opened;
        } finally {
            for (int i = 0; !everywhere && i < opened.size(); i++) {
                all.get(i).close(opened.get(i));
            }
        }
    }

    /// Connects to each link that is there already. Later links connect to this one.
    private void meet(int ownSlot) {
        presence.settle(ownSlot);
        Envelope.putHello(word, ownSlot);
        peers.connectEach(SLOT, Presence.SLOTS, ownSlot, (other, fd) -> {
            // The neighbour may end at this moment: then the watcher reports it.
            boolean _ = LinuxSockets.send(fd, word);
            PeerSocket connection = peers.watch(fd);
            if (connection != null) {
                greet(connection, other);
            }
        });
    }

    private void greet(PeerSocket connection, int other) {
        if (presence.greet(connection, other)) {
            group.stampArrivals(true);
        } else {
            stray.incrementAndGet();
        }
    }

    private void close(PeerSocket one) {
        peers.close(one);
        if (!presence.forget(one)) {
            return;
        }
        survey.onGone(one.slot);
        group.stampArrivals(hasNeighbours());
        if (presence.isFirst()) {
            survey.begin();
        }
    }

    /// Called with a socket that is about to be bound: bound sockets are in the kernel's group.
    public void onSocket(int udpSocket) {
        group.onSocket(udpSocket, hasNeighbours());
    }

    /// Called when the socket is bound.
    public void onBound() {
        survey.begin();
    }

    public int slot() {
        return presence.slot();
    }

    public boolean hasNeighbours() {
        return presence.count() > 0;
    }

    // --- messages from neighbours

    /// Fills frames as [Link#receive] does, with packets that neighbours have passed on.
    public int receive(Frame[] frames, int from, int count, MessageBlock incoming, Seal seal) {
        int received = services.handOut(frames, from, count);
        for (int i = 0; i < received; i++) {
            seal.judge(frames[from + i], 0);
        }
        int ready = peers.ready();
        isStuck = false;
        for (int i = 0; i < ready && received < count; i++) {
            PeerSocket one = peers.ready(i);
            if (one == null) {
                continue; // an earlier message has closed it
            }
            if (one.isListening) {
                isStuck = letIn(one) == 0;
            } else {
                received += read(one, frames, from + received, count - received, incoming, seal);
            }
        }
        return received;
    }

    /// Accepts all links that have connected; returns how many.
    private int letIn(PeerSocket listening) {
        int count = 0;
        for (int fd = PeerSockets.accept(listening); fd >= 0; fd = PeerSockets.accept(listening)) {
            count++;
            PeerSocket connection = peers.admit(fd);
            // A neighbour sends its slot at once. If the message is late, it is read like all later messages.
            if (connection != null && listening == slotSocket && LinuxSockets.read(fd, word) == Envelope.BYTES) {
                greet(connection, Envelope.helloSlot(word));
            }
        }
        return count;
    }

    private void letNeighboursIn() {
        if (slotSocket != null) {
            letIn(slotSocket);
        }
    }

    private int read(PeerSocket one, Frame[] frames, int from, int count, MessageBlock incoming, Seal seal) {
        int asked = Math.min(count, MessageBlock.COUNT);
        for (int i = 0; i < asked; i++) {
            frames[from + i].viewOwn();
            incoming.prepareEnvelopeReceive(i, frames[from + i]);
        }
        int messages = LinuxSockets.receiveMessages(one.fd, incoming.headersFrom(0), asked);
        int taken = 0;
        for (int i = 0; i < messages; i++) {
            int length = incoming.length(i);
            if (length == 0) {
                close(one); // the other end is closed; no link sends an empty message
                break;
            }
            Frame frame = frames[from + i];
            boolean isWhole = length >= Envelope.BYTES && !incoming.isTruncated(i);
            switch (isWhole ? Envelope.kind(frame) : Envelope.NONE) {
                case Envelope.PACKET -> {
                    frame.length = length - Envelope.BYTES;
                    if (isForHere(frame) && !isKept(frame, seal)) {
                        if (taken < i) {
                            frames[from + taken].copyFrom(frame);
                        }
                        taken++;
                    }
                }
                case Envelope.HELLO -> greet(one, Envelope.slot(frame));
                case Envelope.LOCATED ->
                    survey.onLocated(Envelope.slot(frame), Envelope.index(frame), Envelope.cookie(frame));
                default -> stray.incrementAndGet();
            }
        }
        assert taken <= count;
        return taken;
    }

    /// Returns whether a passed-on packet is for this link; counts it if not. It is not passed on again, so no
    /// packet travels in a circle.
    private boolean isForHere(Frame frame) {
        if (frame.length >= Link.PACKET_MIN) {
            int addressee = Addressee.of(frame);
            if (addressee < 0 || addressee == slot()) {
                return true;
            }
        }
        stray.incrementAndGet();
        return false;
    }

    private boolean isKept(Frame frame, Seal seal) {
        Envelope.open(frame);
        frame.destinationHigh = gid.high();
        frame.destinationLow = gid.low();
        seal.judge(frame, 0);
        arrived.incrementAndGet();
        return services.keep(frame);
    }

    // --- messages to neighbours

    /// Returns whether this link has nothing more to do with an arrival that is not for its slot
    /// ([Relay#passesOn]).
    public boolean passesOn(Frame frame, int addressee, LongSupplier arrivalMillis) {
        return addressee == Addressee.ANY_LINK ? onProbe(frame) : relay.passesOn(frame, addressee, arrivalMillis);
    }

    private final class Neighbours implements Relay.Ways {
        @Override
        public void letNeighboursIn() {
            SharedAddress.this.letNeighboursIn();
        }

        @Override
        public int send(PeerSocket to, Frame frame) {
            return peers.send(to.fd, frame);
        }

        @Override
        public void onMisdirected() {
            survey.onMisdirected(1);
        }
    }

    /// Offers a request, as [Services.Ways] requires.
    private Services.Offer offer(Service service, Frame frame) {
        int fd = peers.connect(service.name());
        if (fd == -LinuxAbi.EAGAIN) {
            relay.count(fd);
            return Services.Offer.NO_ROOM;
        }
        if (fd < 0) {
            return Services.Offer.UNWANTED;
        }
        Envelope.seal(frame);
        boolean isSent = relay.count(peers.send(fd, frame));
        LinuxSockets.close(fd);
        return isSent ? Services.Offer.TAKEN : Services.Offer.NO_ROOM;
    }

    // --- services

    public Gid gid() {
        return gid;
    }

    /// Implements [verbena.nic.link.ServiceClaims#claimService].
    public boolean claimService(long serviceId) {
        var service = new Service(serviceId, gid);
        if (services.isClaimed(service)) {
            return true;
        }
        PeerSocket listening = peers.listenAtOnly(service.name());
        if (listening == null) {
            return false;
        }
        services.claim(service, listening);
        return true;
    }

    /// Implements [verbena.nic.link.ServiceClaims#openService].
    public void openService(long serviceId) {
        services.open(new Service(serviceId, gid));
        wakeup.run();
    }

    /// Implements [verbena.nic.link.ServiceClaims#releaseService].
    public void releaseService(long serviceId) {
        PeerSocket listening = services.release(new Service(serviceId, gid));
        if (listening != null) {
            letIn(listening); // connections that are there already are still for this link
            close(listening);
        }
    }

    /// Returns whether it is time to look at waiting requests.
    public boolean isEarlyDue() {
        return services.isDue();
    }

    // --- sleeping

    /// Returns the descriptor to poll: readable when [#receive] has something to do. -1 for now when [#receive]
    /// could not do it.
    public int watcher() {
        return isStuck ? -1 : peers.watcher();
    }

    /// Shortens a sleep, so that it ends when the survey, a waiting request or a waiting connection needs a look.
    /// Any thread.
    public long sleepAtMost(long timeoutNanos) {
        long at = earlier(survey.due(), services.due());
        if (at == Survey.NEVER && !isStuck) {
            return timeoutNanos;
        }
        long left = at == Survey.NEVER ? STUCK_NANOS : Math.max(0, at - System.nanoTime());
        return timeoutNanos < 0 ? left : Math.min(timeoutNanos, left);
    }

    /// Returns the earlier of two times, on a clock that may overflow.
    private static long earlier(long a, long b) {
        return a == Survey.NEVER || (b != Survey.NEVER && b - a < 0) ? b : a;
    }

    // --- the survey

    /// Continues a survey, or begins one, when it is time.
    public void tick() {
        survey.tick();
    }

    /// Handles an arrival for any link if it is a probe of a neighbour or of this link. Another user may forge a
    /// probe (decision 48). This link then surveys, or sends a neighbour an answer that it did not ask for; an
    /// answer counts only with the cookie of a survey.
    private boolean onProbe(Frame frame) {
        if (!group.isProbe(frame)) {
            return false;
        }
        int index = Steering.probeIndex(frame);
        int asker = Steering.probeSlot(frame);
        long itsCookie = Steering.probeCookie(frame);
        if (asker == slot()) {
            survey.onLocated(asker, index, itsCookie);
            return true;
        }
        if (presence.neighbour(asker) == null) {
            letNeighboursIn(); // the neighbour may have just connected
        }
        PeerSocket to = presence.neighbour(asker);
        if (to != null) {
            Envelope.putLocated(word, slot(), index, itsCookie);
            boolean _ = LinuxSockets.send(to.fd, word); // no room: then the survey does not find this link
        }
        return true;
    }

    // --- counters, and the end

    /// Adds the counters of this object. Any thread.
    public void addCounters(Map<String, Long> to) {
        to.merge("shared.neighbours.now", (long) presence.count(), Long::sum);
        to.merge("shared.arrived", arrived.get(), Long::sum);
        to.merge("shared.dropped.stray", stray.get(), Long::sum);
        to.merge("shared.refused", peers.refused(), Long::sum);
        to.merge("shared.surveys", survey.surveys(), Long::sum);
        to.merge("shared.early.now", services.waiting(), Long::sum);
        relay.addCounters(to);
    }

    /// Releases slot, services and connections.
    public void close() {
        peers.close();
    }
}
