package verbena.tools.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.scenario.Outcome;
import verbena.sim.scenario.Scenario;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.tools.kit.Version;
import verbena.tools.report.Figure;
import verbena.tools.report.Goal;
import verbena.tools.report.Plot;
import verbena.tools.report.Report;

/// `verbena network run`: experiments, their figures, and whether they show what they have to.
@Command(
        name = "run",
        header = "Run experiments, and tell whether they show what was published.",
        description = {
            "",
            "Each experiment builds a network of hosts and switches, and lets messages pass in virtual time: the same"
                    + " seed gives the same figures everywhere. It takes from a second to a minute. Status 1: a claim"
                    + " does not hold."
        })
public final class NetworkRunCommand extends ToolCommand {
    @Parameters(paramLabel = "EXPERIMENT", arity = "1..*", description = "Names of 'verbena network list', or 'all'.")
    private List<String> names = List.of();

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "The seed. Default: 1.")
    private long seed;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page with figures and plots, for a browser. One experiment only.")
    private @Nullable Path html;

    @Option(names = "--json", description = "Print one JSON object for each experiment, and nothing else.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        List<Scenario> scenarios = scenarios();
        if (html != null && scenarios.size() > 1) {
            throw wrong("--html: one experiment has one page, got " + scenarios.size());
        }
        if (html != null && (Files.isDirectory(html) || !Files.isDirectory(folder(html)))) {
            throw wrong("--html: cannot write " + html + ": it is a folder, or there is none for it");
        }
        boolean holds = true;
        for (Scenario scenario : scenarios) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            holds &= run(scenario);
        }
        return holds ? 0 : 1;
    }

    private static Path folder(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        return folder == null ? file : folder;
    }

    private List<Scenario> scenarios() {
        List<Scenario> all = Scenario.all();
        List<Scenario> chosen = new ArrayList<>();
        for (String name : names) {
            List<Scenario> found = all.stream()
                    .filter(each -> name.equals("all") || each.name().equals(name))
                    .toList();
            if (found.isEmpty()) {
                throw wrong("there is no experiment '" + name + "'; there are "
                        + all.stream().map(Scenario::name).collect(Collectors.joining(", ")));
            }
            chosen.addAll(found);
        }
        return chosen;
    }

    private boolean run(Scenario scenario) {
        if (!json) {
            print(scenario.name() + ": " + scenario.title());
            print("  after " + scenario.source());
        }
        long began = System.nanoTime();
        Outcome outcome = scenario.run(seed, step -> note("  " + step + " ..."));
        if (json || html != null) {
            Report report = report(scenario, outcome);
            if (json) {
                print(report.json());
            }
            write(report);
        }
        if (!json) {
            tell(outcome, (System.nanoTime() - began) / 1e9);
        }
        return outcome.holds();
    }

    private void tell(Outcome outcome, double seconds) {
        int width = outcome.figures().stream()
                .mapToInt(figure -> figure.name().length())
                .max()
                .orElse(0);
        for (Outcome.Figure figure : outcome.figures()) {
            print(String.format(
                            Locale.ROOT, "  %-" + width + "s %,12.2f %s", figure.name(), figure.value(), figure.unit())
                    .stripTrailing());
        }
        for (Outcome.Claim claim : outcome.claims()) {
            print(String.format(
                    Locale.ROOT,
                    "  %s %s: %.3g, has to be %s %.3g",
                    claim.holds() ? "holds:" : "DOES NOT HOLD:",
                    claim.text(),
                    claim.value(),
                    claim.atMost() ? "at most" : "at least",
                    claim.limit()));
        }
        print(String.format(Locale.ROOT, "  %.1f s, seed %d", seconds, seed));
    }

    private Report report(Scenario scenario, Outcome outcome) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("experiment", scenario.title());
        facts.put("after", scenario.source());
        facts.put("command", "verbena network run " + scenario.name() + " --seed " + seed);
        facts.put("Verbena", Version.ofThisBuild());
        return new Report(
                scenario.name(),
                facts,
                outcome.claims().stream()
                        .map(claim -> new Goal(
                                claim.text(),
                                "",
                                claim.value(),
                                claim.value(),
                                claim.value(),
                                claim.limit(),
                                claim.atMost(),
                                claim.holds()))
                        .toList(),
                List.of(),
                outcome.figures().stream()
                        .map(figure -> new Figure(figure.name(), figure.value(), figure.unit()))
                        .toList(),
                outcome.plots().stream()
                        .map(plot -> new Plot(plot.title(), plot.xUnit(), plot.yUnit(), plot.x(), plot.curves()))
                        .toList());
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
