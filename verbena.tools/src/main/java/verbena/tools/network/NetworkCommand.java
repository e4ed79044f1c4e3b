package verbena.tools.network;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena network`: the parent of its commands.
@Command(
        name = "network",
        header = "Run experiments on Ethernet in virtual time: pauses, marks, congestion control.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {NetworkListCommand.class, NetworkRunCommand.class, NetworkTryCommand.class})
public final class NetworkCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}
