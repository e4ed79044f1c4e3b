package verbena.tools.network;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.scenario.Outcome;
import verbena.sim.scenario.Scenario;
import verbena.tools.kit.ToolCommand;

/// A command that runs experiments, tells their figures, and whether they show what they have to.
public abstract class ExperimentsCommand extends ToolCommand {
    @Parameters(paramLabel = "EXPERIMENT", arity = "1..*", description = "Names of the list, or 'all'.")
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

    /// Returns all experiments.
    protected abstract List<Scenario> all();

    @Override
    public final Integer call() throws InterruptedException {
        List<Scenario> scenarios = scenarios();
        if (html != null && scenarios.size() > 1) {
            throw wrong("--html: one experiment has one page, got " + scenarios.size());
        }
        OutcomeReport.checkPage(this, html);
        boolean holds = true;
        for (Scenario scenario : scenarios) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            holds &= run(scenario);
        }
        return holds ? 0 : 1;
    }

    private List<Scenario> scenarios() {
        List<Scenario> all = all();
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
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("experiment", scenario.title());
        facts.put("after", scenario.source());
        facts.put("command", spec().qualifiedName() + " " + scenario.name() + " --seed " + seed);
        new OutcomeReport(this, json, html).tell(scenario.name(), facts, outcome, (System.nanoTime() - began) / 1e9);
        return outcome.holds();
    }
}
