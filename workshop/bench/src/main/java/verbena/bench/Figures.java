package verbena.bench;

import java.util.Arrays;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// Results made from counts.
final class Figures {
    private static final double MEGA = 1 << 20;

    private Figures() {}

    static Result stream(long size, long messages, double seconds) {
        return new Result(null, size, messages, messages * size / MEGA / seconds, messages / seconds / 1e6, null);
    }

    /// @param nanos of round trips; one way is half of one
    static Result roundTrips(long size, long[] nanos, int count) {
        Arrays.sort(nanos, 0, count);
        var latency = new Latency(
                at(nanos, count, 0),
                at(nanos, count, 0.5),
                at(nanos, count, 0.99),
                at(nanos, count, 0.999),
                at(nanos, count, 1));
        return new Result(null, size, count, null, null, latency);
    }

    private static double at(long[] sorted, int count, double share) {
        return sorted[(int) Math.min(count - 1L, (long) (count * share))] / 2e3;
    }
}
