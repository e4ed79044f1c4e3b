package verbena.sim.card;

/// A histogram of times, whose buckets are 3 % wide.
final class Latencies {
    private static final int STEPS = 32;

    private final long[] counts = new long[64 * STEPS];
    private long count;

    void add(long picos) {
        long value = Math.max(1, picos);
        int exponent = 63 - Long.numberOfLeadingZeros(value);
        int step = exponent < 5 ? 0 : (int) (value >>> (exponent - 5)) & (STEPS - 1);
        counts[exponent * STEPS + step]++;
        count++;
    }

    long count() {
        return count;
    }

    /// Returns the time, in nanoseconds, that a share of all does not exceed; NaN when there is none.
    double percentile(double share) {
        long wanted = (long) Math.ceil(share * count);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted && counts[i] > 0) {
                int exponent = i / STEPS;
                double step = exponent < 5 ? 0 : i % STEPS + 0.5;
                return Math.scalb(1 + step / STEPS, exponent) / 1000;
            }
        }
        return Double.NaN;
    }
}
