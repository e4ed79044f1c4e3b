package verbena.tools.check;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena check`: the parent of its commands.
@Command(
        name = "check",
        header = "Find out what a program may expect of every device.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {LitmusCommand.class, MergeCommand.class})
public final class CheckCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}
