package verbena.tools.report;

import org.jspecify.annotations.Nullable;

/// The time of an operation, in microseconds: least, median, percentiles, most. Mean and deviation are null where
/// they are not known.
///
/// @param p999 what 99.9 % do not exceed
public record Latency(
        double min,
        double p50,
        double p99,
        double p999,
        double max,
        @Nullable Double mean,
        @Nullable Double deviation) {
    /// Makes a latency without mean and deviation.
    public Latency(double min, double p50, double p99, double p999, double max) {
        this(min, p50, p99, p999, max, null, null);
    }
}
