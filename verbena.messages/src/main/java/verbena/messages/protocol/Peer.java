package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// What one worker knows of another: the protocol between the two, without input and output. Frames that arrive are
/// pushed in ([#onFrame]); frames to send ([#poll]) and READs to do ([#pollRead]) are pulled out. Nothing here waits
/// for time. Guarded by the worker.
///
/// **Credits.** A frame needs a receive at the other end. Each end tells the other how many frames more it may send,
/// in frames that it sends anyway. When it has none to send, it sends a frame of credits only. For that one each end
/// has a receive in reserve. The next frame of any type, from the end that got it, gives the reserve back.
///
/// An end without credits has sent a frame since it got the last ones, and that frame gave the reserve back. So the
/// other end can always send credits again: two ends never wait for each other.
public final class Peer {
    /// What the owner of a peer does for it.
    public interface Owner {
        /// Where a message goes that is for no receive; empty to refuse it, which ends the peer.
        ///
        /// @param length bytes
        Optional<Incoming> incoming(Peer peer, Kind kind, long tag, long length);

        /// Makes memory readable for the peer until [#withdraw].
        RemoteMemory expose(Peer peer, int offer, MemorySegment data);

        /// What was offered is read, or will never be.
        void withdraw(Peer peer, int offer);
    }

    /// A message that the peer has offered.
    record Offer(int number, long length, long address, int key) {}

    /// A READ to do.
    ///
    /// @param into as long as what is read
    /// @param length bytes of the message, perhaps more than are read
    public record Read(
            int offer, long address, int key, MemorySegment into, Incoming incoming, long tag, long length) {}

    /// Messages that no receive waits for, in bytes, behind which the peer is asked to offer.
    public static final long CROWDED_BYTES = 1 << 20;
    /// Offers of one peer that may wait.
    static final int OFFERS_MAX = 1 << 16;

    private final Owner owner;
    private final Matching matching;
    private final int frameBytes;
    private final int window;

    // Sending.
    private final ArrayDeque<Outgoing> waiting = new ArrayDeque<>();
    private final ArrayDeque<Integer> taken = new ArrayDeque<>();
    private final Map<Integer, Outgoing> offered = new HashMap<>();
    private int credits;
    private boolean hasReserve = true;
    private boolean isCrowdedThere;
    private int lastOffer;

    // Receiving.
    private final ArrayDeque<Read> reads = new ArrayDeque<>();
    private int readsUnderWay;
    private int owed;
    private boolean owesReserve;
    private long keptBytes;
    private int offersWaiting;
    private @Nullable String lost;

    /// @param frameBytes of the longest frame, that both ends can take
    /// @param window frames that the other end may send before it hears of more; one of them is the reserve
    public Peer(Owner owner, Matching matching, int frameBytes, int window) {
        if (window < 2 || window > Frame.CREDITS_MAX) {
            throw new IllegalArgumentException("window: 2 to " + Frame.CREDITS_MAX + ", got " + window);
        }
        this.owner = owner;
        this.matching = matching;
        this.frameBytes = frameBytes;
        this.window = window;
        this.owed = window - 1;
    }

    // ---- the program

    /// Sends a message when its turn comes.
    public void send(Outgoing message) {
        if (lost != null) {
            message.failed(lost);
        } else {
            waiting.add(message);
        }
    }

    /// What the peer was made with.
    public Owner owner() {
        return owner;
    }

    public boolean isLost() {
        return lost != null;
    }

    /// Why it is lost.
    ///
    /// @throws IllegalStateException when it is not
    public String whyLost() {
        if (lost == null) {
            throw new IllegalStateException("the peer is not lost");
        }
        return lost;
    }

    /// Whether nothing waits to be sent, and no offer to be taken.
    public boolean isIdle() {
        return waiting.isEmpty() && offered.isEmpty() && taken.isEmpty() && readsUnderWay == 0 && reads.isEmpty();
    }

    // ---- departures

    /// Writes the next frame.
    ///
    /// @param out at least as long as a frame
    /// @return its bytes; 0 when there is none now
    public int poll(MemorySegment out) {
        if (lost != null) {
            return 0;
        }
        if (credits > 0 && !taken.isEmpty()) {
            credits--;
            begin(out, Frame.TAKEN, 0, taken.remove(), 0);
            return Frame.HEADER_BYTES;
        }
        while (credits > 0 && !waiting.isEmpty()) {
            Outgoing next = waiting.remove();
            if (next.data.scope().isAlive()) {
                credits--;
                return write(next, out);
            }
            next.failed("its memory was closed before it was sent");
        }
        if (hasReserve && owed >= (window + 1) / 2) {
            hasReserve = false;
            begin(out, Frame.CREDIT, 0, 0, 0);
            return Frame.HEADER_BYTES;
        }
        return 0;
    }

    private int write(Outgoing message, MemorySegment out) {
        long length = message.data.byteSize();
        boolean fits = length <= frameBytes - Frame.HEADER_BYTES;
        if (fits && (length == 0 || !isCrowdedThere || message.kind != Kind.TAGGED)) {
            begin(out, Frame.WHOLE, message.kind.ordinal(), 0, message.tag);
            MemorySegment.copy(
                    message.data, ValueLayout.JAVA_BYTE, 0, out, ValueLayout.JAVA_BYTE, Frame.HEADER_BYTES, length);
            message.done();
            return Frame.HEADER_BYTES + (int) length;
        }
        int number = ++lastOffer;
        offered.put(number, message); // before anything can fail, so that it is told
        RemoteMemory at = owner.expose(this, number, message.data);
        begin(out, Frame.OFFER, message.kind.ordinal(), number, message.tag);
        Frame.writeOffer(out, length, at.address(), at.rkey());
        return Frame.OFFER_BYTES;
    }

    private void begin(MemorySegment out, int type, int kind, int offer, long tag) {
        int flags = (owesReserve ? Frame.RESERVE : 0) | (keptBytes > CROWDED_BYTES ? Frame.CROWDED : 0);
        Frame.write(out, type, kind, flags, owed, offer, tag);
        owesReserve = false;
        owed = 0;
    }

    /// The next READ to do; null when there is none. [#onRead] or [#lose] follows.
    public @Nullable Read pollRead() {
        Read next = reads.poll();
        if (next != null) {
            readsUnderWay++;
        }
        return next;
    }

    // ---- arrivals

    /// A frame has arrived; its memory can be used again when this returns. What is wrong with it is the answer, and
    /// ends the peer; null when all is well.
    public @Nullable String onFrame(MemorySegment frame) {
        if (lost != null) {
            return null;
        }
        if (frame.byteSize() < Frame.HEADER_BYTES) {
            return "a frame of " + frame.byteSize() + " bytes";
        }
        credits += Frame.credits(frame);
        if (credits > Frame.CREDITS_MAX) {
            return "more credits than frames";
        }
        hasReserve |= (Frame.flags(frame) & Frame.RESERVE) != 0;
        isCrowdedThere = (Frame.flags(frame) & Frame.CROWDED) != 0;
        if (Frame.type(frame) == Frame.CREDIT) {
            owesReserve = true;
            return null;
        }
        owed++;
        return switch (Frame.type(frame)) {
            case Frame.WHOLE -> onWhole(frame);
            case Frame.OFFER -> onOffer(frame);
            case Frame.TAKEN -> onTaken(Frame.offer(frame));
            default -> "a frame of type " + Frame.type(frame);
        };
    }

    private @Nullable String onWhole(MemorySegment frame) {
        MemorySegment message = frame.asSlice(Frame.HEADER_BYTES);
        long tag = Frame.tag(frame);
        Optional<Kind> kind = Kind.of(Frame.kind(frame));
        if (kind.isEmpty()) {
            return "a message of kind " + Frame.kind(frame);
        }
        Optional<Incoming> incoming = find(kind.get(), tag, message.byteSize());
        if (incoming.isPresent()) {
            Matching.deliver(this, tag, message, incoming.get());
            return null;
        }
        if (kind.get() != Kind.TAGGED) {
            return "a message that is not taken: " + kind.get();
        }
        keptBytes += message.byteSize();
        matching.keep(this, tag, message.toArray(ValueLayout.JAVA_BYTE), null);
        return null;
    }

    private Optional<Incoming> find(Kind kind, long tag, long length) {
        return kind == Kind.TAGGED ? matching.take(this, tag) : owner.incoming(this, kind, tag, length);
    }

    private @Nullable String onOffer(MemorySegment frame) {
        if (frame.byteSize() != Frame.OFFER_BYTES || Frame.length(frame) < 0) {
            return "an offer of " + frame.byteSize() + " bytes";
        }
        var offer = new Offer(Frame.offer(frame), Frame.length(frame), Frame.address(frame), Frame.key(frame));
        Optional<Kind> kind = Kind.of(Frame.kind(frame));
        if (kind.isEmpty() || ++offersWaiting > OFFERS_MAX) {
            return "an offer of kind " + Frame.kind(frame) + ", or too many";
        }
        long tag = Frame.tag(frame);
        Optional<Incoming> incoming = find(kind.get(), tag, offer.length);
        if (incoming.isPresent()) {
            read(offer, tag, incoming.get());
            return null;
        }
        if (kind.get() != Kind.TAGGED) {
            return "an offer that is not taken: " + kind.get();
        }
        matching.keep(this, tag, new byte[0], offer);
        return null;
    }

    /// A receive takes what was offered.
    void read(Offer offer, long tag, Incoming incoming) {
        offersWaiting--;
        MemorySegment memory = incoming.memory();
        long bytes = Math.min(offer.length, memory.byteSize());
        if (bytes == 0) {
            taken.add(offer.number);
            incoming.done(this, tag, offer.length);
            return;
        }
        reads.add(new Read(
                offer.number, offer.address, offer.key, memory.asSlice(0, bytes), incoming, tag, offer.length));
    }

    /// A kept message was taken.
    void released(long bytes) {
        keptBytes -= bytes;
    }

    /// A READ is done.
    public void onRead(Read read) {
        readsUnderWay--;
        if (lost != null) {
            return;
        }
        taken.add(read.offer);
        read.incoming.done(this, read.tag, read.length);
    }

    private @Nullable String onTaken(int number) {
        Outgoing message = offered.remove(number);
        if (message == null) {
            return "an offer was taken that was not made: " + number;
        }
        owner.withdraw(this, number);
        message.done();
        return null;
    }

    // ---- the end

    /// The peer is lost: fails what is under way with it, once.
    ///
    /// @param underWay READs that were pulled out and are not done
    public void lose(String why, Iterable<Read> underWay) {
        if (lost != null) {
            return;
        }
        lost = why;
        offered.forEach((number, message) -> {
            owner.withdraw(this, number);
            message.failed(why);
        });
        offered.clear();
        waiting.forEach(message -> message.failed(why));
        waiting.clear();
        reads.forEach(read -> read.incoming.failed(why));
        reads.clear();
        underWay.forEach(read -> read.incoming.failed(why));
        matching.forget(this, why);
    }
}
