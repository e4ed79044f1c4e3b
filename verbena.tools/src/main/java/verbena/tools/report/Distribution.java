package verbena.tools.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The number of messages by latency: classes, each a ninth wider than the one before.
///
/// @param fromUs where each class begins, in microseconds; the last is where the one before ends
/// @param percent the share of the messages in each class
public record Distribution(List<Double> fromUs, List<Double> percent) {
    private static final double CLASSES_AN_OCTAVE = 8;
    private static final double ALL = 100;

    /// Returns the distribution of latencies in microseconds, all more than 0, in any order; at least one.
    public static Distribution of(double[] us) {
        double least = Arrays.stream(us).min().orElseThrow();
        double most = Arrays.stream(us).max().orElseThrow();
        var counts = new int[classOf(most, least) + 1];
        for (double time : us) {
            counts[classOf(time, least)]++;
        }
        var from = new ArrayList<Double>();
        var percent = new ArrayList<Double>();
        for (int i = 0; i <= counts.length; i++) {
            from.add(least * Math.pow(2, i / CLASSES_AN_OCTAVE));
            percent.add(i < counts.length ? ALL * counts[i] / us.length : 0);
        }
        return new Distribution(from, percent);
    }

    private static int classOf(double time, double least) {
        return (int) (Math.log(time / least) / Math.log(2) * CLASSES_AN_OCTAVE);
    }
}
