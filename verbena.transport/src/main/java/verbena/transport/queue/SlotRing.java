package verbena.transport.queue;

import java.util.function.Supplier;

/// The slots of a ring, made when they are first needed: as many as were ever in use at once. So a deep queue costs
/// little as long as little is in it, and after that nothing is made any more. The ring grows with its slots.
///
/// Slots move: a thread that fills position n gets the slot that became free last, because the caches still have it.
/// Before more become free, it gets the others in the order in which they became free. So a queue that was full
/// once, and has one thing in it at a time since, keeps to one slot. Positions count up for ever. Filling is for one
/// thread at a time. Other threads may look at a position once it was handed to them.
public final class SlotRing<T> {
    /// Places at first, and twice as many each time that they are too few.
    private static final int PLACES_FIRST = 4;

    private final Supplier<T> maker;
    private final int placesMax;
    /// Replaced by the thread that fills, before it hands out a slot that is only in the new ones. A slot in use
    /// stays where it is in the old ones, for a thread that still looks there.
    private volatile T[] slots;
    /// The position before which all positions have had a slot.
    private long filled;
    /// The position before which all slots have moved on.
    private long moved;

    /// @param capacity positions that can be in use at once
    /// @param maker makes a slot
    public SlotRing(int capacity, Supplier<T> maker) {
        this.maker = maker;
        this.placesMax = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.slots = newArray(Math.min(placesMax, PLACES_FIRST));
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // an array of a generic type
    private static <T> T[] newArray(int size) {
        return (T[]) new Object[size];
    }

    /// Returns the slot to be filled at `position`: another slot, or a slot that was taken back.
    ///
    /// @param free positions before this are not in use any more
    public T claim(long position, long free) {
        assert position >= free && position - free < placesMax : "inside the ring";
        assert position <= filled && moved <= filled : "order of positions";
        T[] all = slots;
        int mask = all.length - 1;
        int at = (int) position & mask;
        if (position < filled) {
            return all[at];
        }
        if (moved < free) {
            filled = position + 1;
            int last = (int) (free - 1) & mask;
            T slot = all[last];
            all[last] = all[(int) moved++ & mask]; // free positions that have slots stay one behind the other
            all[at] = slot;
            return slot;
        }
        T fresh = maker.get(); // first: when there is no memory for it, nothing has happened
        if (position - moved == all.length) {
            all = grown(all);
        }
        all[(int) position & all.length - 1] = fresh;
        filled = position + 1;
        return fresh;
    }

    private T[] grown(T[] from) {
        T[] to = newArray(2 * from.length);
        for (long position = moved; position < filled; position++) {
            to[(int) position & to.length - 1] = from[(int) position & from.length - 1];
        }
        slots = to;
        return to;
    }

    /// Returns the slot at a position in use.
    public T at(long position) {
        T[] all = slots;
        return all[(int) position & all.length - 1];
    }

    /// Moves the slots of the positions in use, `from` to before `to`, to another ring; this one is not used
    /// again.
    public SlotRing<T> resized(int capacity, long from, long to) {
        var other = new SlotRing<T>(capacity, maker);
        assert from <= to && to - from <= other.placesMax : "what is in use fits";
        int places = other.slots.length;
        while (places < to - from) {
            places *= 2;
        }
        T[] all = newArray(places);
        for (long position = from; position < to; position++) {
            all[(int) position & places - 1] = at(position);
        }
        other.slots = all;
        other.filled = to;
        other.moved = from;
        return other;
    }
}
