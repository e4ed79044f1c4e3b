package verbena.check;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.FlushTarget;
import verbena.verbs.spi.SendOperation;

/// A request of the program, from the moment before it is posted. The thread that posts it fills it; it does not
/// change afterwards, but for the note of a rule.
public final class TrackedRequest {
    /// One piece of local memory that a request names.
    ///
    /// @param lkey of its region
    /// @param region null when the key is of no region that is known
    /// @param memory null when it cannot be read
    public record Piece(
            int lkey,
            @Nullable TrackedRegion region,
            @Nullable MemorySegment memory,
            long length) {
        /// Returns the address of its first byte in this process; 0 when there is none.
        long from() {
            return memory == null ? 0 : memory.address();
        }

        /// Returns whether the two have a byte in common.
        public boolean overlaps(Piece other) {
            return memory != null
                    && other.memory != null
                    && from() < other.from() + other.length
                    && other.from() < from() + length;
        }
    }

    /// A property that the program has given to a request.
    public enum Flag {
        /// The request asks for a completion.
        SIGNALED,
        /// The request waits for READs and atomics before it.
        FENCED,
        /// The request cannot be carried out, as its poster knows.
        FAULTY
    }

    /// The part of a request that only some operations have.
    public sealed interface Detail permits Destination, Binding, Flushing {}

    /// The queue pair that a datagram is for.
    ///
    /// @param handle the address handle
    /// @param path that of the handle
    public record Destination(Object handle, AddressVector path, int qpn, int qkey) implements Detail {}

    /// The bytes of a region that a window is bound to.
    ///
    /// @param address of the first byte, as peers name those of the region
    /// @param isOfPair whether only the peer of the queue pair that binds it may use it
    public record Binding(TrackedRegion region, long address, long length, Set<Access> access, boolean isOfPair)
            implements Detail {}

    /// The bytes of a FLUSH, and the places where it brings them.
    ///
    /// @param length of the bytes; 0 for the region
    public record Flushing(int length, Set<FlushTarget> targets) implements Detail {}

    private static final Piece[] NO_PIECES = {};

    private final @Nullable TrackedObject poster;
    private final @Nullable SendOperation operation;
    private final long wrId;
    private final long remoteAddress;
    private final int rkey;
    private Piece[] pieces = NO_PIECES;
    /// The flags, a bit for each.
    private int flags;

    private long inlineBytes;
    private @Nullable Detail detail;
    private CallPlace place = CallPlace.NONE;
    private long number;
    private long note;
    private volatile boolean isNoted;
    private volatile boolean isShared;

    /// @param poster the queue pair; null for a shared receive queue
    /// @param operation null for a receive
    /// @param rkey the key that it names, of the peer or of this side; 0 for none
    public TrackedRequest(
            @Nullable TrackedObject poster,
            @Nullable SendOperation operation,
            long wrId,
            long remoteAddress,
            int rkey) {
        this.poster = poster;
        this.operation = operation;
        this.wrId = wrId;
        this.remoteAddress = remoteAddress;
        this.rkey = rkey;
    }

    /// Returns the queue pair that it is posted on; null for a shared receive queue.
    public @Nullable TrackedObject poster() {
        return poster;
    }

    /// Returns the operation; null for a receive.
    public @Nullable SendOperation operation() {
        return operation;
    }

    public boolean isReceive() {
        return operation == null;
    }

    /// Returns whether the device writes to its local memory.
    public boolean fillsMemory() {
        return operation == null || operation == SendOperation.READ || operation.isAtomic();
    }

    public long wrId() {
        return wrId;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public int rkey() {
        return rkey;
    }

    /// Returns its pieces, in order.
    public Piece[] pieces() {
        return pieces;
    }

    /// Adds a piece.
    public void add(Piece piece) {
        pieces = Arrays.copyOf(pieces, pieces.length + 1);
        pieces[pieces.length - 1] = piece;
    }

    /// Returns what only its operation has; null when there is nothing.
    public @Nullable Detail detail() {
        return detail;
    }

    public void detail(Detail of) {
        detail = of;
    }

    /// Returns the bytes of all its pieces.
    public long bytes() {
        long all = inlineBytes;
        for (Piece each : pieces) {
            all += each.length;
        }
        return all;
    }

    public boolean isInline() {
        return inlineBytes > 0;
    }

    /// Adds bytes that were copied into the request.
    public void addInline(long bytes) {
        inlineBytes += bytes;
    }

    public boolean has(Flag flag) {
        return (flags & 1 << flag.ordinal()) != 0;
    }

    public void set(Flag flag) {
        flags |= 1 << flag.ordinal();
    }

    /// Returns where it was posted.
    public CallPlace place() {
        return place;
    }

    public void place(CallPlace at) {
        place = at;
    }

    /// Returns its number among the requests of its queue pair since the last reset, from 1; 0 for a receive.
    public long number() {
        return number;
    }

    void number(long of) {
        number = of;
    }

    /// Returns whether the program has let another request fill its bytes meanwhile.
    public boolean isShared() {
        return isShared;
    }

    /// Notes that its bytes may change by right before the program has seen it complete.
    public void share() {
        isShared = true;
    }

    /// Returns what the rule on changed bytes has kept.
    public long note() {
        return note;
    }

    /// Returns whether the rule on changed bytes has kept something. Other threads see a request while it is being
    /// posted, and may see it earlier.
    public boolean isNoted() {
        return isNoted;
    }

    public void note(long of) {
        note = of;
        isNoted = true;
    }
}
