package verbena.tools.report;

import java.util.Arrays;

/// The figures of several rounds: the median, the least and the greatest figure.
public record Spread(double median, double least, double most) {
    /// Returns the spread of some figures.
    ///
    /// @param figures at least one, in any order
    public static Spread of(double... figures) {
        double[] sorted = figures.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }
}
