package verbena.tools.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.sim.scenario.Outcome;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.tools.kit.Version;
import verbena.tools.report.Figure;
import verbena.tools.report.Goal;
import verbena.tools.report.Plot;
import verbena.tools.report.Report;

/// The report of an outcome as lines, as JSON, and on a page.
///
/// @param json whether as JSON and not as lines
/// @param html the page; null for none
public record OutcomeReport(
        ToolCommand command, boolean json, @Nullable Path html) {
    /// Checks before a long run that the page can be written.
    public static void checkPage(ToolCommand command, @Nullable Path html) {
        if (html == null) {
            return;
        }
        Path folder = html.toAbsolutePath().getParent();
        if (folder == null || Files.isDirectory(html) || !Files.isDirectory(folder)) {
            throw command.wrong("--html: cannot write " + html + ": it is a folder, or there is none for it");
        }
    }

    /// Tells the outcome in the form that was asked for.
    ///
    /// @param facts what has to be known about it
    public void tell(String title, Map<String, String> facts, Outcome outcome, double seconds) {
        if (json || html != null) {
            Report report = report(title, facts, outcome);
            if (json) {
                command.print(report.json());
            }
            write(report);
        }
        if (!json) {
            print(outcome);
            command.print(String.format(Locale.ROOT, "  %.1f s", seconds));
        }
    }

    private void print(Outcome outcome) {
        int width = outcome.figures().stream()
                .mapToInt(figure -> figure.name().length())
                .max()
                .orElse(0);
        for (Outcome.Figure figure : outcome.figures()) {
            String form = figure.value() == Math.rint(figure.value()) ? "%,12.0f   " : "%,15.2f";
            command.print(String.format(
                            Locale.ROOT,
                            "  %-" + width + "s " + form + " %s",
                            figure.name(),
                            figure.value(),
                            figure.unit())
                    .stripTrailing());
        }
        for (Outcome.Claim claim : outcome.claims()) {
            command.print(String.format(
                    Locale.ROOT,
                    "  %s %s: %.3g, has to be %s %.3g",
                    claim.holds() ? "holds:" : "DOES NOT HOLD:",
                    claim.text(),
                    claim.value(),
                    claim.atMost() ? "at most" : "at least",
                    claim.limit()));
        }
    }

    private static Report report(String title, Map<String, String> facts, Outcome outcome) {
        Map<String, String> all = new LinkedHashMap<>(facts);
        all.put("Verbena", Version.ofThisBuild());
        return new Report(
                title,
                all,
                outcome.claims().stream().map(OutcomeReport::goal).toList(),
                List.of(),
                outcome.figures().stream()
                        .map(figure -> new Figure(figure.name(), figure.value(), figure.unit()))
                        .toList(),
                outcome.plots().stream()
                        .map(plot -> new Plot(plot.title(), plot.xUnit(), plot.yUnit(), plot.x(), plot.curves()))
                        .toList());
    }

    private static Goal goal(Outcome.Claim claim) {
        return new Goal(
                claim.text(),
                "",
                claim.value(),
                claim.value(),
                claim.value(),
                claim.limit(),
                claim.atMost(),
                claim.holds());
    }

    private void write(Report report) {
        if (html == null) {
            return;
        }
        try {
            Files.writeString(html, report.html());
        } catch (IOException e) {
            throw CommandFailed.io("--html: cannot write " + html, e);
        }
    }
}
