package verbena.tools;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `verbena help`: the same as `--help` behind the command.
@Command(name = "help", header = "Show this help, or that of a command.")
final class HelpCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "For example 'perf', or 'perf write-bw'.")
    private List<String> command = List.of();

    @Override
    public void run() {
        CommandLine at = spec.root().commandLine();
        for (String name : command) {
            CommandLine below = at.getSubcommands().get(name);
            if (below == null) {
                throw new ParameterException(spec.commandLine(), "there is no command '" + name + "'");
            }
            at = below;
        }
        at.usage(spec.commandLine().getOut());
    }
}
