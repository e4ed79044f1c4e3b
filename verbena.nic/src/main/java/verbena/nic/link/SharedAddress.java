package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.LinuxAbi.EpollEvent;
import verbena.nic.link.LinuxAbi.SockaddrUn;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// One address whose UDP port several links of this host have, in one process or in many of one user.
///
/// Each holds a slot, a part of all numbers that are given out at this address ([Link#slot()]), by listening at a
/// name that nobody else can have meanwhile: an abstract local socket (unix(7)), which the kernel takes away when
/// the process ends, however it ends, and which is as wide as the port, one network namespace. This is its side
/// door. Whoever comes later connects to the side doors of all who are there; so each knows its neighbours, and
/// the end of one ends its connections. The kernel says who is at the other end (SO_PEERCRED): nobody but the own
/// user is listened to or told anything.
///
/// - **Forwarding makes it right.** The kernel hands an arriving packet to any of the sockets. Whoever gets one
/// with a number of another's slot passes it through that one's side door, in an [Envelope], never twice. One that
/// has waited too long is not passed on: a process that was stopped would send out what is long out of date.
/// - **Steering makes it fast.** With [Steering] the kernel hands packets to the right one at once. It has to know
/// each one's index in the kernel's group of sockets, which changes when one leaves. A [Survey] finds them. A link
/// that has joined surveys; when one has left, the neighbour with the lowest slot; and any that has to forward much.
///
/// Belongs to whoever may receive on the link. Nothing here waits for anybody.
final class SharedAddress implements EarlyRequests.Servers, Survey.Ground {
    /// Parts that the numbers are divided into.
    static final int SLOTS = 256;

    // As long as a packet may have waited in another's socket: by far more than a busy process needs, and by far less
    // than sequence numbers take to come round (2^24 packets).
    private static final long LATE_MILLIS = 1_000;
    // Those who have connected and were not let in yet; the system's limit (net.core.somaxconn) is often this.
    private static final int BACKLOG = 4_096;
    private static final int EVENTS = 32;
    // When the process has no descriptor left for who has connected, it looks again after this.
    private static final long STUCK_NANOS = 100_000_000;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final LinuxSockets linux;
    private final MessageBlock outgoing;
    private final Gid gid;
    private final int scopeId;
    private final int port;
    private final String prefix;
    private final int user = LinuxSockets.effectiveUser();
    private final int sendBufferBytes;
    private final Runnable wakeup;
    private final int watcher;
    private int slot;
    private @Nullable Door slotDoor;
    private int socket = -1;

    private final MemorySegment event;
    private final MemorySegment events;
    private final MemorySegment word;
    private final Frame probe;

    // By the number that the watcher tells.
    private @Nullable Door[] doors = new @Nullable Door[16];
    // By slot.
    private final @Nullable Door[] neighbours = new @Nullable Door[SLOTS];
    private volatile int neighbourCount;
    // Somebody has connected and cannot be let in: this process has no descriptor left. The sleeper reads it.
    private volatile boolean isStuck;
    private final Map<Long, Door> services = new HashMap<>();
    private final Set<Long> served = new HashSet<>();
    private final EarlyRequests early;
    private final Survey survey = new Survey(this, System::nanoTime);

    // Counted here, read by anybody.
    private final AtomicLong forwarded = new AtomicLong();
    private final AtomicLong arrived = new AtomicLong();
    private final AtomicLong full = new AtomicLong();
    private final AtomicLong gone = new AtomicLong();
    private final AtomicLong late = new AtomicLong();
    private final AtomicLong stray = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    /// A local socket: one that others connect to, or a connection.
    static final class Door {
        final int fd;
        final int number;
        final boolean listening;
        /// Who is behind a connection, -1 when that one has not said yet, or is nobody's neighbour.
        int slot = -1;

        private Door(int fd, int number, boolean listening) {
            this.fd = fd;
            this.number = number;
            this.listening = listening;
        }
    }

    private SharedAddress(
            LinuxSockets linux,
            Arena arena,
            MessageBlock outgoing,
            GidEntry at,
            int port,
            int sendBufferBytes,
            Runnable wakeup) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.gid = at.gid();
        this.scopeId = gid.isLinkLocal() ? at.interfaceIndex() : 0;
        this.port = port;
        this.prefix = "verbena/" + gid + (scopeId == 0 ? "" : "%" + scopeId) + "/" + port + "/";
        this.sendBufferBytes = sendBufferBytes;
        this.wakeup = wakeup;
        event = arena.allocate(EpollEvent.BYTES, 8);
        events = arena.allocate((long) EVENTS * EpollEvent.BYTES, 8);
        word = arena.allocate(Envelope.BYTES, 8);
        probe = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        early = new EarlyRequests(arena, System::nanoTime);
        watcher = linux.watcher();
        if (watcher < 0) {
            throw failed("epoll", watcher);
        }
    }

    /// Takes a slot, the same at all addresses, drawn from those that are free, and connects to the neighbours.
    ///
    /// @param outgoing free whenever no call of these objects is under way
    /// @param wakeup makes the link's sleeper look at [#sleepAtMost(long)] again
    /// @throws LinkException when there is none, or the system does not let us
    static SharedAddress[] claim(
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
            int slot = claimSlot(all); // each has its slotDoor then
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

    private static int claimSlot(List<SharedAddress> all) {
        int[] order = IntStream.range(0, SLOTS).toArray();
        for (int i = 0; i < SLOTS; i++) {
            int other = i + RANDOM.nextInt(SLOTS - i);
            int candidate = order[other];
            order[other] = order[i];
            List<Door> doors = listenEverywhere(all, slotName(candidate));
            if (doors != null) {
                for (int k = 0; k < all.size(); k++) {
                    all.get(k).slotDoor = doors.get(k);
                }
                return candidate;
            }
        }
        throw new LinkException(
                LinkException.Kind.PORT_IN_USE,
                "address " + all.getFirst().gid + ": all " + SLOTS + " slots of those who share it are taken");
    }

    private static String slotName(int slot) {
        return "slot-" + slot;
    }

    // Null when somebody has the name at one of the addresses.
    private static @Nullable List<Door> listenEverywhere(List<SharedAddress> all, String name) {
        var opened = new ArrayList<Door>();
        boolean everywhere = false;
        try {
            for (SharedAddress address : all) {
                Door door = address.listen(name);
                if (door == null) {
                    return null;
                }
                opened.add(door);
            }
            everywhere = true;
            return opened;
        } finally {
            for (int i = 0; !everywhere && i < opened.size(); i++) {
                all.get(i).close(opened.get(i));
            }
        }
    }

    private @Nullable Door listen(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            throw failed("a local socket", fd);
        }
        int result = linux.bind(fd, address(name));
        if (result == 0) {
            result = linux.listen(fd, BACKLOG);
        }
        if (result < 0) {
            LinuxSockets.close(fd);
            if (result == -LinuxAbi.EADDRINUSE) {
                return null;
            }
            throw failed("listening at the local socket @" + prefix + name, result);
        }
        Door door = add(fd, true);
        if (door == null) {
            throw new LinkException(
                    LinkException.Kind.FAILED, "sharing " + gid + ": the system watches no more descriptors");
        }
        return door;
    }

    private LinkException failed(String what, int result) {
        boolean forbidden = result == -LinuxAbi.EPERM || result == -LinuxAbi.EACCES;
        return new LinkException(
                forbidden ? LinkException.Kind.NOT_PERMITTED : LinkException.Kind.FAILED,
                "sharing " + gid + ": " + what + ": " + LinuxSockets.message(-result)
                        + (forbidden ? "; the portable link, which shares with nobody, needs none" : ""));
    }

    // A name in the abstract namespace begins with a zero.
    private MemorySegment address(String name) {
        byte[] path = (prefix + name).getBytes(StandardCharsets.US_ASCII);
        MemorySegment address = Arena.ofAuto().allocate(SockaddrUn.SUN_PATH + 1L + path.length, 8);
        address.set(JAVA_SHORT, SockaddrUn.SUN_FAMILY, (short) LinuxAbi.AF_UNIX);
        MemorySegment.copy(path, 0, address, JAVA_BYTE, SockaddrUn.SUN_PATH + 1, path.length);
        return address;
    }

    // Null, and the descriptor closed, when the system cannot watch it.
    private @Nullable Door add(int fd, boolean listening) {
        int number = 0;
        while (number < doors.length && doors[number] != null) {
            number++;
        }
        event.set(JAVA_INT, EpollEvent.EVENTS, LinuxAbi.EPOLLIN);
        event.set(JAVA_INT, EpollEvent.DATA, number);
        if (linux.watch(watcher, fd, event) < 0) {
            LinuxSockets.close(fd);
            return null;
        }
        if (number == doors.length) {
            doors = Arrays.copyOf(doors, 2 * number);
        }
        var door = new Door(fd, number, listening);
        doors[number] = door;
        return door;
    }

    private void close(Door door) {
        doors[door.number] = null;
        LinuxSockets.close(door.fd);
        if (door.slot < 0 || neighbours[door.slot] != door) {
            return;
        }
        neighbours[door.slot] = null;
        survey.onGone(door.slot);
        setNeighbourCount(neighbourCount - 1);
        if (isFirst()) {
            survey.begin();
        }
    }

    private boolean isFirst() {
        for (int i = 0; i < slot; i++) {
            if (neighbours[i] != null) {
                return false;
            }
        }
        return neighbourCount > 0;
    }

    // Only with neighbours does the kernel take down when packets come: it costs a little for each.
    private void setNeighbourCount(int count) {
        if ((count == 0) != (neighbourCount == 0) && socket >= 0) {
            stampArrivals(count > 0);
        }
        neighbourCount = count;
    }

    private void stampArrivals(boolean on) {
        int _ = linux.setOption(socket, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_TIMESTAMPNS, on ? 1 : 0);
    }

    // Each who was there before is met here; each who comes later meets us.
    private void meet(int ownSlot) {
        slot = ownSlot;
        Envelope.putHello(word, slot);
        for (int other = 0; other < SLOTS; other++) {
            if (other == slot) {
                continue;
            }
            int fd = connect(slotName(other));
            if (fd < 0) {
                continue;
            }
            boolean _ = LinuxSockets.send(fd, word); // that one may have ended this moment: then we are told so
            Door door = add(fd, false);
            if (door != null) {
                greet(door, other);
            }
        }
    }

    // A descriptor, or a negated errno.
    private int connect(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            return fd;
        }
        int result = linux.connect(fd, address(name));
        if (result == 0 && !isOurUser(fd)) {
            result = -LinuxAbi.EPERM;
        }
        if (result < 0) {
            LinuxSockets.close(fd);
            return result;
        }
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, sendBufferBytes);
        return fd;
    }

    private boolean isOurUser(int fd) {
        if (linux.peerUser(fd) == user) {
            return true;
        }
        refused.incrementAndGet();
        return false;
    }

    private void greet(Door door, int other) {
        if (other < 0 || other == slot) {
            stray.incrementAndGet();
            return;
        }
        door.slot = other;
        boolean isNew = neighbours[other] == null;
        neighbours[other] = door;
        if (isNew) {
            setNeighbourCount(neighbourCount + 1);
        }
    }

    /// The socket is about to be bound: what is bound is in the kernel's group.
    void onSocket(int udpSocket) {
        socket = udpSocket;
        if (neighbourCount > 0) {
            stampArrivals(true);
        }
    }

    /// It is bound.
    void onBound() {
        survey.begin();
    }

    int slot() {
        return slot;
    }

    /// What can be polled: readable when [#receive] has something to do; -1 for now when it could not do it.
    int watcher() {
        return isStuck ? -1 : watcher;
    }

    boolean hasNeighbours() {
        return neighbourCount > 0;
    }

    // --- what comes by the side door

    /// Fills frames as [Link#receive] does, with what neighbours have passed on.
    int receive(Frame[] frames, int from, int count, MessageBlock incoming, UdpLink link) {
        int received = early.handOut(frames, from, count, this);
        for (int i = 0; i < received; i++) {
            frames[from + i].icrcValid = link.isWhole(frames[from + i], 0);
        }
        int ready = LinuxSockets.ready(watcher, events, EVENTS);
        isStuck = false;
        for (int i = 0; i < ready && received < count; i++) {
            Door door = doors[events.get(JAVA_INT, (long) i * EpollEvent.BYTES + EpollEvent.DATA)];
            if (door == null) {
                continue; // closed a moment ago
            }
            if (door.listening) {
                isStuck = letIn(door) == 0;
            } else {
                received += read(door, frames, from + received, count - received, incoming, link);
            }
        }
        return received;
    }

    // How many have come.
    private int letIn(Door door) {
        int count = 0;
        for (int fd = LinuxSockets.accept(door.fd); fd >= 0; fd = LinuxSockets.accept(door.fd)) {
            count++;
            if (isOurUser(fd)) {
                int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, sendBufferBytes);
                Door connection = add(fd, false);
                // A neighbour says so at once. If not quite, it is read like all that follows.
                if (connection != null && door == slotDoor && LinuxSockets.read(fd, word) == Envelope.BYTES) {
                    greet(connection, Envelope.helloSlot(word));
                }
            } else {
                LinuxSockets.close(fd);
            }
        }
        return count;
    }

    private int read(Door door, Frame[] frames, int from, int count, MessageBlock incoming, UdpLink link) {
        int asked = Math.min(count, MessageBlock.COUNT);
        for (int i = 0; i < asked; i++) {
            frames[from + i].viewOwn();
            incoming.prepareEnvelopeReceive(i, frames[from + i]);
        }
        int messages = LinuxSockets.receiveMessages(door.fd, incoming.headersFrom(0), asked);
        int taken = 0;
        for (int i = 0; i < messages; i++) {
            int length = incoming.length(i);
            if (length == 0) {
                close(door); // the other end is closed; nobody sends nothing
                break;
            }
            Frame frame = frames[from + i];
            if (length < Envelope.BYTES || incoming.isTruncated(i)) {
                stray.incrementAndGet();
                continue;
            }
            switch (Envelope.kind(frame)) {
                case Envelope.PACKET -> {
                    frame.length = length - Envelope.BYTES;
                    if (!isForHere(frame)) {
                        stray.incrementAndGet();
                        continue;
                    }
                    take(frame, link);
                    if (!waits(frame)) {
                        if (taken < i) {
                            frames[from + taken].copyFrom(frame);
                        }
                        taken++;
                    }
                }
                case Envelope.HELLO -> greet(door, Envelope.slot(frame));
                case Envelope.LOCATED ->
                    survey.onLocated(Envelope.slot(frame), Envelope.index(frame), Envelope.cookie(frame));
                default -> stray.incrementAndGet();
            }
        }
        return taken;
    }

    // What is not is not passed on again: there is no way round in a circle.
    private boolean isForHere(Frame frame) {
        if (frame.length < UdpLink.PACKET_MIN) {
            return false;
        }
        int addressee = Addressee.of(frame);
        return addressee < 0 || addressee == slot;
    }

    private void take(Frame frame, UdpLink link) {
        Envelope.open(frame);
        frame.destinationHigh = gid.high();
        frame.destinationLow = gid.low();
        frame.icrcValid = link.isWhole(frame, 0);
        arrived.incrementAndGet();
    }

    // --- what goes by side doors

    /// The connection to the neighbour with this slot; null when there is none.
    @Nullable
    Door neighbour(int other) {
        if (neighbours[other] == null) {
            letNeighboursIn(); // perhaps that one has just come
        }
        return neighbours[other];
    }

    /// Whether nobody else is here.
    boolean isAlone() {
        if (neighbourCount == 0) {
            letNeighboursIn();
        }
        return neighbourCount == 0;
    }

    private void letNeighboursIn() {
        if (slotDoor != null) {
            letIn(slotDoor);
        }
    }

    /// Whether something that arrived then may still be passed on; counts it when not.
    boolean isInTime(long arrivalMillis) {
        if (Math.abs(System.currentTimeMillis() - arrivalMillis) <= LATE_MILLIS) {
            return true;
        }
        late.incrementAndGet();
        return false;
    }

    /// Sends the first messages of a block, envelopes, to a neighbour; what it has no room for is lost.
    void forward(Door door, MessageBlock envelopes, int count) {
        int result = linux.sendMessages(door.fd, envelopes.headersFrom(0), count);
        int sent = Math.max(result, 0);
        forwarded.addAndGet(sent);
        if (sent < count) {
            boolean isFull = result >= 0 || result == -LinuxAbi.EAGAIN || result == -LinuxAbi.ENOBUFS;
            (isFull ? full : gone).addAndGet(count - sent);
        }
        survey.onMisdirected(sent);
    }

    @Override
    public boolean isServedHere(long serviceId) {
        return served.contains(serviceId);
    }

    /// A request that has waited goes to whoever has claimed the service; false when that is nobody, or this link, or
    /// there is no room for it now.
    @Override
    public boolean passOn(Frame frame, long serviceId) {
        return offer(frame, serviceId) == Offer.TAKEN;
    }

    /// Passes a request to whoever has claimed the service, or drops it when that one has no room; false when nobody
    /// has, or this link.
    boolean forwardToService(Frame frame, long serviceId) {
        return offer(frame, serviceId) != Offer.UNWANTED;
    }

    private enum Offer {
        TAKEN,
        NO_ROOM,
        UNWANTED
    }

    private Offer offer(Frame frame, long serviceId) {
        if (services.containsKey(serviceId)) {
            return Offer.UNWANTED;
        }
        int fd = connect(serviceName(serviceId));
        if (fd == -LinuxAbi.EAGAIN) {
            full.incrementAndGet();
            return Offer.NO_ROOM;
        }
        if (fd < 0) {
            return Offer.UNWANTED;
        }
        Envelope.seal(frame);
        boolean isSent = send(fd, frame);
        (isSent ? forwarded : full).incrementAndGet();
        LinuxSockets.close(fd);
        return isSent ? Offer.TAKEN : Offer.NO_ROOM;
    }

    /// Keeps a request for a while that nobody serves yet; false when it is none, or there is no room.
    boolean waits(Frame frame) {
        if (Addressee.of(frame) != Addressee.SERVICE) {
            return false;
        }
        long serviceId = Addressee.service(frame);
        return !isServedHere(serviceId) && early.hold(frame, serviceId);
    }

    /// Whether requests that have waited are to be looked at.
    boolean isEarlyDue() {
        return early.isDue();
    }

    /// Passes a packet to every neighbour.
    void forwardToAll(Frame frame) {
        Envelope.seal(frame);
        for (Door door : neighbours) {
            if (door != null) {
                (send(door.fd, frame) ? forwarded : full).incrementAndGet();
            }
        }
    }

    private static boolean send(int fd, Frame frame) {
        return LinuxSockets.send(fd, frame.slot.asSlice(Envelope.START, Envelope.BYTES + frame.length));
    }

    // --- services

    /// As [Link#claimService(long)], at all addresses or at none.
    static boolean claimService(SharedAddress[] all, long serviceId) {
        if (all[0].services.containsKey(serviceId)) {
            return true;
        }
        List<Door> opened = listenEverywhere(List.of(all), serviceName(serviceId));
        if (opened == null) {
            return false;
        }
        for (int i = 0; i < all.length; i++) {
            all[i].services.put(serviceId, opened.get(i));
        }
        return true;
    }

    /// As [Link#openService(long)].
    void openService(long serviceId) {
        served.add(serviceId);
        early.hurry();
        wakeup.run();
    }

    /// As [Link#releaseService(long)].
    void releaseService(long serviceId) {
        served.remove(serviceId);
        Door door = services.remove(serviceId);
        if (door != null) {
            letIn(door); // what has come already is still ours
            close(door);
        }
    }

    private static String serviceName(long serviceId) {
        return String.format("service-%016x", serviceId);
    }

    // --- where everybody is

    /// No longer than until the survey needs to be looked at, or those who wait outside.
    long sleepAtMost(long timeoutNanos) {
        long at = earlier(survey.due(), early.due());
        if (at == Survey.NEVER && !isStuck) {
            return timeoutNanos;
        }
        long left = at == Survey.NEVER ? STUCK_NANOS : Math.max(0, at - System.nanoTime());
        return timeoutNanos < 0 ? left : Math.min(timeoutNanos, left);
    }

    // On a clock that may pass through its end.
    private static long earlier(long a, long b) {
        return a == Survey.NEVER || (b != Survey.NEVER && b - a < 0) ? b : a;
    }

    /// Goes on with a survey, or begins one, when it is time.
    void tick() {
        survey.tick();
    }

    @Override
    public boolean isTaken(int other) {
        return other == slot || neighbours[other] != null;
    }

    @Override
    public int neighbours() {
        return neighbourCount;
    }

    @Override
    public void hurry() {
        wakeup.run();
    }

    @Override
    public void probe(int index, long cookie) {
        probe.slot.asSlice(probe.start, Steering.PROBE_BYTES).fill((byte) 0);
        BigEndian.put24(probe.slot, probe.start, Steering.PROBE);
        BigEndian.put8(probe.slot, probe.start + Steering.PROBE_INDEX_AT, index);
        BigEndian.put8(probe.slot, probe.start + Steering.PROBE_SLOT_AT, slot);
        BigEndian.put64(probe.slot, probe.start + Steering.PROBE_COOKIE_AT, cookie);
        probe.length = Steering.PROBE_BYTES;
        probe.destinationHigh = gid.high();
        probe.destinationLow = gid.low();
        outgoing.prepareSend(0, 0, probe, port, scopeId);
        int _ = linux.sendMessages(socket, outgoing.headersFrom(0), 1);
    }

    /// Takes an arrival that is for anybody, if it is a probe of a neighbour or of this link: one from this very
    /// address and port. Another user who forges that (decision 0050) has us survey, or tell a neighbour what it
    /// did not ask; what is told counts only with the cookie of a survey.
    boolean onProbe(Frame frame) {
        if (frame.length != Steering.PROBE_BYTES
                || BigEndian.u24(frame.slot, frame.start) != Steering.PROBE
                || frame.sourcePort != port
                || frame.sourceHigh != gid.high()
                || frame.sourceLow != gid.low()) {
            return false;
        }
        int index = BigEndian.u8(frame.slot, frame.start + Steering.PROBE_INDEX_AT);
        int asker = BigEndian.u8(frame.slot, frame.start + Steering.PROBE_SLOT_AT);
        long itsCookie = BigEndian.i64(frame.slot, frame.start + Steering.PROBE_COOKIE_AT);
        if (asker == slot) {
            survey.onLocated(slot, index, itsCookie);
            return true;
        }
        Door door = neighbour(asker);
        if (door != null) {
            Envelope.putLocated(word, slot, index, itsCookie);
            boolean _ = LinuxSockets.send(door.fd, word); // full: then the survey does not find us
        }
        return true;
    }

    @Override
    public boolean steer(int[] indexes) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment program = Steering.layOut(Steering.program(indexes), call);
            // A sandbox may forbid it: then everything is forwarded.
            return linux.setOption(socket, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ATTACH_REUSEPORT_CBPF, program) >= 0;
        }
    }

    // --- figures, and the end

    /// Adds what has been counted here. Any thread.
    void addCounters(Map<String, Long> to) {
        to.merge("shared.neighbours", (long) neighbourCount, Long::sum);
        to.merge("shared.forwarded", forwarded.get(), Long::sum);
        to.merge("shared.arrived", arrived.get(), Long::sum);
        to.merge("shared.dropped.full", full.get(), Long::sum);
        to.merge("shared.dropped.gone", gone.get(), Long::sum);
        to.merge("shared.dropped.late", late.get(), Long::sum);
        to.merge("shared.dropped.stray", stray.get(), Long::sum);
        to.merge("shared.refused", refused.get(), Long::sum);
        to.merge("shared.surveys", survey.surveys(), Long::sum);
        to.merge("shared.early", (long) early.size(), Long::sum);
    }

    /// Gives back slot, services and connections.
    void close() {
        for (Door door : doors) {
            if (door != null) {
                LinuxSockets.close(door.fd);
            }
        }
        LinuxSockets.close(watcher);
    }
}
