package verbena.bench;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Goal;
import verbena.tools.report.Report;
import verbena.tools.report.Result;

/// Figures as text, and reports for people.
final class Table {
    private Table() {}

    /// Returns a number with three digits or more.
    static String number(double value) {
        double positive = Math.abs(value);
        String format =
                positive >= 100 || positive == 0 ? "%,.0f" : positive >= 10 ? "%.1f" : positive >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }

    /// Returns a limit without insignificant digits.
    private static String limit(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : number(value).replaceAll("0+$", "");
    }

    /// Returns a report for people.
    static String text(Report report, List<Entry> entries) {
        var out = new StringBuilder();
        report.facts().forEach((name, fact) -> add(out, "%-14s%s", name, fact));
        section(out, entries, "Bandwidth, MB/s (2^20 bytes)", Sizes.LARGE, Result::bandwidthMBps);
        section(out, entries, "Bandwidth, MB/s (2^20 bytes)", Sizes.HUGE, Result::bandwidthMBps);
        section(out, entries, "Latency one way, us (medians)", Sizes.SMALL, Table::median);
        section(out, entries, "Messages, million/s", Sizes.SMALL, Table::rateAlone);
        section(out, entries, "Connections one after the other, us each (medians)", 0, Table::median);
        goals(out, report.goals());
        return out.toString();
    }

    /// Returns a report for people about echoes of these sizes.
    static String echoes(Report report, List<Entry> entries, List<Integer> sizes) {
        var out = new StringBuilder();
        report.facts().forEach((name, fact) -> add(out, "%-14s%s", name, fact));
        for (int size : sizes) {
            section(out, entries, "There and back, us (medians)", size, result -> twice(median(result)));
            section(out, entries, "There and back, us (99.9 %)", size, result -> twice(late(result)));
            section(out, entries, "Round trips in a round", size, Table::roundTrips);
        }
        section(out, entries, "Bandwidth, MB/s (2^20 bytes)", Sizes.LARGE, Result::bandwidthMBps);
        goals(out, report.goals());
        return out.toString();
    }

    private static @Nullable Double twice(@Nullable Double value) {
        return value == null ? null : Double.valueOf(2 * value);
    }

    private static @Nullable Double roundTrips(Result result) {
        return result.latencyUs() == null ? null : Double.valueOf(result.iterations());
    }

    private static @Nullable Double late(Result result) {
        return result.latencyUs() == null
                ? null
                : Double.valueOf(result.latencyUs().p999());
    }

    /// Adds the entries with messages of this size that have the figure. An entry without messages has size 0.
    private static void section(
            StringBuilder out, List<Entry> entries, String title, int size, Function<Result, @Nullable Double> figure) {
        List<Entry> shown = entries.stream()
                .filter(entry -> entry.size == size && !entry.results.isEmpty())
                .filter(entry -> figure.apply(entry.results.getFirst()) != null)
                .toList();
        if (!shown.isEmpty()) {
            add(out, "%n%s%s", title, size == 0 ? "" : ", " + Sizes.text(size));
        }
        for (Entry entry : shown) {
            double[] values = entry.results.stream()
                    .mapToDouble(result -> Objects.requireNonNull(figure.apply(result)))
                    .sorted()
                    .toArray();
            add(
                    out,
                    "  %-40s %9s   (%s to %s)",
                    entry.series,
                    number(Medians.of(values)),
                    number(values[0]),
                    number(values[values.length - 1]));
        }
    }

    /// Returns the typical latency; null when something else was measured.
    private static @Nullable Double median(Result result) {
        return result.latencyUs() == null
                ? null
                : Double.valueOf(result.latencyUs().p50());
    }

    /// Returns the messages a second; null when the latency was measured.
    private static @Nullable Double rateAlone(Result result) {
        return result.latencyUs() == null ? result.messageRateMpps() : null;
    }

    private static void goals(StringBuilder out, List<Goal> goals) {
        if (!goals.isEmpty()) {
            add(out, "%nGoals");
        }
        for (Goal goal : goals) {
            add(
                    out,
                    "  %-66s %9s %-11s %s %-6s %s  (%s to %s)",
                    goal.name() + " ",
                    number(goal.value()),
                    goal.unit(),
                    goal.atMost() ? "<=" : ">=",
                    limit(goal.limit()),
                    goal.reached() ? "reached" : "MISSED ",
                    number(goal.low()),
                    number(goal.high()));
        }
    }

    /// Adds a line.
    static void add(StringBuilder out, String format, Object... values) {
        out.append(String.format(Locale.ROOT, format + "%n", values));
    }
}
