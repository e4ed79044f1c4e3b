package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;

/// The memory from which a worker sends, in slots of a frame each. All devices of the worker have it registered, so
/// a frame that was lost with one can be sent again by another. Claimed when it is made. Under the lock of the
/// worker.
final class Slots {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int frameBytes;

    private final int[] free;
    private int freeCount;
    /// The owner of each slot, a peer.
    private final @Nullable Object[] owners;

    // Made when they are first used, so that a frame makes no object.
    private final @Nullable MemorySegment[] toSend;
    private final @Nullable MemorySegment[] headers;

    Slots(int slots, int frameBytes) {
        this.frameBytes = frameBytes;
        this.memory = arena.allocate((long) slots * stride(), Long.BYTES);
        this.free = new int[slots];
        this.owners = new Object[slots];
        this.toSend = new MemorySegment[slots];
        this.headers = new MemorySegment[slots];
        for (int i = 0; i < slots; i++) {
            free[freeCount++] = i;
        }
    }

    /// Returns the length of a slot in bytes: the header that frames have when there are several rails, and the
    /// frame.
    int stride() {
        return Rails.HEADER_BYTES + frameBytes;
    }

    MemorySegment memory() {
        return memory;
    }

    /// Returns a slot that is free; negative when all are under way.
    int peek() {
        return freeCount == 0 ? -1 : free[freeCount - 1];
    }

    /// Returns the offset of a slot's header.
    long offset(int slot) {
        return (long) slot * stride();
    }

    /// Returns the offset of a slot's frame.
    long frameOffset(int slot) {
        return offset(slot) + Rails.HEADER_BYTES;
    }

    /// Returns memory for a frame to send.
    MemorySegment toSend(int slot) {
        MemorySegment slice = toSend[slot];
        if (slice == null) {
            slice = memory.asSlice(frameOffset(slot), frameBytes);
            toSend[slot] = slice;
        }
        return slice;
    }

    /// Returns memory for the header before it.
    MemorySegment header(int slot) {
        MemorySegment slice = headers[slot];
        if (slice == null) {
            slice = memory.asSlice(offset(slot), Rails.HEADER_BYTES);
            headers[slot] = slice;
        }
        return slice;
    }

    /// Takes the slot that [#peek()] gave, until [#give].
    void take(int slot, Object by) {
        assert freeCount > 0 && slot == free[freeCount - 1] && owners[slot] == null : "slot " + slot + " is not free";
        freeCount--;
        owners[slot] = by;
    }

    /// Gives a slot back, unless it is another peer's by now.
    void give(int slot, Object by) {
        if (owners[slot] == by) {
            owners[slot] = null;
            free[freeCount++] = slot;
        }
    }

    /// Forgets a peer whose frames will not complete any more.
    void forget(Object gone) {
        for (int i = 0; i < owners.length; i++) {
            give(i, gone);
        }
    }

    /// Closes the memory, after all devices have stopped using it.
    void close() {
        arena.close();
    }
}
