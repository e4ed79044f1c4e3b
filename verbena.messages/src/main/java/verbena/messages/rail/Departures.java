package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.Rails;
import verbena.verbs.VerbsException;

/// The departures to the peers: frames, READs and operations. Under the lock of the worker.
public final class Departures {
    /// Messages of one peer that are read at once.
    static final int READS = 8;

    private final Slots slots;
    /// Those that found no slot to send from.
    private final Set<Remote> starved = new LinkedHashSet<>();

    public Departures(Slots slots) {
        this.slots = slots;
    }

    /// Sends what the peer's protocol has to send, all of it at once.
    public void pump(Remote to) {
        try {
            try {
                send(to);
                read(to);
            } finally {
                to.ways().submit();
            }
        } catch (VerbsException | IllegalStateException e) { // the program has closed memory that was under way
            to.lose(String.valueOf(e.getMessage()));
        }
    }

    /// Sends a message that can leave at once; false when it cannot, and is not sent. See [Peer#pollAtOnce].
    public boolean sendAtOnce(Remote to, Kind kind, long tag, MemorySegment header, MemorySegment data) {
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

    private void send(Remote to) {
        Peer peer = to.peer();
        Rails itsRails = to.rails();
        int teller = itsRails.toTell();
        if (teller >= 0 && !peer.isLost()) {
            to.ways().way(teller).tell(null);
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

    private void read(Remote to) {
        Peer peer = to.peer();
        while (to.readings < READS && !peer.isLost()) {
            Peer.Read next = peer.pollRead();
            if (next == null) {
                break;
            }
            begin(to, next);
        }
        if (!peer.isLost()) {
            if (!to.operations().pump(slots)) {
                starved.add(to);
            }
            to.transfers().pump();
        }
    }

    /// Begins to read a message.
    private static void begin(Remote from, Peer.Read read) {
        from.readings++;
        var transfer = new Transfers.Transfer(false, read.at(), read.into()) {
            @Override
            void done() {
                from.readings--;
                assert from.readings >= 0 : "more messages were read than are being read";
                from.peer().onRead(read);
            }

            @Override
            void failed(String why) {
                read.incoming().failed(why);
            }
        };
        from.transfers().start(transfer);
    }

    /// Puts a frame that the peer's protocol has written into a slot behind all others.
    private void put(Remote to, int slot, int bytes) {
        slots.take(slot, to.ways());
        to.rails().put(slot, bytes);
    }

    private void sendNext(Remote to) {
        Rails itsRails = to.rails();
        Way way = to.ways().way(itsRails.forFrames());
        int slot = itsRails.slot();
        long offset = slots.frameOffset(slot);
        int bytes = itsRails.bytes();
        if (itsRails.areSeveral()) {
            itsRails.writeHeader(slots.header(slot));
            offset = slots.offset(slot);
            bytes += Rails.HEADER_BYTES;
        }
        way.requests().send(RequestIds.SEND).sge(way.rail.outbox, offset, bytes).signaled();
        itsRails.sent();
    }

    /// Gives back the slots whose frames are needed no more.
    void freeSlots(Remote of) {
        for (int slot = of.rails().free(); slot >= 0; slot = of.rails().free()) {
            slots.give(slot, of.ways());
        }
    }

    /// Sends for those that found no slot before.
    void feedStarved() {
        while (!starved.isEmpty() && slots.peek() >= 0) {
            Remote next = starved.iterator().next();
            starved.remove(next);
            pump(next);
        }
    }

    /// Takes back what a peer had whose queue pairs are closed.
    public void forget(Remote gone) {
        slots.forget(gone.ways());
        starved.remove(gone);
        feedStarved();
    }
}
