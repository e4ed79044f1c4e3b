package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// The frames that are under way between two workers, and the rails over which they go. A rail is a connection; two
/// workers have one, or several over several devices. Without input and output. Guarded by the worker.
///
/// **Frames** go by one rail, the lowest that is not lost, in order. With several rails each has a header: its
/// number, and how many frames this end has got. Its slot is kept until the other end has it, so that it can be sent
/// again.
///
/// **A lost rail.** An end that finds a rail lost takes nothing from it any more. It tells the other end, by the
/// lowest rail that is left: which rails are lost, and how many frames it has got. The other end gives them up too,
/// and tells the same. An end whose rail for frames was lost waits until both have told of the same lost rails. Then
/// it knows what the other end has got, and sends all behind that again, by the lowest rail that is left. Rails
/// never come back.
public final class Rails {
    /// Rails of two workers at most.
    public static final int MAX = 8;
    /// The length of the header before each frame, when there are several rails.
    public static final int HEADER_BYTES = 8;
    /// The length of a frame that lists lost rails.
    public static final int TOLD_BYTES = 12;
    /// The token by which further rails are joined.
    public static final int TOKEN_BYTES = 16;

    private static final int NO_NUMBER = -1;
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final int count;
    private final int underWayMax;
    // Of the frames that are kept, by their number and this mask.
    private final int ring;
    private final int[] slots;
    private final int[] lengths;

    // Sending. Frames count from 1.
    private long put;
    private long next = 1;
    private long completed;
    private long acknowledged;
    private long freed;

    // Receiving.
    private long received;
    private long receivedThere;

    // Sets of rails, a bit for each.
    private int joined;
    private int lost;
    private int lostThere;
    private int rail;
    private boolean isToTell;

    /// @param count of rails, 1 to [#MAX]
    /// @param window of the two workers
    /// @param underWayMax frames that the device has at once
    public Rails(int count, int window, int underWayMax) {
        this.count = count;
        this.underWayMax = underWayMax;
        int kept = Integer.highestOneBit(Math.max(window, underWayMax)) * 2;
        this.ring = kept - 1;
        this.slots = new int[kept];
        this.lengths = new int[kept];
    }

    // ---- the rails

    public int count() {
        return count;
    }

    public boolean areSeveral() {
        return count > 1;
    }

    /// Adds a rail.
    public void join(int which) {
        joined |= 1 << which;
    }

    public boolean isUsable(int which) {
        return (joined & ~lost & 1 << which) != 0;
    }

    public boolean areAllJoined() {
        return joined == (1 << count) - 1;
    }

    public boolean areAllLost() {
        return lost == (1 << count) - 1;
    }

    /// Returns the number of rails that are there.
    public int usable() {
        return Integer.bitCount(joined & ~lost);
    }

    /// Removes a rail that does not work any more; returns false when it was removed before.
    public boolean lose(int which) {
        if ((lost & 1 << which) != 0) {
            return false;
        }
        lost |= 1 << which;
        isToTell = true;
        agree();
        return true;
    }

    /// Returns whether both ends know of the same lost rails, so that nothing will ever arrive by these.
    public boolean isAgreed() {
        return lost == lostThere;
    }

    /// Returns the rail of frames and of everything that keeps their order; negative while there is none.
    public int forFrames() {
        return isUsable(rail) ? rail : -1;
    }

    private int lowest() {
        return Integer.numberOfTrailingZeros(~lost);
    }

    private void agree() {
        if (isAgreed() && (lost & 1 << rail) != 0 && !areAllLost()) {
            rail = lowest();
            acknowledged = receivedThere;
            completed = receivedThere; // what is behind that is sent again
            next = receivedThere + 1;
            assert areInOrder() : this;
        }
    }

    /// Returns whether the positions of frames to send are in order: none is needed no more before the device has
    /// sent it, or sent before it was put.
    private boolean areInOrder() {
        return freed <= completed && completed < next && next <= put + 1 && acknowledged < next;
    }

    @Override
    public String toString() {
        return "freed " + freed + ", completed " + completed + ", acknowledged " + acknowledged + ", next " + next
                + ", put " + put;
    }

    // ---- departures

    /// Returns whether a frame may be sent now.
    public boolean maySend() {
        return isUsable(rail) && next - 1 - completed < underWayMax;
    }

    /// Returns whether the next frame was put before and goes again.
    public boolean isToSendAgain() {
        return next <= put;
    }

    /// Adds a new frame behind all others.
    public void put(int slot, int bytes) {
        put++;
        slots[(int) put & ring] = slot;
        lengths[(int) put & ring] = bytes;
    }

    /// Returns the slot of the frame to send next.
    public int slot() {
        return slots[(int) next & ring];
    }

    /// Returns the length of the frame to send next in bytes, without its header.
    public int bytes() {
        return lengths[(int) next & ring];
    }

    /// Writes the header of the frame to send next.
    public void writeHeader(MemorySegment out) {
        out.set(INT, 0, number(next));
        out.set(INT, 4, number(received));
    }

    private static int number(long frames) {
        return (int) frames & Integer.MAX_VALUE;
    }

    /// Counts a frame that was given to the device.
    public void sent() {
        next++;
        assert areInOrder() : this;
    }

    /// Handles the completion of the oldest frame that the device had.
    public void completed(int which) {
        if (which == rail && isUsable(which) && completed < next - 1) {
            completed++;
        }
    }

    /// Returns whether the device has sent all frames.
    public boolean isIdle() {
        return completed >= put;
    }

    /// Returns the slot of a frame that is needed no more; negative when there is none.
    public int free() {
        assert areInOrder() : this;
        long done = areSeveral() ? Math.min(completed, acknowledged) : completed;
        return freed < done ? slots[(int) ++freed & ring] : -1;
    }

    // ---- telling of lost rails

    /// Returns the rail for the list of lost rails; negative when there is nothing to send, or no rail yet.
    public int toTell() {
        return isToTell && areSeveral() && isUsable(lowest()) ? lowest() : -1;
    }

    /// Writes what is to be told.
    ///
    /// @return its bytes
    public int tell(MemorySegment out) {
        isToTell = false;
        out.set(INT, 0, NO_NUMBER);
        out.set(INT, 4, number(received));
        out.set(INT, 8, lost);
        return TOLD_BYTES;
    }

    /// Writes the frame that tells how to join further rails.
    ///
    /// @return its bytes
    public static int writeToken(MemorySegment out, byte[] token) {
        out.set(INT, 0, NO_NUMBER);
        MemorySegment.copy(MemorySegment.ofArray(token), 0, out, 4, TOKEN_BYTES);
        return 4 + TOKEN_BYTES;
    }

    /// Returns the token in a frame that lists lost rails; null for any other frame.
    public static byte @Nullable [] token(MemorySegment frame, long bytes) {
        return bytes == 4 + TOKEN_BYTES && frame.get(INT, 0) == NO_NUMBER
                ? frame.asSlice(4, TOKEN_BYTES).toArray(ValueLayout.JAVA_BYTE)
                : null;
    }

    // ---- arrivals, when there are several rails

    /// Returns whether a frame lists lost rails.
    public static boolean isTold(MemorySegment frame, long bytes) {
        return bytes == TOLD_BYTES && frame.get(INT, 0) == NO_NUMBER;
    }

    /// Handles the other end's list of lost rails. Returns its fault, or null when all is well.
    public @Nullable String onTold(MemorySegment frame) {
        int theirs = frame.get(INT, 8);
        if (theirs == lostThere || (theirs & lostThere) != lostThere || theirs >>> count != 0) {
            return "rails lost: 0x" + Integer.toHexString(theirs) + " after 0x" + Integer.toHexString(lostThere);
        }
        long frames = acknowledged + (frame.get(INT, 4) - number(acknowledged) & Integer.MAX_VALUE);
        if (frames > next - 1) {
            return "more frames received than were sent";
        }
        receivedThere = frames;
        lostThere = theirs;
        if ((theirs & ~lost) != 0) {
            lost |= theirs;
            isToTell = true;
        }
        agree();
        return null;
    }

    /// Handles a frame that has come by a usable rail. Returns its fault, or null when it is the next frame.
    public @Nullable String onFrame(int which, MemorySegment frame, long bytes) {
        if (bytes < HEADER_BYTES) {
            return "a frame of " + bytes + " bytes";
        }
        if (which != lowest()) {
            return "a frame by rail " + which + " in place of " + lowest();
        }
        if (frame.get(INT, 0) != number(received + 1)) {
            return "frame " + frame.get(INT, 0) + " in place of " + number(received + 1);
        }
        long frames = acknowledged + (frame.get(INT, 4) - number(acknowledged) & Integer.MAX_VALUE);
        if (frames > next - 1) {
            return "more frames received than were sent";
        }
        acknowledged = frames;
        received++;
        return null;
    }
}
