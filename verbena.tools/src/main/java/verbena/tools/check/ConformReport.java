package verbena.tools.check;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Collectors;
import verbena.conformance.Judgement;
import verbena.conformance.Judgement.Count;
import verbena.conformance.Outcome;
import verbena.conformance.Result;
import verbena.tools.report.Json;

/// Judgements of devices as text: a summary for the terminal, Markdown, and JSON.
final class ConformReport {
    /// A device in the JSON.
    public record DeviceRow(String device, String kind, Count count, List<CaseRow> cases) {}

    /// A case in the JSON; `why` is empty when it is kept.
    public record CaseRow(String name, String outcome, String why, double millis) {}

    private static final Count NONE = new Count(0, 0, 0, 0);

    private ConformReport() {}

    static String words(Count count) {
        var words = new ArrayList<String>();
        words.add(count.kept() + " kept");
        if (count.notSupported() > 0) {
            words.add(count.notSupported() + " not supported");
        }
        if (count.deviates() > 0) {
            words.add(count.deviates() + " deviate");
        }
        if (count.broken() > 0) {
            words.add(count.broken() + " BROKEN");
        }
        return String.join(", ", words);
    }

    static List<String> summary(List<Judgement> judgements) {
        var lines = new ArrayList<String>();
        lines.add("%-24s %6s %13s %8s %7s".formatted("device", "kept", "not supported", "deviate", "broken"));
        for (Judgement each : judgements) {
            Count count = each.count();
            lines.add("%-24s %6d %13d %8d %7d"
                    .formatted(each.device(), count.kept(), count.notSupported(), count.deviates(), count.broken()));
        }
        return lines;
    }

    /// Returns a table of topics by device, then the deviations and the breaches.
    static String markdown(List<Judgement> judgements) {
        var text = new StringBuilder();
        text.append("| topic |");
        judgements.forEach(each -> text.append(" `").append(each.device()).append("` |"));
        text.append("\n|---|").append("---|".repeat(judgements.size())).append('\n');
        var topics = new LinkedHashSet<String>();
        judgements.forEach(each -> topics.addAll(each.byTopic().keySet()));
        for (String topic : topics) {
            text.append("| ").append(topic).append(" |");
            judgements.forEach(each -> text.append(' ')
                    .append(cell(each.byTopic().getOrDefault(topic, NONE)))
                    .append(" |"));
            text.append('\n');
        }
        text.append("| **all** |");
        judgements.forEach(each -> text.append(" **").append(cell(each.count())).append("** |"));
        text.append("\n\nKept; of the others ns are not supported, d deviate as declared, b are broken.\n");
        for (Judgement each : judgements) {
            deviations(text, each);
        }
        return text.toString();
    }

    private static String cell(Count count) {
        return count.kept()
                + (count.notSupported() > 0 ? ", " + count.notSupported() + " ns" : "")
                + (count.deviates() > 0 ? ", " + count.deviates() + " d" : "")
                + (count.broken() > 0 ? ", " + count.broken() + " b" : "");
    }

    private static void deviations(StringBuilder text, Judgement judgement) {
        var lines = new ArrayList<String>();
        for (Result result : judgement.results()) {
            switch (result.outcome()) {
                case Outcome.Deviates deviates ->
                    lines.add("| `" + result.tried().name() + "` | deviates | " + deviates.reason() + " |");
                case Outcome.Broken broken ->
                    lines.add("| `" + result.tried().name() + "` | **broken** | "
                            + broken.what().lines().findFirst().orElse("").replace("|", "\\|") + " |");
                case Outcome.Kept _, Outcome.NotSupported _ -> {}
            }
        }
        if (!lines.isEmpty()) {
            text.append("\n`").append(judgement.device()).append("`:\n\n| case | | why |\n|---|---|---|\n");
            lines.forEach(line -> text.append(line).append('\n'));
        }
    }

    static String json(List<Judgement> judgements) {
        return Json.format(judgements.stream()
                        .map(each -> new DeviceRow(
                                each.device(),
                                each.kind(),
                                each.count(),
                                each.results().stream().map(ConformReport::row).toList()))
                        .toList())
                + "\n";
    }

    private static CaseRow row(Result result) {
        String why = switch (result.outcome()) {
            case Outcome.Kept(boolean unexpectedly) -> unexpectedly ? "declared to deviate, and does not" : "";
            case Outcome.NotSupported(var missing) ->
                missing.stream().map(Enum::name).sorted().collect(Collectors.joining(" "));
            case Outcome.Deviates(String reason, String what) -> reason + " (" + what + ")";
            case Outcome.Broken broken -> broken.what();
        };
        String outcome = switch (result.outcome()) {
            case Outcome.Kept _ -> "kept";
            case Outcome.NotSupported _ -> "not supported";
            case Outcome.Deviates _ -> "deviates";
            case Outcome.Broken _ -> "broken";
        };
        return new CaseRow(result.tried().name(), outcome, why, result.nanos() / 1e6);
    }
}
