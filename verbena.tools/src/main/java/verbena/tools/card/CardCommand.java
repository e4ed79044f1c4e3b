package verbena.tools.card;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena card`: the parent of its commands.
@Command(
        name = "card",
        header = "Look into a card: a model of host, PCIe, card and port in virtual time.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {CardListCommand.class, CardRunCommand.class, CardTryCommand.class, CardPredictCommand.class})
public final class CardCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}
