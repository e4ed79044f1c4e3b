package verbena.nic.link.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.Lifeline;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.link.FrameRing;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.PolledSleep;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.sharing.PeerSocket;
import verbena.nic.link.sharing.PeerSockets;
import verbena.nic.link.sharing.Presence;
import verbena.nic.link.sharing.Services;
import verbena.wire.Frame;

/// The neighbours of a [ShmLink]: how links of this host find each other, and what they say over their sockets.
///
/// A neighbour says its slot first ([Roster]), then sends the file that it has made, the bell that wakes it, and its
/// lifeline ([ShmMessages]). A request for a service comes over a connection of its own.
///
/// For one thread at a time, except where a method allows any thread.
final class ShmNeighbours {
    /// The beginning of the names of all links. Its number is the version of the messages by sockets and rings:
    /// links with another number do not meet, as if on another host.
    static final String PLACE = "shm/3";
    private static final String SLOT = "slot-";

    private static final int SOCKET_BUFFER_BYTES = 1 << 20;
    /// The number of messages of one socket that are read before the next socket's.
    private static final int MESSAGES_MAX = 64;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final LinuxSockets linux;
    private final ShmMessages messages;
    private final MemorySegment one;
    private final PolledSleep sleep;
    private final PeerSockets peers;
    private final Roster roster = new Roster(new Sockets());
    private @Nullable PeerSocket slotSocket;

    /// The neighbours whose frames are read. The array never changes, but is replaced; the sleeping thread reads
    /// it.
    private volatile ShmNeighbour[] heard = {};
    /// Whether a link has connected and cannot be accepted, because this process has no descriptor left. The
    /// sleeping thread reads it.
    private volatile boolean isStuck;

    final NeighbourNews news = new NeighbourNews();

    // Written here, read by any thread.
    private final AtomicLong stray = new AtomicLong();

    /// @param sleep of the link: neighbours ring its bell
    /// @throws LinkException when the system does not permit it, or all slots are taken
    ShmNeighbours(LinuxSockets linux, Arena arena, PolledSleep sleep) {
        this.linux = linux;
        this.sleep = sleep;
        messages = new ShmMessages(arena);
        one = arena.allocate(JAVA_LONG);
        one.set(JAVA_LONG, 0, 1);
        peers = new PeerSockets(linux, arena, new MessageBlock(arena), "this host", PLACE, SOCKET_BUFFER_BYTES);
    }

    // --- who is there

    /// Takes a slot, and connects to each link that is there already. Later links connect to this one.
    ///
    /// @throws LinkException when the system does not permit it, or all slots are taken
    void meet() {
        try (var _ = new MeetingTurn(peers)) {
            takePlace();
        }
    }

    private void takePlace() {
        int own = Presence.draw(RANDOM, this::takeSlot);
        if (own == PeerSocket.NO_SLOT) {
            throw new LinkException(
                    LinkException.Kind.PORT_IN_USE,
                    "shm: all " + Presence.SLOTS + " slots of this host are taken"
                            + peers.othersShare(SLOT, Presence.SLOTS));
        }
        roster.settle(own);
        peers.connectEach(SLOT, Presence.SLOTS, own, (other, fd) -> {
            boolean _ = messages.sendHello(fd, own); // the neighbour may end at this moment
            PeerSocket connection = peers.watch(fd);
            if (connection != null) {
                roster.onConnected(connection, other);
            }
        });
    }

    private boolean takeSlot(int slot) {
        slotSocket = peers.listen(slotName(slot));
        return slotSocket != null;
    }

    private static String slotName(int slot) {
        return SLOT + slot;
    }

    /// The sockets of this link, as its roster needs them.
    private final class Sockets implements Roster.Ground {
        @Override
        public boolean isOpen(PeerSocket connection) {
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment polled = scratch.allocate(Pollfd.BYTES, 8);
                Pollfds.watch(polled, 0, connection.fd, 0); // the kernel always tells of the end
                return LinuxSockets.poll(polled, 1, scratch.allocate(Timespec.BYTES, 8)) <= 0;
            }
        }

        @Override
        public void answer(PeerSocket connection) {
            boolean _ = messages.sendHello(connection.fd, slot()); // the neighbour may end at this moment
        }

        @Override
        public void read(PeerSocket connection) {
            int _ = readMessage(connection);
        }

        @Override
        public void hold(PeerSocket connection) {
            peers.hold(connection);
        }

        @Override
        public void resume(PeerSocket connection) {
            peers.resume(connection);
        }

        @Override
        public @Nullable PeerSocket watch(int descriptor) {
            return peers.watch(descriptor);
        }

        @Override
        public void close(PeerSocket socket) {
            peers.close(socket);
        }

        @Override
        public void onDying(int slot) {
            news.dying(slot);
        }

        @Override
        public void onGone(int slot, ShmNeighbour neighbour) {
            heard = Arrays.stream(heard).filter(each -> each != neighbour).toArray(ShmNeighbour[]::new);
            news.gone(slot, neighbour);
            sleep.wakeup(); // a thread that sleeps has not seen the news
        }
    }

    /// Closes a connection, and with it what the neighbour has shared.
    void close(PeerSocket connection) {
        roster.close(connection);
    }

    int slot() {
        return roster.slot();
    }

    /// Returns how many neighbours there are. Any thread.
    int count() {
        return roster.count();
    }

    /// Returns the neighbour with a slot, which may have connected just now.
    @Nullable
    ShmNeighbour neighbour(int slot) {
        ShmNeighbour known = roster.neighbour(slot);
        if (known == null && slotSocket != null) {
            int _ = letIn(slotSocket);
            known = roster.neighbour(slot);
        }
        return known;
    }

    /// Returns the neighbours whose frames are read. Any thread.
    ShmNeighbour[] heard() {
        return heard;
    }

    // --- frames

    /// Returns the ring that leads to a neighbour; null when it cannot be had now.
    @Nullable
    FrameRing ringTo(ShmNeighbour neighbour) {
        if (neighbour.outgoing == null) {
            int file = neighbour.makeFile();
            boolean isSent = file >= 0 && send(neighbour, ShmMessages.FILE, file);
            closeDescriptor(file);
            if (!isSent) {
                neighbour.dropFile();
                return null;
            }
            giveBell(neighbour);
        }
        return neighbour.outgoing;
    }

    private void giveBell(ShmNeighbour neighbour) {
        if (!neighbour.hasOurBell && send(neighbour, ShmMessages.BELL, sleep.bell())) {
            neighbour.hasOurBell = true;
            int life = Lifeline.descriptor();
            boolean _ = life >= 0 && send(neighbour, ShmMessages.LIFELINE, life);
        }
    }

    /// Wakes a neighbour that sleeps.
    void wake(ShmNeighbour neighbour) {
        if (!neighbour.ring(one)) {
            boolean _ = send(neighbour, ShmMessages.WAKE, -1); // where there is no room, its socket is readable already
        }
    }

    // --- what neighbours tell each other

    /// Implements [Neighbours#tell].
    boolean tell(int slot, MemorySegment told, int descriptor) {
        assert told.byteSize() <= Neighbours.MESSAGE_MAX : told.byteSize();
        ShmNeighbour to = neighbour(slot);
        if (to == null) {
            return false;
        }
        return messages.sendTold(to.socket.fd, told, descriptor);
    }

    /// Implements [Neighbours#ownPage].
    MemorySegment ownPage(int slot) {
        ShmNeighbour neighbour = neighbour(slot);
        return neighbour == null || ringTo(neighbour) == null ? MemorySegment.NULL : neighbour.ownPage();
    }

    /// Implements [Neighbours#theirPage].
    MemorySegment theirPage(int slot) {
        ShmNeighbour neighbour = roster.neighbour(slot);
        return neighbour == null ? MemorySegment.NULL : neighbour.theirPage();
    }

    /// Implements [Neighbours#process].
    int process(int slot) {
        ShmNeighbour neighbour = roster.neighbour(slot);
        return neighbour == null ? 0 : Math.max(0, linux.peerProcess(neighbour.socket.fd));
    }

    /// Returns the ring that leads to the neighbour with a slot; null when there is none yet.
    @Nullable
    FrameRing outgoing(int slot) {
        ShmNeighbour neighbour = roster.neighbour(slot);
        return neighbour == null ? null : neighbour.outgoing;
    }

    /// Implements [Neighbours#isThere].
    boolean isThere(int slot) {
        return roster.isThere(slot);
    }

    private boolean send(ShmNeighbour to, int kind, int descriptor) {
        return messages.send(to.socket.fd, kind, descriptor);
    }

    // --- sockets

    /// Returns the descriptor to poll: readable when [#ready()] has something to report.
    int watcher() {
        return peers.watcher();
    }

    /// Returns how many sockets have something.
    int ready() {
        isStuck = false;
        return peers.ready();
    }

    /// Returns whether sockets have something that cannot be read now. Any thread.
    boolean isStuck() {
        return isStuck;
    }

    /// Reads what the i-th of these sockets has: fills `frames[from]` and its successors with requests that came,
    /// at most `count`; returns how many. A connection that brings a request waits while there is no room for it.
    int read(int i, Frame[] frames, int from, int count) {
        PeerSocket socket = peers.ready(i);
        if (socket == null) {
            return 0; // an earlier message has closed it
        }
        if (socket.isListening) {
            isStuck |= letIn(socket) == 0;
            return 0;
        }
        if (socket.lifelineOf != null) {
            roster.onDying(socket.lifelineOf);
            return 0;
        }
        if (roster.isWaiting(socket)) {
            roster.onWaiting(socket);
            return 0;
        }
        int taken = 0;
        for (int j = 0; j < MESSAGES_MAX && (taken < count || socket.slot != PeerSocket.NO_SLOT); j++) {
            int length = readMessage(socket);
            if (length == 0) {
                break;
            }
            if (length > 0) {
                taken += readFrame(length, frames, from + taken, count - taken);
            }
        }
        return taken;
    }

    /// Accepts all links that have connected; returns how many.
    private int letIn(PeerSocket listening) {
        int count = 0;
        for (int fd = PeerSockets.accept(listening); fd >= 0; fd = PeerSockets.accept(listening)) {
            count++;
            PeerSocket connection = peers.admit(fd);
            if (connection != null && listening == slotSocket) {
                int _ = readMessage(connection); // a neighbour says at once which it is
            }
        }
        return count;
    }

    /// Reads a message of a connection. The answer is its length when it is a frame, a negative number when it was
    /// something else, and 0 when there is no more.
    private int readMessage(PeerSocket socket) {
        int length = messages.receive(socket.fd);
        if (length == 0) {
            return 0;
        }
        if (length < 0) {
            close(socket);
            return 0;
        }
        if (length < ShmMessages.CONTENT) {
            stray.incrementAndGet();
            closeDescriptor(messages.descriptor());
            return -1;
        }
        if (messages.kind() == ShmMessages.PACKET) {
            closeDescriptor(messages.descriptor());
            return length;
        }
        onMessage(socket, length, messages.descriptor());
        return roster.isWaiting(socket) ? 0 : -1;
    }

    private int readFrame(int messageLength, Frame[] frames, int at, int room) {
        if (room == 0 || !messages.readFrame(messageLength, frames[at])) {
            stray.incrementAndGet();
            return 0;
        }
        return 1;
    }

    private void onMessage(PeerSocket socket, int length, int descriptor) {
        int kind = messages.kind();
        if (kind == ShmMessages.HELLO) {
            closeDescriptor(descriptor);
            if (!roster.onHello(socket, messages.helloSlot())) {
                stray.incrementAndGet();
            }
            return;
        }
        ShmNeighbour neighbour = roster.at(socket);
        if (neighbour == null) {
            closeDescriptor(descriptor);
            stray.incrementAndGet();
            return;
        }
        switch (kind) {
            case ShmMessages.FILE -> onFile(neighbour, descriptor);
            case ShmMessages.BELL -> neighbour.takeBell(descriptor);
            case ShmMessages.LIFELINE -> onLifeline(neighbour, descriptor);
            case ShmMessages.TOLD -> news.told(socket.slot, messages.told(length), descriptor);
            default -> {
                closeDescriptor(descriptor);
                if (kind != ShmMessages.WAKE) {
                    stray.incrementAndGet();
                }
            }
        }
    }

    private void onFile(ShmNeighbour neighbour, int descriptor) {
        if (descriptor >= 0 && neighbour.takeFile(descriptor)) {
            ShmNeighbour[] more = Arrays.copyOf(heard, heard.length + 1);
            more[heard.length] = neighbour;
            heard = more;
            sleep.wakeup(); // a thread that sleeps has not asked this neighbour to ring
            giveBell(neighbour);
        } else {
            stray.incrementAndGet();
        }
        closeDescriptor(descriptor);
    }

    private void onLifeline(ShmNeighbour neighbour, int descriptor) {
        if (descriptor < 0 || !roster.onLifeline(neighbour, descriptor)) {
            stray.incrementAndGet();
            closeDescriptor(descriptor);
        }
    }

    private static void closeDescriptor(int descriptor) {
        if (descriptor >= 0) {
            LinuxSockets.close(descriptor);
        }
    }

    // --- services

    /// Listens at the name of a service; null when another link of our user has it.
    ///
    /// @throws LinkException when another user has it
    @Nullable
    PeerSocket listen(String name) {
        return peers.listenAtOnly(name);
    }

    /// Stops listening. Connections that are there already are still for this link.
    void stop(PeerSocket listening) {
        int _ = letIn(listening);
        peers.close(listening);
    }

    /// Offers a request to the link that listens at a name.
    Services.Offer offer(String name, Frame frame) {
        int fd = peers.connect(name);
        if (fd == -LinuxAbi.EAGAIN) {
            return Services.Offer.NO_ROOM;
        }
        if (fd < 0) {
            return Services.Offer.UNWANTED;
        }
        boolean isSent = messages.sendFrame(fd, frame);
        LinuxSockets.close(fd);
        return isSent ? Services.Offer.TAKEN : Services.Offer.NO_ROOM;
    }

    // --- the end

    /// Adds the counters of this object. Any thread.
    void addCounters(Map<String, Long> to) {
        to.put("shm.neighbours.now", (long) roster.count());
        to.put("shm.refused", peers.refused());
        to.put("shm.stray", stray.get());
    }

    /// Closes sockets and memory; the listener gets no more events.
    void close() {
        roster.forEach(ShmNeighbour::close);
        news.drop();
        peers.close();
    }
}
