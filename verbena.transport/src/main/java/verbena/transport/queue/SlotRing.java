package verbena.transport.queue;

import java.util.function.Supplier;

/// The slots of a ring, made when they are first needed: as many as were ever in use at once. So a deep queue costs
/// little as long as little is in it, and after that nothing is made any more.
///
/// Slots move: a thread that fills position n gets the slot that became free last, because the caches still have it.
/// Before more become free, it gets the others in the order in which they became free. So a queue that was full once,
/// and has one thing in it at a time since, keeps to one slot. Positions count up for ever. Filling is for one thread
/// at a time. Other threads may look at a position once it was handed to them.
public final class SlotRing<T> {
    private final Supplier<T> maker;
    private final T[] slots;
    private final int mask;
    /// The position before which all positions have had a slot.
    private long filled;
    /// The position before which all slots have moved on.
    private long moved;

    /// @param capacity positions that can be in use at once
    /// @param maker makes a slot
    public SlotRing(int capacity, Supplier<T> maker) {
        int size = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.maker = maker;
        this.slots = newArray(size);
        this.mask = size - 1;
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // an array of a generic type
    private static <T> T[] newArray(int size) {
        return (T[]) new Object[size];
    }

    /// The slot to be filled at `position`: another one, or one that was taken back.
    ///
    /// @param free positions before this are not in use any more
    public T claim(long position, long free) {
        assert position >= free && position - free < slots.length : "inside the ring";
        assert position <= filled && moved <= filled : "order of positions";
        int at = (int) position & mask;
        if (position < filled) {
            return slots[at];
        }
        filled = position + 1;
        if (moved < free) {
            int last = (int) (free - 1) & mask;
            T slot = slots[last];
            slots[last] = slots[(int) moved++ & mask]; // free positions that have slots stay one behind the other
            slots[at] = slot;
            return slot;
        }
        T fresh = maker.get();
        slots[at] = fresh;
        return fresh;
    }

    /// The slot at a position in use.
    public T at(long position) {
        assert position < filled : "it was filled";
        return slots[(int) position & mask];
    }

    /// Moves the slots of the positions in use, `from` to before `to`, to another ring; this one is not used
    /// again.
    public SlotRing<T> resized(int capacity, long from, long to) {
        var other = new SlotRing<T>(capacity, maker);
        assert from <= to && to - from <= other.slots.length : "what is in use fits";
        for (long position = from; position < to; position++) {
            other.slots[(int) position & other.mask] = at(position);
        }
        other.filled = to;
        other.moved = from;
        return other;
    }
}
