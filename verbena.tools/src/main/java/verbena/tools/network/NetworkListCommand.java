package verbena.tools.network;

import java.util.Locale;
import picocli.CommandLine.Command;
import verbena.sim.scenario.Scenario;
import verbena.sim.scenario.Scenarios;
import verbena.tools.kit.ToolCommand;

/// `verbena network list`: the experiments.
@Command(name = "list", header = "List the experiments, and where each was published.")
public final class NetworkListCommand extends ToolCommand {
    @Override
    public Integer call() {
        for (Scenario scenario : Scenarios.all()) {
            print(String.format(Locale.ROOT, "%-15s %s", scenario.name(), scenario.title()));
            print(String.format(Locale.ROOT, "%-15s %s", "", scenario.source()));
        }
        return 0;
    }
}
