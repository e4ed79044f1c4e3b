package verbena.transport.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Finds things by a 24-bit handle that a peer cannot guess. Handles are drawn at random from all that are free. A
/// handle that was given back rests before it can be drawn again, so that a late packet does not meet a new owner.
/// Finding costs an array read and a look at what is there, and never locks.
///
/// It is a hash table with open addressing: numbers in use are spread over 24 bits, so a table by position would
/// have a page for each of them.
///
/// @param <T> the object that is found
public final class KeyTable<T> {
    /// The time that a handle rests: 60 s, as long as Linux's TCP stays in TIME_WAIT. By then a peer with an ACK
    /// timeout of up to 1.07 s and 7 retries has given up, even if each timer runs four times as long (IBTA
    /// C9-141).
    /// No network that carries RDMA holds a packet for so long.
    public static final long REST_NANOS = 60_000_000_000L;
    /// Handles that rest at once, at most; when one more comes, the oldest has rested.
    static final int RESTING_MAX = 1 << 20;
    /// Handles of a slot.
    private static final int SLOT_SIZE = 1 << 16;

    private static final int HANDLE_MASK = 0xFF_FFFF;
    private static final int SMALLEST_TABLE = 64;
    /// 2^32 divided by the golden ratio: spreads handles that are close together (Knuth, volume 3, 6.4).
    private static final int SPREAD = 0x9E37_79B1;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Entry[].class);
    private static final Object RESTING = new Object();
    /// The place of a handle that has rested. A search for another handle goes on behind it.
    private static final Entry GONE = new Entry(-1, RESTING);

    /// A handle, and the object that it names.
    private static final class Entry {
        final int handle;
        volatile Object value;
        /// The time when a resting handle was given back.
        long restingSinceNanos;

        Entry(int handle, Object value) {
            this.handle = handle;
            this.value = value;
        }
    }

    /// A power of two places, less than half of them taken. Replaced as a whole; entries live on in the next one.
    private volatile @Nullable Entry[] table = new @Nullable Entry[SMALLEST_TABLE];
    /// Places that are not free, those of [#GONE] included.
    private int taken;

    private final RandomGenerator random;
    private final int first;
    private final int base;
    private final int size;
    private final int limit;
    private final LongSupplier clock;
    private final ArrayDeque<Entry> resting = new ArrayDeque<>();
    private int count;

    /// @param random unpredictable to peers; in a simulation, seeded
    /// @param first smallest handle to give out
    /// @param limit how many can be in use at once, up to 2^23
    /// @param clock nanoseconds, monotonic
    public KeyTable(RandomGenerator random, int first, int limit, LongSupplier clock) {
        this(random, first, 0, HANDLE_MASK + 1, limit, clock);
    }

    private KeyTable(RandomGenerator random, int first, int base, int size, int limit, LongSupplier clock) {
        this.clock = clock;
        this.random = random;
        this.first = first;
        this.base = base;
        this.size = size;
        // Half of the handles at most, so that drawing a free one is soon done.
        this.limit = Math.min(limit, size / 2);
    }

    /// Makes a table that gives out only handles whose eight highest bits are `slot`, because others give out the
    /// rest: 32,768 in use at once, at most.
    ///
    /// @param slot 0 to 255
    /// @param first smallest handle to give out
    public static <T> KeyTable<T> ofSlot(RandomGenerator random, int slot, int first, int limit, LongSupplier clock) {
        return new KeyTable<>(random, first, slot * SLOT_SIZE, SLOT_SIZE, limit, clock);
    }

    /// Returns the number of handles that can be in use at once.
    public int limit() {
        return limit;
    }

    /// Finds without locking; null when nothing has this handle.
    @SuppressWarnings("unchecked") // what is neither absent nor resting is a T
    public @Nullable T get(int handle) {
        Object found = find(handle);
        return RESTING.equals(found) ? null : (T) found;
    }

    /// Returns whether this handle was given back not long ago. Never locks.
    public boolean isResting(int handle) {
        return RESTING.equals(find(handle));
    }

    private @Nullable Object find(int handle) {
        Entry found = entry(table, handle & HANDLE_MASK);
        return found == null ? null : found.value;
    }

    private static @Nullable Entry entry(@Nullable Entry[] in, int handle) {
        int mask = in.length - 1;
        for (int i = place(handle, mask); ; i = (i + 1) & mask) {
            Entry there = (Entry) ELEMENT.getAcquire(in, i);
            if (there == null || there.handle == handle) {
                return there;
            }
        }
    }

    private static int place(int handle, int mask) {
        return ((handle * SPREAD) >>> 8) & mask;
    }

    /// Puts `value` under a fresh handle; -1 when the limit is reached.
    public int add(T value) {
        return add((int handle) -> value);
    }

    /// Makes a value that knows its handle and puts it there; -1, and nothing made, when the limit is reached.
    public synchronized int add(IntFunction<? extends T> make) {
        if (count == limit) {
            return -1;
        }
        wakeRested(clock.getAsLong());
        while (true) {
            int handle = base | (random.nextInt() & (size - 1));
            // All ones is given to no value: as a queue pair number it means a multicast (IBTA 9.2).
            if (handle >= first && handle != HANDLE_MASK && entry(table, handle) == null) {
                put(new Entry(handle, make.apply(handle)));
                count++;
                return handle;
            }
        }
    }

    /// Takes the value away; the handle rests.
    public synchronized void remove(int handle) {
        Entry there = entry(table, handle & HANDLE_MASK);
        if (there == null || RESTING.equals(there.value)) {
            return;
        }
        there.value = RESTING;
        there.restingSinceNanos = clock.getAsLong();
        count--;
        assert count >= 0 : "only what was added is removed";
        resting.add(there);
    }

    private void wakeRested(long now) {
        for (Entry oldest = resting.peek();
                oldest != null && (now - oldest.restingSinceNanos >= REST_NANOS || resting.size() > restingMax());
                oldest = resting.peek()) {
            forget(oldest);
            resting.remove();
        }
    }

    // The most handles that may rest, so that a quarter of all handles stays free.
    private int restingMax() {
        return Math.min(RESTING_MAX, size - size / 4 - count);
    }

    /// Returns the number of handles in use.
    public synchronized int size() {
        return count;
    }

    private void put(Entry entry) {
        if (2 * (taken + 1) > table.length) {
            rebuild();
        }
        place(table, entry);
        taken++;
        assert 2 * taken <= table.length && count + resting.size() < taken : "at most half is taken";
    }

    private void forget(Entry entry) {
        @Nullable Entry[] in = table;
        int mask = in.length - 1;
        int i = place(entry.handle, mask);
        while (in[i] != entry) {
            i = (i + 1) & mask;
        }
        ELEMENT.setRelease(in, i, GONE);
    }

    /// Makes a table of twice the size that is needed, without places that are [#GONE].
    private void rebuild() {
        int live = count + resting.size();
        int size = Math.max(SMALLEST_TABLE, Integer.highestOneBit(Math.max(1, live)) << 3);
        @Nullable Entry[] next = new @Nullable Entry[size];
        for (Entry each : table) {
            if (each != null && each != GONE) {
                place(next, each);
            }
        }
        taken = live;
        table = next;
    }

    private static void place(@Nullable Entry[] in, Entry entry) {
        int mask = in.length - 1;
        int i = place(entry.handle, mask);
        while (in[i] != null) {
            i = (i + 1) & mask;
        }
        ELEMENT.setRelease(in, i, entry);
    }
}
