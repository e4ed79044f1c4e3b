package verbena.tools.perf;

import java.util.Arrays;

/// Times of messages, in the arithmetic of perftest: the two longest are left out, the median stands for the
/// typical, a percentile is the time at that place in the sorted row.
final class Latencies {
    /// The longest times, which do not count.
    private static final int TAIL = 2;

    private final double[] sorted;

    /// @param times in microseconds (or cycles), in any order
    Latencies(double[] times) {
        sorted = times.clone();
        Arrays.sort(sorted);
    }

    /// Returns all times, the two longest included.
    double[] sorted() {
        return sorted.clone();
    }

    private int counted() {
        return Math.max(1, sorted.length - TAIL);
    }

    double min() {
        return sorted[0];
    }

    double max() {
        return sorted[Math.min(counted(), sorted.length - 1)];
    }

    double median() {
        int n = counted();
        return n % 2 == 0 ? (sorted[n / 2] + sorted[n / 2 - 1]) / 2 : sorted[n / 2];
    }

    double average() {
        return Arrays.stream(sorted, 0, counted()).average().orElseThrow();
    }

    double deviation() {
        double average = average();
        return Math.sqrt(Arrays.stream(sorted, 0, counted())
                .map(t -> (t - average) * (t - average))
                .average()
                .orElseThrow());
    }

    /// @param share 0.99 for the time that one in a hundred exceeds
    double percentile(double share) {
        return sorted[Math.min((int) Math.ceil(counted() * share), sorted.length - 1)];
    }
}
