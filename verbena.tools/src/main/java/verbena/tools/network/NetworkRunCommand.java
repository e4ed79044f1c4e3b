package verbena.tools.network;

import java.util.List;
import picocli.CommandLine.Command;
import verbena.sim.scenario.Scenario;
import verbena.sim.scenario.Scenarios;

/// `verbena network run`: experiments on networks.
@Command(
        name = "run",
        header = "Run experiments, and compare them with what was published.",
        description = {
            "",
            "Each experiment builds a network of hosts and switches, and sends messages in virtual time: the same"
                    + " seed gives the same figures everywhere. It takes from a second to a minute. Status 1: a claim"
                    + " does not hold."
        })
public final class NetworkRunCommand extends ExperimentsCommand {
    @Override
    protected List<Scenario> all() {
        return Scenarios.all();
    }
}
