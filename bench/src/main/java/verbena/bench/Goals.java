package verbena.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Goal;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// What is to be reached: ratios of medians in one run, each with the least and the greatest ratio of a round.
final class Goals {
    private static final double OVER_UCX = 1.5;
    private static final double OF_THE_CEILING = 0.5;
    private static final double BARE_OF_THE_CEILING = 0.7;
    private static final double OF_WRITE = 0.85;
    private static final double IWARP_OVER_UCX = 1;
    private static final double BARE_IWARP_OF_IPERF = 0.7;
    private static final double IWARP_LATENCY = 1.2;
    private static final double MANY_OVER_FEW = 1.3;
    private static final double RATE_MPPS = 2;
    private static final double RATE_ALONE_MPPS = 0.5;
    private static final double OF_TCP = 0.8;
    private static final double IDLE_PERCENT = 1;
    /// So much less than the smallest object that it is none, and so much more than what two runs differ by.
    private static final double ALLOCATED_BYTES = 0.1;

    final List<Goal> known = new ArrayList<>();
    final List<String> unknown = new ArrayList<>();
    private final Collection<Entry> entries;

    Goals(Collection<Entry> entries, List<Double> allocated, List<Double> idle) {
        this.entries = entries;
        for (int size : new int[] {Bench.LARGE, Bench.HUGE}) {
            // Peers are at their best with 64 KiB.
            atLeast(OVER_UCX, VerbenaPair.WRITE, size, Programs.Ucx.PUT, Bench.LARGE);
            atLeast(OF_THE_CEILING, VerbenaPair.WRITE, size, JavaPair.CEILING, Bench.LARGE);
            atLeast(OF_TCP, VerbenaPair.WRITE, size, JavaPair.TCP, size);
            atLeast(BARE_OF_THE_CEILING, VerbenaPair.BARE_WRITE, size, JavaPair.CEILING, Bench.LARGE);
            atLeast(OF_WRITE, VerbenaPair.READ, size, VerbenaPair.WRITE, size);
            atLeast(OF_WRITE, VerbenaPair.SEND, size, VerbenaPair.WRITE, size);
        }
        atLeast(1, VerbenaPair.WRITE, Bench.LARGE, AeronPair.UDP, Bench.LARGE);
        latency(1, VerbenaPair.WRITE, Programs.Ucx.TAG);
        latency(1, VerbenaPair.WRITE, AeronPair.UDP);
        ratio(
                MANY_OVER_FEW,
                true,
                result -> 1 / Objects.requireNonNull(result.messageRateMpps()),
                VerbenaPair.MANY,
                Bench.SMALL,
                VerbenaPair.FEW,
                Bench.SMALL,
                "cost of a message with 1000 queue pairs over that with 10");
        rate("8-byte WRITEs in batches", RATE_MPPS, VerbenaPair.BATCHES);
        rate("8-byte WRITEs of 10 queue pairs, a doorbell each", RATE_ALONE_MPPS, VerbenaPair.FEW);
        for (int size : new int[] {Bench.LARGE, Bench.HUGE}) {
            atLeast(IWARP_OVER_UCX, VerbenaPair.IWARP_WRITE, size, Programs.Ucx.PUT, Bench.LARGE);
            atLeast(BARE_IWARP_OF_IPERF, VerbenaPair.BARE_IWARP_WRITE, size, Programs.Iperf.STREAM, Bench.LARGE);
        }
        latency(IWARP_LATENCY, VerbenaPair.IWARP_WRITE, Programs.Ucx.TAG);
        values("allocated for each WRITE, by both ends", "B", ALLOCATED_BYTES, true, allocated);
        values("a process with " + IdlePair.CONNECTIONS + " idle connections", "% of a core", IDLE_PERCENT, true, idle);
    }

    private void atLeast(double limit, String series, int size, String reference, int referenceSize) {
        String name = series.replace("Verbena ", "") + ", " + Table.size(size) + ", over "
                + reference.replace("Verbena ", "") + (size == referenceSize ? "" : ", " + Table.size(referenceSize));
        ratio(
                limit,
                false,
                result -> Objects.requireNonNull(result.bandwidthMBps()),
                series,
                size,
                reference,
                referenceSize,
                name);
    }

    private void latency(double limit, String series, String reference) {
        String name = series.replace("Verbena ", "") + ", 8 B, latency over that of " + reference;
        ratio(limit, true, Goals::median, series, Bench.SMALL, reference, Bench.SMALL, name);
    }

    private static double median(Result result) {
        Latency latency = Objects.requireNonNull(result.latencyUs());
        return latency.p50();
    }

    private void rate(String name, double limit, String series) {
        Entry entry = find(series, Bench.SMALL);
        List<Double> rates = entry == null
                ? List.of()
                : entry.results.stream()
                        .map(Result::messageRateMpps)
                        .map(Objects::requireNonNull)
                        .toList();
        values(name, "million/s", limit, false, rates);
    }

    private void ratio(
            double limit,
            boolean atMost,
            ToDoubleFunction<Result> figure,
            String series,
            int size,
            String reference,
            int referenceSize,
            String name) {
        Entry ours = find(series, size);
        Entry theirs = find(reference, referenceSize);
        if (ours == null || theirs == null) {
            unknown.add(name);
            return;
        }
        double[] above = ours.results.stream().mapToDouble(figure).toArray();
        double[] below = theirs.results.stream().mapToDouble(figure).toArray();
        var rounds = new ArrayList<Double>();
        for (int i = 0; i < Math.min(above.length, below.length); i++) {
            rounds.add(above[i] / below[i]);
        }
        add(name, "x", Medians.of(above) / Medians.of(below), rounds, limit, atMost);
    }

    private void values(String name, String unit, double limit, boolean atMost, List<Double> values) {
        if (values.isEmpty()) {
            unknown.add(name);
        } else {
            add(name, unit, Medians.of(values.stream().mapToDouble(v -> v).toArray()), values, limit, atMost);
        }
    }

    private void add(String name, String unit, double value, List<Double> all, double limit, boolean atMost) {
        double low = all.stream().mapToDouble(v -> v).min().orElse(value);
        double high = all.stream().mapToDouble(v -> v).max().orElse(value);
        known.add(new Goal(name, unit, value, low, high, limit, atMost, atMost ? value <= limit : value >= limit));
    }

    private @Nullable Entry find(String series, int size) {
        Function<Entry, Boolean> is = entry -> entry.series.equals(series) && entry.size == size;
        return entries.stream()
                .filter(is::apply)
                .filter(entry -> !entry.results.isEmpty())
                .findFirst()
                .orElse(null);
    }
}
