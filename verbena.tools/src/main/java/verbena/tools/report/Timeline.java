package verbena.tools.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A figure through a run.
///
/// @param seconds since the start of the run: the ends of stretches
/// @param values the figure in each stretch: MB/s of a bandwidth, the median in microseconds of a latency
public record Timeline(List<Double> seconds, List<Double> values) {
    /// The number of stretches, about, that is enough for a plot.
    public static final int POINTS = 100;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MEGABYTE = 1 << 20;

    /// Returns the course of times that were measured one after the other.
    ///
    /// @param nanos how long each took
    /// @param factor makes the latency in microseconds of it
    public static Timeline ofTimes(long[] nanos, double factor) {
        var seconds = new ArrayList<Double>();
        var values = new ArrayList<Double>();
        int each = Math.max(1, (nanos.length + POINTS - 1) / POINTS);
        double passed = 0;
        for (int from = 0; from < nanos.length; from += each) {
            double[] stretch = Arrays.stream(nanos, from, Math.min(nanos.length, from + each))
                    .mapToDouble(time -> time)
                    .toArray();
            passed += Arrays.stream(stretch).sum();
            seconds.add(passed / NANOS_PER_SECOND);
            values.add(Spread.of(stretch).median() * factor);
        }
        return new Timeline(seconds, values);
    }

    /// Returns the course of bytes that had arrived at some times.
    ///
    /// @param nanos the times, that of the start first
    /// @param bytes how many there were then
    public static Timeline ofBytes(long[] nanos, long[] bytes) {
        var seconds = new ArrayList<Double>();
        var values = new ArrayList<Double>();
        for (int i = 1; i < nanos.length; i++) {
            if (nanos[i] > nanos[i - 1]) {
                seconds.add((nanos[i] - nanos[0]) / NANOS_PER_SECOND);
                values.add((bytes[i] - bytes[i - 1]) / MEGABYTE / ((nanos[i] - nanos[i - 1]) / NANOS_PER_SECOND));
            }
        }
        return new Timeline(seconds, values);
    }
}
