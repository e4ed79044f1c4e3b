package verbena.tools.fabric;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena fabric`: the parent of its commands.
@Command(
        name = "fabric",
        header = "Run InfiniBand switches as a process, with the devices ib0, ib1 ... of this user.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {FabricUpCommand.class, FabricShowCommand.class, FabricLinkCommand.class, FabricDownCommand.class
        })
public final class FabricCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}
