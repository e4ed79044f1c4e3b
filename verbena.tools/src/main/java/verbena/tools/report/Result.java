package verbena.tools.report;

import org.jspecify.annotations.Nullable;

/// The figures for messages of one size. A figure that was not measured is null, and left out of every report.
///
/// @param series what was measured: the name of its curve; null when a report has only one
/// @param size bytes of a message
/// @param iterations how many messages
/// @param bandwidthMBps bandwidth in 2^20 bytes a second, as perftest, UCX and iperf3 have it
/// @param bandwidthPeakMBps the same of the fastest messages, where they are looked for
/// @param messageRateMpps million messages a second
/// @param timeline the bandwidth, else the latency, through the run
/// @param distribution of the latencies
public record Result(
        @Nullable String series,
        long size,
        long iterations,
        @Nullable Double bandwidthMBps,
        @Nullable Double bandwidthPeakMBps,
        @Nullable Double messageRateMpps,
        @Nullable Latency latencyUs,
        @Nullable Timeline timeline,
        @Nullable Distribution distribution) {
    /// Makes a result without the course of the run.
    public Result(
            @Nullable String series,
            long size,
            long iterations,
            @Nullable Double bandwidthMBps,
            @Nullable Double messageRateMpps,
            @Nullable Latency latencyUs) {
        this(series, size, iterations, bandwidthMBps, null, messageRateMpps, latencyUs, null, null);
    }
}
