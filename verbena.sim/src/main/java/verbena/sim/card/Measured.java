package verbena.sim.card;

import java.util.Map;

/// The result of a run.
///
/// @param requests        how many requests of the machine that is measured were complete
/// @param nanos           the time they took
/// @param median          the time from a post to the look at its completion, in nanoseconds
/// @param slowest         of 99 % of them
/// @param busy            the share of the time in which each part of the busiest machine was busy
/// @param pcieReads       reads of all cards for a request
/// @param pcieWrites      packets that all cards wrote for a request
/// @param contextMisses   the share of look-ups of queue pairs that missed
/// @param tableMisses     the share of look-ups of pages that missed
/// @param events          how much happened in the run
public record Measured(
        long requests,
        double nanos,
        double median,
        double slowest,
        Map<String, Double> busy,
        double pcieReads,
        double pcieWrites,
        double contextMisses,
        double tableMisses,
        long events) {
    /// A part counts as the bound from this share on.
    private static final double FULL = 0.85;

    /// Returns millions of requests a second.
    public double rate() {
        return requests * 1e3 / nanos;
    }

    /// Returns what bounds the rate: the busiest part, or the latency when none is busy.
    public String bound() {
        return busy.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .filter(each -> each.getValue() >= FULL)
                .map(Map.Entry::getKey)
                .orElse("latency");
    }
}
