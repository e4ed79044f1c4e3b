package verbena.tools.card;

import java.util.List;
import picocli.CommandLine.Command;
import verbena.sim.card.Experiments;
import verbena.sim.scenario.Scenario;
import verbena.tools.network.ExperimentsCommand;

/// `verbena card run`: experiments on cards.
@Command(
        name = "run",
        header = "Run experiments on cards, and compare them with what was published.",
        description = {
            "",
            "Each experiment runs requests on the model of a card, in virtual time: the same seed gives the"
                    + " same figures everywhere. It takes seconds. Status 1: a claim does not hold."
        })
public final class CardRunCommand extends ExperimentsCommand {
    @Override
    protected List<Scenario> all() {
        return Experiments.all();
    }
}
