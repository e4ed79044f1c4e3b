package verbena.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// The middle of several rounds.
final class Medians {
    private Medians() {}

    static double of(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }

    /// Returns a result of which each figure is the median of that figure in `results`.
    static Result of(List<Result> results) {
        Result any = results.getFirst();
        return new Result(
                any.series(),
                any.size(),
                results.stream().mapToLong(Result::iterations).sum(),
                of(results, Result::bandwidthMBps),
                of(results, Result::messageRateMpps),
                any.latencyUs() == null
                        ? null
                        : new Latency(
                                of(results, Latency::min),
                                of(results, Latency::p50),
                                of(results, Latency::p99),
                                of(results, Latency::p999),
                                of(results, Latency::max)));
    }

    private static @Nullable Double of(List<Result> results, Function<Result, @Nullable Double> figure) {
        return figure.apply(results.getFirst()) == null
                ? null
                : of(results.stream()
                        .mapToDouble(result -> Objects.requireNonNull(figure.apply(result)))
                        .toArray());
    }

    private static double of(List<Result> results, ToDoubleFunction<Latency> figure) {
        return of(results.stream()
                .mapToDouble(result -> figure.applyAsDouble(Objects.requireNonNull(result.latencyUs())))
                .toArray());
    }
}
