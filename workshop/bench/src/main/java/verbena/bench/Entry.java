package verbena.bench;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Result;

/// One figure of the comparison: the contender, its operation and size, and its results, round by round.
final class Entry {
    /// Measures once.
    interface Measurement {
        /// @param iterations how many messages take about the requested time; ignored by measurements with a
        ///     time limit
        Result measure(double seconds, long iterations) throws Exception;
    }

    private static final double FIRST_SECONDS = 0.5;

    final String series;
    final long size;
    private final long first;
    private final Measurement measurement;
    final List<Result> results = new ArrayList<>();
    private @Nullable Result last;

    /// @param size of the messages; 0 when there are none
    /// @param first how many messages half a second has at the beginning, before their speed is known
    Entry(String series, long size, long first, Measurement measurement) {
        this.series = series;
        this.size = size;
        this.first = first;
        this.measurement = measurement;
    }

    void measure(double seconds, boolean counts) throws Exception {
        Result measured = measurement.measure(seconds, iterations(seconds));
        last = new Result(
                series,
                size,
                measured.iterations(),
                measured.bandwidthMBps(),
                measured.messageRateMpps(),
                measured.latencyUs());
        if (counts) {
            results.add(last);
        }
    }

    // Not too few: otherwise an entry that is slow at first would be measured ever more briefly.
    private long iterations(double seconds) {
        double unknown = first * seconds / FIRST_SECONDS;
        if (last == null) {
            return Math.max(1, (long) unknown);
        }
        double perSecond = last.latencyUs() != null
                ? 1e6 / (2 * last.latencyUs().p50())
                : last.messageRateMpps() != null ? last.messageRateMpps() * 1e6 : first / FIRST_SECONDS;
        return Math.max(1, (long) Math.max(unknown / 10, perSecond * seconds));
    }

    /// Returns its last result, more than 0: a latency, a rate or a bandwidth. 1 before the first measurement.
    double figure() {
        Result known = last;
        if (known == null) {
            return 1;
        }
        Double figure = known.latencyUs() != null
                ? Double.valueOf(known.latencyUs().p50())
                : known.messageRateMpps() != null ? known.messageRateMpps() : known.bandwidthMBps();
        return figure == null || figure <= 0 ? 1 : figure;
    }

    @Override
    public String toString() {
        return size == 0 ? series : series + ", " + Sizes.text(size);
    }
}
