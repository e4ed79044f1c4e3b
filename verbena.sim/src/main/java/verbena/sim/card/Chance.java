package verbena.sim.card;

/// Random numbers from a seed.
final class Chance {
    private long state;

    Chance(long seed) {
        state = mix(seed);
    }

    /// Mixes the bits of a number, as SplitMix64 does.
    static long mix(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /// Returns a number from 0 to `bound`, which it is less than.
    int below(int bound) {
        return (int) below((long) bound);
    }

    long below(long bound) {
        if (bound <= 1) {
            return 0;
        }
        state += 0x9E3779B97F4A7C15L;
        return (mix(state) >>> 1) % bound;
    }
}
