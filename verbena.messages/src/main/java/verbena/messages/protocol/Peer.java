package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// The state that one worker has of another: the protocol between the two, without input and output. Frames that
/// arrive are pushed in ([#onFrame]); frames to send ([#poll]) and READs to do ([#pollRead]) are pulled out. Nothing
/// here waits for time. Guarded by the worker.
///
/// **Credits.** A frame needs a receive at the other end. Each end tells the other how many frames more it may send,
/// in frames that it sends anyway. When it has none to send, it sends a frame of credits only. For that one each end
/// has a receive in reserve. The next frame of any type, from the end that got it, gives the reserve back.
///
/// An end without credits has sent a frame since it got the last ones, and that frame gave the reserve back. So the
/// other end can always send credits again: two ends never wait for each other.
public final class Peer {
    /// A message that the peer has offered.
    record Offer(Kind kind, int number, long length, List<RemoteMemory> at) {}

    /// A READ to do.
    ///
    /// @param at the peer's memory, by each rail
    /// @param into as long as what is read
    /// @param length bytes of the message, perhaps more than are read
    public record Read(
            int offer, List<RemoteMemory> at, MemorySegment into, Incoming incoming, long tag, long length) {}

    /// An offer that waits for room.
    private record Unread(Offer offer, long tag, Incoming incoming) {}

    private final PeerOwner owner;
    private final Matching matching;
    private final PeerLimits limits;
    private final Lane tagged = new Lane();
    private final Lane active = new Lane();

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
    private final ArrayDeque<Unread> unread = new ArrayDeque<>();
    private int owed;
    /// Frames that the other end may send, by what it was told.
    private int given;

    private boolean owesReserve;
    private long keptBytes;
    private long timesCrowded;
    /// Whether the other end was told so by the last frame, and frames that it has sent since the first that did.
    private boolean isToldCrowded;

    private int framesSinceTold;
    private @Nullable String lost;

    public Peer(PeerOwner owner, Matching matching, PeerLimits limits) {
        this.owner = owner;
        this.matching = matching;
        this.limits = limits;
        this.owed = limits.window() - 1;
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

    /// Takes a message back whose turn has not come; false when it is too late. It is neither done nor failed then.
    boolean withdraw(@Nullable Outgoing message) {
        return waiting.remove(message);
    }

    /// Returns whether a message of so many bytes is offered, not sent whole.
    public boolean isLong(long bytes) {
        return bytes > limits.frameBytes() - Frame.HEADER_BYTES;
    }

    /// Returns the owner with which the peer was made.
    public PeerOwner owner() {
        return owner;
    }

    public boolean isLost() {
        return lost != null;
    }

    /// Returns the reason for which it is lost.
    ///
    /// @throws IllegalStateException when it is not
    public String whyLost() {
        if (lost == null) {
            throw new IllegalStateException("the peer is not lost");
        }
        return lost;
    }

    /// Returns the length of the longest header of an active message, in bytes.
    public int headerBytesMax() {
        return Math.min(PeerLimits.HEADER_MAX, limits.frameBytes() - Frame.offerBytes(limits.rails()));
    }

    /// Returns whether nothing waits to be sent, and no offer to be taken.
    public boolean isIdle() {
        return waiting.isEmpty()
                && heldBack() == 0
                && offered.isEmpty()
                && taken.isEmpty()
                && readsUnderWay == 0
                && reads.isEmpty()
                && unread.isEmpty();
    }

    /// Returns the bytes of messages that no receive waits for, with what they cost beside their bytes.
    public long keptBytes() {
        return keptBytes;
    }

    /// Returns the number of times that the other end was asked to offer.
    public long timesCrowded() {
        return timesCrowded;
    }

    /// Returns the number of messages to the other end that wait because it has as many offers as it takes.
    public int heldBack() {
        return tagged.heldBack.size() + active.heldBack.size();
    }

    /// Returns the number of messages of the other end that wait for room here.
    public int unread() {
        return unread.size();
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
        Outgoing next = credits > 0 ? next() : null;
        while (next != null) {
            if (next.data.scope().isAlive()) {
                credits--;
                return write(next, out);
            }
            next.failed("its memory was closed before it was sent");
            next = next();
        }
        if (hasReserve && owed >= (limits.window() + 1) / 2) {
            hasReserve = false;
            begin(out, Frame.CREDIT, 0, 0, 0);
            return Frame.HEADER_BYTES;
        }
        return 0;
    }

    /// Returns the message whose turn it is; null when none may leave.
    private @Nullable Outgoing next() {
        if (mayLeave(tagged.heldBack.peek(), tagged)) {
            return tagged.heldBack.remove();
        }
        if (mayLeave(active.heldBack.peek(), active)) {
            return active.heldBack.remove();
        }
        for (Outgoing next = waiting.poll(); next != null; next = waiting.poll()) {
            Lane lane = lane(next.kind);
            if (lane == null || (lane.heldBack.isEmpty() && mayLeave(next, lane))) {
                return next;
            }
            lane.heldBack.add(next);
        }
        return null;
    }

    private @Nullable Lane lane(Kind kind) {
        return switch (kind) {
            case TAGGED -> tagged;
            case ACTIVE -> active;
            case CALL, ANSWER, FAULT, CANCEL -> null;
        };
    }

    private boolean mayLeave(@Nullable Outgoing message, Lane lane) {
        return message != null && (!isToOffer(message.kind, message.bytes()) || lane.offered < limits.offersMaxThere());
    }

    private boolean isToOffer(Kind kind, long bytes) {
        return isLong(bytes) || (isCrowdedThere && kind == Kind.TAGGED);
    }

    private int write(Outgoing message, MemorySegment out) {
        long length = message.data.byteSize();
        if (!isToOffer(message.kind, message.bytes())) {
            begin(out, Frame.WHOLE, message.kind.ordinal(), 0, message.tag);
            int bytes = (int) Frame.copy(message.data, out, Frame.copy(message.header, out, Frame.HEADER_BYTES));
            message.done();
            return bytes;
        }
        int number = ++lastOffer;
        offered.put(number, message); // before anything can fail, so that it is told
        Lane lane = lane(message.kind);
        if (lane != null) {
            lane.offered++;
        }
        List<RemoteMemory> at = length == 0 ? limits.noMemory() : owner.expose(number, message.data, message.mayChange);
        begin(out, Frame.OFFER, message.kind.ordinal(), number, message.tag);
        Frame.writeOffer(out, length, at);
        return (int) Frame.copy(message.header, out, Frame.offerBytes(limits.rails()));
    }

    /// Writes a message as the next frame, when it can leave at once. It makes no object. Memory that is closed
    /// throws, and costs nothing.
    ///
    /// @param tag of an active message: [Outgoing#activeTag]
    /// @param header of an active message; else empty
    /// @return the frame's bytes; 0 when the message has to wait, or is too long for a frame
    public int pollAtOnce(MemorySegment out, Kind kind, long tag, MemorySegment header, MemorySegment data) {
        long bytes = header.byteSize() + data.byteSize();
        Lane lane = lane(kind);
        boolean isNext = lost == null && credits > 0 && taken.isEmpty() && waiting.isEmpty();
        if (!isNext || isToOffer(kind, bytes) || (lane != null && !lane.heldBack.isEmpty())) {
            return 0;
        }
        Frame.copy(data, out, Frame.copy(header, out, Frame.HEADER_BYTES)); // before anything is counted
        credits--;
        begin(out, Frame.WHOLE, kind.ordinal(), 0, tag);
        return Frame.HEADER_BYTES + (int) bytes;
    }

    private void begin(MemorySegment out, int type, int kind, int offer, long tag) {
        boolean isCrowded = keptBytes > limits.crowdedBytes();
        if (isCrowded && !isToldCrowded) {
            timesCrowded++;
            framesSinceTold = 0;
        }
        isToldCrowded = isCrowded;
        int flags = (owesReserve ? Frame.RESERVE : 0) | (isCrowded ? Frame.CROWDED : 0);
        Frame.write(out, type, kind, flags, owed, offer, tag);
        owesReserve = false;
        given += owed;
        owed = 0;
        assert credits >= 0 && areCreditsInRange() : "credits " + credits + ", given " + given;
    }

    /// Returns whether all credits are in range: each frame of the window is the other end's to send, owed to it,
    /// or being handled; one is the reserve.
    private boolean areCreditsInRange() {
        return given >= 0 && owed >= 0 && given + owed < limits.window();
    }

    /// Returns the next READ to do; null when there is none. [#onRead] or [#lose] follows.
    public @Nullable Read pollRead() {
        while (reads.isEmpty() && !unread.isEmpty() && owner.admits(unread.element().offer.length)) {
            Unread admitted = unread.remove();
            read(admitted.offer, admitted.tag, admitted.incoming);
        }
        Read next = reads.poll();
        if (next != null) {
            readsUnderWay++;
        }
        return next;
    }

    // ---- arrivals

    /// Handles a frame that has arrived; its memory can be used again when this returns. Returns the fault of the
    /// frame, which ends the peer, or null when all is well.
    ///
    /// @param bytes of the frame; the memory may be longer
    public @Nullable String onFrame(MemorySegment frame, long bytes) {
        if (lost != null) {
            return null;
        }
        if (bytes < Frame.HEADER_BYTES) {
            return "a frame of " + bytes + " bytes";
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
        if (given == 0) {
            return "a frame without a credit";
        }
        given--;
        framesSinceTold++;
        if (Frame.type(frame) == Frame.WHOLE && Frame.kind(frame) == Kind.ACTIVE.ordinal()) {
            return onActive(frame, bytes);
        }
        owed++;
        return switch (Frame.type(frame)) {
            case Frame.WHOLE -> onWhole(frame, frame.asSlice(Frame.HEADER_BYTES, bytes - Frame.HEADER_BYTES));
            case Frame.OFFER -> onOffer(frame.asSlice(0, bytes));
            case Frame.TAKEN -> onTaken(Frame.offer(frame));
            default -> "a frame of type " + Frame.type(frame);
        };
    }

    private @Nullable String onActive(MemorySegment frame, long bytes) {
        long tag = Frame.tag(frame);
        int headerBytes = (int) tag;
        long dataBytes = bytes - Frame.HEADER_BYTES - headerBytes;
        if (headerBytes < 0 || headerBytes > PeerLimits.HEADER_MAX || dataBytes < 0) {
            return "an active message of " + bytes + " bytes with a header of " + headerBytes;
        }
        if (!owner.active((int) (tag >>> 32), frame, Frame.HEADER_BYTES, headerBytes, dataBytes)) {
            owed++;
        }
        return null;
    }

    /// Frees the frame of an active message, which its owner needs no more.
    public void handled() {
        owed++;
        assert areCreditsInRange() : "a frame was handled that had not come";
    }

    private @Nullable String onWhole(MemorySegment frame, MemorySegment message) {
        long tag = Frame.tag(frame);
        Optional<Kind> kind = Kind.of(Frame.kind(frame));
        if (kind.isEmpty()) {
            return "a message of kind " + Frame.kind(frame);
        }
        Optional<Incoming> incoming;
        do {
            incoming = find(kind.get(), tag, message.byteSize());
            boolean isDelivered = incoming.isPresent() && Matching.deliver(owner, tag, message, incoming.get());
            if (isDelivered || (incoming.isPresent() && kind.get() != Kind.TAGGED)) {
                return null;
            }
        } while (incoming.isPresent());
        if (kind.get() != Kind.TAGGED) {
            return "a message that is not taken: " + kind.get();
        }
        if (isToldCrowded && framesSinceTold >= limits.window()) { // it had fewer credits when it was told
            return "a whole message, after offers were asked for";
        }
        keptBytes += message.byteSize() + PeerLimits.KEPT_COST;
        matching.keep(this, tag, message.toArray(ValueLayout.JAVA_BYTE), null);
        return null;
    }

    private Optional<Incoming> find(Kind kind, long tag, long length) {
        return kind == Kind.TAGGED ? matching.take(this, tag) : owner.incoming(kind, tag, length);
    }

    private @Nullable String onOffer(MemorySegment frame) {
        Optional<Kind> kind = Kind.of(Frame.kind(frame));
        int offerBytes = Frame.offerBytes(limits.rails());
        long headerBytes = frame.byteSize() - offerBytes;
        boolean isActive = kind.isPresent() && kind.get() == Kind.ACTIVE;
        boolean isRight = headerBytes == (isActive ? Frame.tag(frame) & 0xFFFF_FFFFL : 0)
                && headerBytes <= PeerLimits.HEADER_MAX
                && Frame.length(frame) >= 0;
        if (!isRight) {
            return "an offer of " + frame.byteSize() + " bytes";
        }
        if (kind.isEmpty()) {
            return "an offer of kind " + Frame.kind(frame);
        }
        Lane lane = lane(kind.get());
        if (lane != null && ++lane.waiting > limits.offersMax()) {
            return "an offer more than may wait";
        }
        var offer = new Offer(kind.get(), Frame.offer(frame), Frame.length(frame), Frame.memory(frame, limits.rails()));
        long tag = Frame.tag(frame);
        Optional<Incoming> incoming = isActive
                ? owner.active(
                        (int) (tag >>> 32), frame.asSlice(offerBytes).toArray(ValueLayout.JAVA_BYTE), offer.length)
                : find(kind.get(), tag, offer.length);
        if (incoming.isPresent()) {
            if (kind.get().isUnasked()) {
                unread.add(new Unread(offer, tag, incoming.get()));
            } else {
                read(offer, tag, incoming.get());
            }
            return null;
        }
        if (kind.get() != Kind.TAGGED) {
            return "an offer that is not taken: " + kind.get();
        }
        matching.keep(this, tag, new byte[0], offer);
        return null;
    }

    /// Reads an offered message into a receive.
    void read(Offer offer, long tag, Incoming incoming) {
        Lane lane = lane(offer.kind);
        if (lane != null) {
            lane.waiting--;
        }
        MemorySegment memory = incoming.memory();
        long bytes = Math.min(offer.length, memory.byteSize());
        if (bytes == 0) {
            taken.add(offer.number);
            incoming.done(owner, tag, offer.length);
            return;
        }
        reads.add(new Read(offer.number, offer.at, memory.asSlice(0, bytes), incoming, tag, offer.length));
    }

    /// Takes an offer without reading it, unless that has begun. False then.
    boolean drop(Incoming unwanted) {
        return unread.removeIf(each -> each.incoming == unwanted && taken.add(each.offer.number))
                || reads.removeIf(each -> each.incoming == unwanted && taken.add(each.offer));
    }

    /// Releases the bytes of a kept message that was taken.
    void released(long bytes) {
        keptBytes -= bytes + PeerLimits.KEPT_COST;
        assert keptBytes >= 0 : keptBytes;
    }

    /// Handles the end of a READ.
    public void onRead(Read read) {
        readsUnderWay--;
        if (lost != null) {
            return;
        }
        taken.add(read.offer);
        read.incoming.done(owner, read.tag, read.length);
    }

    private @Nullable String onTaken(int number) {
        Outgoing message = offered.remove(number);
        if (message == null) {
            return "an offer was taken that was not made: " + number;
        }
        Lane lane = lane(message.kind);
        if (lane != null) {
            lane.offered--;
        }
        if (message.data.byteSize() > 0) {
            owner.withdraw(number, true);
        }
        message.done();
        return null;
    }

    // ---- the end

    /// Fails everything that is under way with the peer, which is lost; happens once.
    ///
    /// @param underWay READs that were pulled out and are not done
    public void lose(String why, Iterable<Read> underWay) {
        if (lost != null) {
            return;
        }
        lost = why;
        offered.forEach((number, message) -> {
            if (message.data.byteSize() > 0) {
                owner.withdraw(number, false);
            }
            message.failed(why);
        });
        offered.clear();
        for (Lane lane : List.of(tagged, active)) {
            lane.heldBack.forEach(message -> message.failed(why));
            lane.heldBack.clear();
        }
        waiting.forEach(message -> message.failed(why));
        waiting.clear();
        reads.forEach(read -> read.incoming.failed(why));
        reads.clear();
        unread.forEach(each -> each.incoming.failed(why));
        unread.clear();
        underWay.forEach(read -> read.incoming.failed(why));
        matching.forget(this, why);
    }
}
