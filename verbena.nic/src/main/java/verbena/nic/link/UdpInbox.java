package verbena.nic.link;

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
import verbena.wire.Frame;

/// What has arrived at the sockets of a [LinuxUdpLink]: messages of one or more packets, which are handed out one by
/// one.
///
/// Messages from `message` to `arrived` of the block are left, the first of them without its first `consumed` bytes.
///
/// For one thread at a time, but for [#aboutToSleep()].
final class UdpInbox {
    /// Room for one, whatever it is, and not a power of two, so that the beginnings of all buffers do not compete
    /// for the same few lines of the cache.
    private static final int LANDING_BYTES = Frame.HEADROOM + (1 << 16) + 192;
    /// Messages asked for at once while packets arrive coalesced: a few are more than a batch.
    private static final int MESSAGES_COALESCED = 4;

    private final Seal seal;
    private final AtomicLong malformed;
    private final MessageBlock incoming;

    // One buffer for each message of `incoming`. Pages that nothing has arrived in cost nothing.
    private final MemorySegment[] landings = new MemorySegment[MessageBlock.COUNT];
    private final ByteBuffer[] landingBytes = new ByteBuffer[MessageBlock.COUNT];
    private final UdpSocket[] arrivedAt = new UdpSocket[MessageBlock.COUNT];
    private int arrived;
    private int message;
    private int consumed;
    /// How that message came, which is how all packets in it did, and the bytes of each.
    private final Frame origin;

    private int segment;
    /// When that message came to this host.
    private final LongSupplier arrivalMillis = this::arrivalMillis;

    /// What arrived last was coalesced.
    private boolean coalesced;
    // A program that exchanges single messages gets one after each sleep, and to ask for a second, too, costs a
    // quarter of the call. Guesses: the sleeper writes them as well.
    private int landedSinceSleep;
    private boolean isOneLikely;
    /// Messages to ask for: twice as many as came the last time.
    private int expected = 1;
    /// A socket has brought as many as it was asked for.
    private boolean more;
    private int firstToReceive;
    /// One entry for each socket.
    private final MemorySegment pollfds;

    private final MemorySegment nothing; // a timeout of 0

    /// @param socketsMax so many at most will be received from
    /// @param malformed where arrivals are counted that are no packets
    UdpInbox(Seal seal, AtomicLong malformed, Arena arena, long socketsMax) {
        this.seal = seal;
        this.malformed = malformed;
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

    /// From these sockets it receives from now on.
    void receiveFrom(UdpSocket[] all) {
        for (int i = 0; i < all.length; i++) {
            Pollfds.watch(pollfds, i, all[i].fd, LinuxAbi.POLLIN);
        }
    }

    /// Whether something has arrived and was not handed out.
    boolean hasArrivals() {
        return message < arrived;
    }

    /// As [Link#mayHaveMore()].
    boolean mayHaveMore() {
        return more;
    }

    /// A thread is about to sleep; any thread may say so.
    void aboutToSleep() {
        isOneLikely = landedSinceSleep == 1;
        landedSinceSleep = 0;
    }

    /// Takes messages from the sockets, when none is left.
    ///
    /// @param all those of the last [#receiveFrom]
    void land(UdpSocket[] all, int wanted) {
        assert !hasArrivals() : "what has arrived is handed out first";
        prepareReceive(arrived);
        more = false;
        arrived = 0;
        message = 0;
        consumed = 0;
        if (all.length == 1) {
            land(all[0], wanted);
        } else {
            landFromReady(all, wanted);
        }
    }

    /// One poll tells which of several sockets are worth a call. Each gets its share of what is wanted, and another
    /// socket is the first each time, for fairness.
    private void landFromReady(UdpSocket[] all, int wanted) {
        int ready = LinuxSockets.poll(pollfds, all.length, nothing);
        if (ready <= 0) {
            return;
        }
        int share = Math.max(1, wanted / ready);
        int first = firstToReceive < all.length ? firstToReceive : 0; // there may be fewer than last time
        firstToReceive = first + 1;
        for (int i = 0; i < all.length && arrived < MessageBlock.COUNT; i++) {
            int at = first + i < all.length ? first + i : first + i - all.length;
            if (Pollfds.isReadable(pollfds, at)) {
                land(all[at], share);
            }
        }
    }

    /// The first messages of the block can be received into again: nothing looks at them any more.
    private void prepareReceive(int messages) {
        for (int i = 0; i < messages; i++) {
            incoming.prepareReceive(i);
        }
    }

    /// Messages of this socket behind those that have landed. When few come, few are asked for: the system looks
    /// once more after the last one, which costs half as much as to receive it.
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

    /// Packets among what has arrived, as many as there are or fit.
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

    /// False when it is too long for anything.
    private boolean beginMessage(UdpSocket socket) {
        origin.destinationHigh = socket.gidHigh;
        origin.destinationLow = socket.gidLow;
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
        return frame.length >= UdpLink.PACKET_MIN && frame.length <= Frame.PACKET_MAX;
    }

    /// Whether no more needs to be done here: the packet is another link's.
    private boolean isPassedOn(SharedAddress sharing, Frame frame) {
        int addressee = Addressee.of(frame);
        if (addressee == sharing.slot()) {
            return false;
        }
        frame.copyWay(origin);
        return sharing.passesOn(frame, addressee, arrivalMillis);
    }
}
