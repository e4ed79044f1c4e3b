package verbena.tools.network;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena network`: the parent of its commands.
@Command(
        name = "network",
        header = "Run experiments on Ethernet in virtual time, and networks for real programs.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            NetworkListCommand.class,
            NetworkRunCommand.class,
            NetworkTryCommand.class,
            NetworkUpCommand.class,
            NetworkExecCommand.class
        })
public final class NetworkCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}
