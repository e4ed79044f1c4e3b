package verbena.sim.card;

import java.util.Arrays;

/// The part of a table in memory that a card holds: a cache with ways of four. A new entry replaces the one that was
/// used least recently.
final class HeldTable {
    private static final int WAYS = 4;

    private final long[] keys;
    private final long[] used;
    private final int sets;
    private long clock;
    private long looks;
    private long misses;

    HeldTable(int entries) {
        sets = Math.max(1, entries / WAYS);
        keys = new long[sets * WAYS];
        used = new long[sets * WAYS];
        Arrays.fill(keys, -1);
    }

    /// Looks an entry up, and holds it from now on.
    ///
    /// @return whether it was held
    boolean holds(long key) {
        looks++;
        clock++;
        int from = (int) Math.floorMod(Chance.mix(key) >>> 1, (long) sets) * WAYS;
        int oldest = from;
        for (int i = from; i < from + WAYS; i++) {
            if (keys[i] == key) {
                used[i] = clock;
                return true;
            }
            if (used[i] < used[oldest]) {
                oldest = i;
            }
        }
        keys[oldest] = key;
        used[oldest] = clock;
        misses++;
        return false;
    }

    long looks() {
        return looks;
    }

    long misses() {
        return misses;
    }
}
