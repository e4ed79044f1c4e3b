package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.Rails;
import verbena.verbs.VerbsException;

/// What leaves for the peers: frames, READs and operations. Under the lock of [Traffic].
final class Departures {
    // The upper half of a request's number says what it is, the lower half which.
    static final long SEND = 1L << 32;
    static final long PART = 2L << 32;
    static final long RING = 3L << 32;
    static final long OPERATION = 4L << 32;
    static final long TELL = 5L << 32;
    static final long END = 6L << 32;

    /// Whether a completion of this number is a frame that has arrived.
    static boolean isFrame(long number) {
        return number < SEND;
    }

    /// Whether a completion of this number is that of a frame that was sent.
    static boolean isSend(long number) {
        return number >= SEND && number < PART;
    }

    /// Frames of one peer under way at once.
    static final int SENDS = 32;
    /// Messages of one peer that are read at once.
    static final int READS = 8;

    private final Traffic traffic;
    private final Slots slots;
    /// Those that found no slot to send from.
    private final Set<RemoteWorker> starved = new LinkedHashSet<>();

    Departures(Traffic traffic, Slots slots) {
        this.traffic = traffic;
        this.slots = slots;
    }

    /// Sends what the peer's protocol has to send, all of it at once.
    void pump(RemoteWorker to) {
        try {
            try {
                send(to);
                read(to);
            } finally {
                to.submit();
            }
        } catch (VerbsException | IllegalStateException e) { // the program has closed memory that was under way
            traffic.lose(to, String.valueOf(e.getMessage()));
        }
    }

    /// Sends a message that can leave at once; false when it cannot, and is not sent. See [Peer#pollAtOnce].
    boolean sendAtOnce(RemoteWorker to, Kind kind, long tag, MemorySegment header, MemorySegment data) {
        int slot = slots.peek();
        if (slot < 0 || !to.rails().maySend() || to.rails().isToSendAgain()) {
            return false;
        }
        int bytes = to.peer().pollAtOnce(slots.toSend(slot), kind, tag, header, data);
        if (bytes == 0) {
            return false;
        }
        put(to, slot, bytes);
        pump(to);
        return !to.peer().isLost();
    }

    private void send(RemoteWorker to) {
        Peer peer = to.peer();
        Rails itsRails = to.rails();
        int teller = itsRails.toTell();
        if (teller >= 0 && !peer.isLost()) {
            to.way(teller).tell(null);
        }
        while (itsRails.maySend() && !peer.isLost()) {
            if (!itsRails.isToSendAgain()) {
                int slot = slots.peek();
                if (slot < 0) {
                    starved.add(to);
                    return;
                }
                int bytes = peer.poll(slots.toSend(slot));
                if (bytes == 0) {
                    return;
                }
                put(to, slot, bytes);
            }
            sendNext(to);
        }
    }

    private void read(RemoteWorker to) {
        Peer peer = to.peer();
        while (to.readings < READS && !peer.isLost()) {
            Peer.Read next = peer.pollRead();
            if (next == null) {
                break;
            }
            LongMessages.start(to, next);
        }
        if (!peer.isLost()) {
            if (!to.operations().pump(slots)) {
                starved.add(to);
            }
            to.transfers().pump();
        }
    }

    /// A frame that the peer's protocol has written into a slot.
    private void put(RemoteWorker to, int slot, int bytes) {
        slots.take(slot, to);
        to.rails().put(slot, bytes);
    }

    private void sendNext(RemoteWorker to) {
        Rails itsRails = to.rails();
        Way way = to.way(itsRails.forFrames());
        int slot = itsRails.slot();
        long offset = slots.frameOffset(slot);
        int bytes = itsRails.bytes();
        if (itsRails.areSeveral()) {
            itsRails.writeHeader(slots.header(slot));
            offset = slots.offset(slot);
            bytes += Rails.HEADER_BYTES;
        }
        way.requests().send(SEND).sge(way.rail.outbox, offset, bytes).signaled();
        itsRails.sent();
    }

    /// Gives back the slots whose frames are needed no more.
    void freeSlots(RemoteWorker of) {
        for (int slot = of.rails().free(); slot >= 0; slot = of.rails().free()) {
            slots.give(slot, of);
        }
    }

    /// Sends for those that found no slot before.
    void feedStarved() {
        while (!starved.isEmpty() && slots.peek() >= 0) {
            RemoteWorker next = starved.iterator().next();
            starved.remove(next);
            pump(next);
        }
    }

    void forget(RemoteWorker gone) {
        slots.forget(gone);
        starved.remove(gone);
        feedStarved();
    }
}
