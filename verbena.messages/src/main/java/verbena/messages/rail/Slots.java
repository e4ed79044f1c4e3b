package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;

/// The memory from which a worker sends, in slots of a frame each. All devices of the worker have it registered, so a
/// frame that was lost with one can be sent again by another. Claimed when it is made. Under the lock of the worker.
final class Slots {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final int frameBytes;

    private final int[] free;
    private int freeCount;
    /// Which peer has a slot.
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

    /// Bytes of a slot: the header that frames have when there are several rails, and the frame.
    int stride() {
        return Rails.HEADER_BYTES + frameBytes;
    }

    MemorySegment memory() {
        return memory;
    }

    /// A slot that is free; negative when all are under way.
    int peek() {
        return freeCount == 0 ? -1 : free[freeCount - 1];
    }

    /// Where the header of a slot begins.
    long offset(int slot) {
        return (long) slot * stride();
    }

    /// Where the frame of a slot begins.
    long frameOffset(int slot) {
        return offset(slot) + Rails.HEADER_BYTES;
    }

    /// Memory for a frame to send.
    MemorySegment toSend(int slot) {
        MemorySegment slice = toSend[slot];
        if (slice == null) {
            slice = memory.asSlice(frameOffset(slot), frameBytes);
            toSend[slot] = slice;
        }
        return slice;
    }

    /// Memory for the header before it.
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

    /// A peer whose frames will not complete any more.
    void forget(Object gone) {
        for (int i = 0; i < owners.length; i++) {
            give(i, gone);
        }
    }

    /// After all devices have let go of it.
    void close() {
        arena.close();
    }
}
