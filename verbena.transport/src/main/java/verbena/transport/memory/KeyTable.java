package verbena.transport.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Finds things by a 24-bit handle that nobody can guess: handles are drawn at random from all that are free, and a
/// handle that was given back rests before it can be drawn again, so that a late packet does not meet a new owner.
/// Finding costs two array reads and never locks.
///
/// @param <T> what is found
public final class KeyTable<T> {
    /// How long a handle rests: 60 s, as long as Linux's TCP stays in TIME_WAIT. A peer with an ACK timeout of up
    /// to 1.07 s and 7 retries has given up by then, even if each timer runs for four times its value (IBTA
    /// C9-141), and no network that carries RDMA holds a packet for so long.
    public static final long REST_NANOS = 60_000_000_000L;
    /// Handles that rest at once, at most; when one more comes, the oldest has rested.
    static final int RESTING_MAX = 1 << 20;
    /// Handles of a slot.
    private static final int SLOT_SIZE = 1 << 16;

    private static final int LEAF_BITS = 8;
    private static final int LEAF_SIZE = 1 << LEAF_BITS;
    private static final int HANDLE_MASK = 0xFF_FFFF;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final Object RESTING = new Object();

    private final @Nullable Object[] leaves = new @Nullable Object[1 << (24 - LEAF_BITS)];
    private final RandomGenerator random;
    private final int first;
    private final int base;
    private final int size;
    private final int limit;
    private final LongSupplier clock;
    private final ArrayDeque<Rest> resting = new ArrayDeque<>();
    private int count;

    /// A handle and the time at which it was given back.
    private record Rest(int handle, long sinceNanos) {}

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

    /// A table that gives out only handles whose eight highest bits are `slot`, because others give out the rest:
    /// 32,768 in use at once, at most.
    ///
    /// @param slot 0 to 255
    /// @param first smallest handle to give out
    public static <T> KeyTable<T> ofSlot(RandomGenerator random, int slot, int first, int limit, LongSupplier clock) {
        return new KeyTable<>(random, first, slot * SLOT_SIZE, SLOT_SIZE, limit, clock);
    }

    /// How many can be in use at once.
    public int limit() {
        return limit;
    }

    /// Finds without locking; null when nothing has this handle.
    @SuppressWarnings("unchecked") // what is neither absent nor resting is a T
    public @Nullable T get(int handle) {
        Object found = find(handle);
        return RESTING.equals(found) ? null : (T) found;
    }

    /// Whether this handle was given back not long ago. Never locks.
    public boolean isResting(int handle) {
        return RESTING.equals(find(handle));
    }

    private @Nullable Object find(int handle) {
        Object leaf = ELEMENT.getAcquire(leaves, (handle >>> LEAF_BITS) & 0xFFFF);
        return leaf == null ? null : ELEMENT.getAcquire((Object[]) leaf, handle & (LEAF_SIZE - 1));
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
            // All ones is nobody's own: as a queue pair number it means a multicast (IBTA 9.2).
            if (handle >= first && handle != HANDLE_MASK && slot(handle) == null) {
                set(handle, make.apply(handle));
                count++;
                return handle;
            }
        }
    }

    /// Takes the value away; the handle rests.
    public synchronized void remove(int handle) {
        Object there = slot(handle);
        if (there == null || RESTING.equals(there)) {
            return;
        }
        set(handle, RESTING);
        count--;
        resting.add(new Rest(handle, clock.getAsLong()));
    }

    private void wakeRested(long now) {
        for (Rest oldest = resting.peek();
                oldest != null && (now - oldest.sinceNanos >= REST_NANOS || resting.size() > restingMax());
                oldest = resting.peek()) {
            set(oldest.handle, null);
            resting.remove();
        }
    }

    // Also no more than leave a quarter of all handles free.
    private int restingMax() {
        return Math.min(RESTING_MAX, size - size / 4 - count);
    }

    /// How many are in use.
    public synchronized int size() {
        return count;
    }

    private @Nullable Object slot(int handle) {
        Object leaf = leaves[handle >>> LEAF_BITS];
        return leaf == null ? null : ((Object[]) leaf)[handle & (LEAF_SIZE - 1)];
    }

    private void set(int handle, @Nullable Object value) {
        Object leaf = leaves[handle >>> LEAF_BITS];
        if (leaf == null) {
            leaf = new Object[LEAF_SIZE];
            ELEMENT.setRelease(leaves, handle >>> LEAF_BITS, leaf);
        }
        ELEMENT.setRelease((Object[]) leaf, handle & (LEAF_SIZE - 1), value);
    }
}
