package verbena.transport.queue;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The numbers of receives without scatter entries, by position. Most often all have the same one, and it is kept
/// once. A thread that sets one hands the position to another thread afterwards.
final class NumberRing {
    private final int mask;
    /// The number of all receives, as long as there is no ring.
    private long common;

    private boolean hasCommon;
    /// The numbers by position; made when there is another number.
    private volatile long @Nullable [] ring;

    /// @param capacity positions that can be in use at once
    NumberRing(int capacity) {
        this.mask = (Integer.highestOneBit(Math.max(1, capacity - 1)) << 1) - 1;
    }

    void set(long position, long number) {
        long[] all = ring;
        if (!hasCommon) {
            common = number;
            hasCommon = true;
        } else if (all == null && number != common) {
            all = new long[mask + 1];
            Arrays.fill(all, common);
            ring = all;
        }
        if (all != null) {
            all[(int) position & mask] = number;
        }
    }

    /// Returns the number at a position in use.
    long at(long position) {
        long[] all = ring;
        return all == null ? common : all[(int) position & mask];
    }
}
