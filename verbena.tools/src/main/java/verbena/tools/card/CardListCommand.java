package verbena.tools.card;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import verbena.sim.card.Card;
import verbena.sim.card.Cards;
import verbena.sim.card.Experiments;
import verbena.sim.card.Quantity;
import verbena.sim.scenario.Scenario;
import verbena.tools.kit.ToolCommand;

/// `verbena card list`: the cards and the experiments, or the numbers of a card.
@Command(name = "list", header = "List the cards and the experiments, or each number of a card and where it is from.")
public final class CardListCommand extends ToolCommand {
    @Parameters(
            paramLabel = "CARD",
            arity = "0..1",
            description = "A card, such as cx5, whose numbers are listed; may also be a file or a line, as in 'try'.")
    private @Nullable String card;

    @Override
    public Integer call() {
        if (card != null) {
            tell(CardWords.card(this, "CARD", card));
            return 0;
        }
        print("Cards ('verbena card list CARD' has their numbers):");
        for (Card each : Cards.known()) {
            print(String.format(Locale.ROOT, "  %-15s %s", each.name(), each.title()));
        }
        print("Experiments ('verbena card run EXPERIMENT'):");
        for (Scenario each : Experiments.all()) {
            print(String.format(Locale.ROOT, "  %-15s %s", each.name(), each.title()));
            print(String.format(Locale.ROOT, "  %-15s %s", "", each.source()));
        }
        return 0;
    }

    private void tell(Card of) {
        print(of.name() + ": " + of.title());
        for (Quantity each : Quantity.values()) {
            print(String.format(
                    Locale.ROOT,
                    "  %-14s %8s  %s%n  %-14s %8s  (%s)",
                    each.word(),
                    each.text(of.value(each)),
                    each.meaning(),
                    "",
                    "",
                    of.source(each)));
        }
        of.sources().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(source -> print("  [" + source.getKey() + "] " + source.getValue()));
    }
}
