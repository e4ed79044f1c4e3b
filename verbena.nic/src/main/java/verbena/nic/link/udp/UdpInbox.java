package verbena.nic.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.link.Link;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.Seal;
import verbena.nic.link.sharing.Addressee;
import verbena.nic.link.sharing.SharedAddress;
import verbena.wire.Frame;

/// The messages that have arrived at the sockets of a [LinuxUdpLink]. Each has one or more packets, which are handed
/// out one by one.
///
/// Messages from `message` to `arrived` of the block are left; the first `consumed` bytes of the first of them are
/// done.
///
/// For one thread at a time, except [#aboutToSleep()].
final class UdpInbox {
    /// The size of a buffer, which holds any message. It is not a power of two, so that the beginnings of all
    /// buffers do not compete for the same few cache lines.
    private static final int LANDING_BYTES = Frame.HEADROOM + (1 << 16) + 192;
    /// The number of messages to ask for at once while packets arrive coalesced: a few of these are more than a
    /// batch.
    private static final int MESSAGES_COALESCED = 4;
    /// The number of times in a row that the favourite is asked and the other sockets are not.
    private static final int FAVOURS_MAX = 8;
    /// The same beside a second port: the messages of an agreement, which come to one of the two, may wait longer.
    private static final int FAVOURS_MAX_OF_TWO = 64;
    private static final int NONE = -1;
    /// The number of batches that are taken from a socket when the link closes.
    private static final int LAST_BATCHES = 64;

    private final Seal seal;
    private final AtomicLong malformed;
    private final MessageBlock incoming;
    private final int port;
    private final boolean hasSecond;

    // One buffer for each message of `incoming`. Pages in which nothing has arrived cost nothing.
    private final MemorySegment[] landings = new MemorySegment[MessageBlock.COUNT];
    private final ByteBuffer[] landingBytes = new ByteBuffer[MessageBlock.COUNT];
    private final UdpSocket[] arrivedAt = new UdpSocket[MessageBlock.COUNT];
    private int arrived;
    private int message;
    private int consumed;
    /// The source, traffic class and hop limit of that message, which all its packets share, and the length of each
    /// packet.
    private final Frame origin;

    private int segment;
    /// The time at which that message came to this host.
    private final LongSupplier arrivalMillis = this::arrivalMillis;

    /// Whether the last arrival was coalesced.
    private boolean coalesced;
    // A program that exchanges single messages gets one after each sleep. Asking for a second message as well would
    // cost a quarter of the call. These numbers are guesses, because the sleeping thread writes them too.
    private int landedSinceSleep;
    private boolean isOneLikely;
    /// The number of messages to ask for: twice as many as came the last time.
    private int expected = 1;
    /// Whether a socket has brought as many messages as it was asked for.
    private boolean more;
    private int firstToReceive;
    /// The socket that alone had messages at the last poll of all: the peers of a program tend to use one address.
    private int favourite = NONE;
    /// The number of times that it was asked since that poll.
    private int favours;
    /// Whether a thread has slept since, which ends for a message at any socket. A guess, as above.
    private boolean hasSlept;
    /// The entries for poll(2), one for each socket.
    private final MemorySegment pollfds;

    private final MemorySegment nothing; // a timeout of 0

    /// @param malformed counts arrivals that are not packets
    /// @param port of the link; another one is the second
    /// @param hasSecond whether there is another one
    /// @param socketsMax the largest number of sockets to receive from
    UdpInbox(Seal seal, AtomicLong malformed, int port, boolean hasSecond, Arena arena, long socketsMax) {
        this.seal = seal;
        this.malformed = malformed;
        this.port = port;
        this.hasSecond = hasSecond;
        incoming = new MessageBlock(arena);
        origin = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        pollfds = arena.allocate(socketsMax * Pollfd.BYTES, 8);
        nothing = arena.allocate(Timespec.BYTES, 8);
        for (int i = 0; i < landings.length; i++) {
            landings[i] = arena.allocate(LANDING_BYTES, 64);
            landingBytes[i] = landings[i].asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            incoming.landAt(i, landings[i].address() + Frame.HEADROOM, LANDING_BYTES - Frame.HEADROOM);
        }
        prepareReceive(MessageBlock.COUNT);
    }

    /// Receives from these sockets from now on.
    void receiveFrom(UdpSocket[] all) {
        for (int i = 0; i < all.length; i++) {
            Pollfds.watch(pollfds, i, all[i].fd, LinuxAbi.POLLIN);
        }
    }

    /// Returns whether packets have arrived that were not handed out.
    boolean hasArrivals() {
        return message < arrived;
    }

    /// Implements [Link#mayHaveMore()].
    boolean mayHaveMore() {
        return more;
    }

    /// Notes that a thread is about to sleep; any thread may call it.
    void aboutToSleep() {
        isOneLikely = landedSinceSleep == 1;
        landedSinceSleep = 0;
        hasSlept = true;
    }

    /// Takes messages from the sockets when none are left.
    ///
    /// @param all the sockets of the last [#receiveFrom]
    void land(UdpSocket[] all, int wanted) {
        begin();
        if (all.length == 1) {
            land(all[0], wanted);
        } else {
            landFromReady(all, wanted);
        }
    }

    /// Passes on what has arrived for neighbours, and drops the rest, because the link closes. Takes no more than some
    /// thousand messages from a socket, however many come meanwhile.
    ///
    /// @param frames free
    void passOn(UdpSocket[] all, Frame[] frames) {
        handOutAll(frames);
        for (UdpSocket socket : all) {
            boolean isLeft = socket.sharing != null;
            for (int i = 0; i < LAST_BATCHES && isLeft; i++) {
                begin();
                land(socket, MessageBlock.COUNT);
                isLeft = hasArrivals();
                handOutAll(frames);
            }
        }
    }

    private void handOutAll(Frame[] frames) {
        while (hasArrivals()) {
            int _ = handOut(frames, 0, frames.length);
        }
    }

    private void begin() {
        assert !hasArrivals() : "what has arrived is handed out first";
        prepareReceive(arrived);
        more = false;
        arrived = 0;
        message = 0;
        consumed = 0;
    }

    /// Receives from the sockets that a poll shows to have packets. For fairness each gets its share of `wanted`,
    /// and each time another socket is the first. The poll costs as much as a message, so for a while the favourite
    /// is asked without one.
    private void landFromReady(UdpSocket[] all, int wanted) {
        int favoursMax = hasSecond ? FAVOURS_MAX_OF_TWO : FAVOURS_MAX;
        if (favourite != NONE && favourite < all.length && favours < favoursMax) {
            favours++;
            land(all[favourite], wanted);
            if (arrived > 0 || !hasSlept) {
                more |= !hasSecond; // at the others
                hasSlept = false;
                return;
            }
        }
        hasSlept = false;
        favours = 0;
        int ready = LinuxSockets.poll(pollfds, all.length, nothing);
        if (ready <= 0) {
            return;
        }
        int share = Math.max(1, wanted / ready);
        int first = firstToReceive < all.length ? firstToReceive : 0; // there may be fewer sockets than last time
        firstToReceive = first + 1;
        for (int i = 0; i < all.length && arrived < MessageBlock.COUNT; i++) {
            int at = first + i < all.length ? first + i : first + i - all.length;
            if (Pollfds.isReadable(pollfds, at)) {
                favourite = ready == 1 ? at : NONE;
                land(all[at], share);
            }
        }
    }

    /// Prepares the first messages of the block to be received into again: nothing reads them any more.
    private void prepareReceive(int messages) {
        for (int i = 0; i < messages; i++) {
            incoming.prepareReceive(i);
        }
    }

    /// Receives messages of this socket behind those that have landed. When few messages come, few are asked for:
    /// the system looks once more after the last one, which costs half as much as receiving it.
    private void land(UdpSocket socket, int wanted) {
        int most = Math.min(coalesced ? MESSAGES_COALESCED : wanted, MessageBlock.COUNT - arrived);
        int asked = Math.min(isOneLikely ? 1 : expected, most);
        isOneLikely = false;
        assert asked >= 0 && arrived + asked <= MessageBlock.COUNT;
        int messages = LinuxSockets.receiveMessages(socket.fd, incoming.headersFrom(arrived), asked);
        expected = Math.clamp(2L * messages, 1, MessageBlock.COUNT);
        more |= messages == asked;
        for (int i = 0; i < messages; i++) {
            arrivedAt[arrived++] = socket;
            landedSinceSleep++;
        }
    }

    /// Hands out packets that have arrived, as many as there are or fit.
    int handOut(Frame[] frames, int from, int count) {
        int taken = 0;
        while (message < arrived && taken < count) {
            UdpSocket socket = arrivedAt[message];
            if (consumed == 0 && !beginMessage(socket)) {
                malformed.incrementAndGet();
                nextMessage();
                continue;
            }
            Frame frame = frames[from + taken];
            frame.length = Math.min(segment, incoming.length(message) - consumed);
            frame.view(landings[message], landingBytes[message], Frame.HEADROOM + consumed);
            if (!isPacket(frame)) {
                malformed.incrementAndGet();
            } else if (socket.sharing == null || !isPassedOn(socket.sharing, frame)) {
                frame.copyWay(origin);
                seal.judge(frame, consumed / segment);
                taken++;
            }
            consumed += segment;
            if (consumed >= incoming.length(message)) {
                nextMessage();
            }
        }
        assert taken <= count && message <= arrived;
        return taken;
    }

    /// Begins a message; false when it is too long for any packet.
    private boolean beginMessage(UdpSocket socket) {
        origin.destinationHigh = socket.gidHigh;
        origin.destinationLow = socket.gidLow;
        origin.secondPort = socket.port == port ? 0 : socket.port;
        segment = incoming.takeReceived(message, origin);
        coalesced = segment < incoming.length(message);
        return !incoming.isTruncated(message);
    }

    private void nextMessage() {
        message++;
        consumed = 0;
    }

    private long arrivalMillis() {
        return incoming.arrivalMillis(message);
    }

    private static boolean isPacket(Frame frame) {
        return frame.length >= Link.PACKET_MIN && frame.length <= Frame.PACKET_MAX;
    }

    /// Returns whether this link has nothing more to do with the packet, because it is another link's.
    private boolean isPassedOn(SharedAddress sharing, Frame frame) {
        int addressee = Addressee.of(frame);
        if (addressee == sharing.slot()) {
            return false;
        }
        frame.copyWay(origin);
        return sharing.passesOn(frame, addressee, arrivalMillis);
    }
}
