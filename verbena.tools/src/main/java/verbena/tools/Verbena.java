package verbena.tools;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The root of the command line. A subcommand is one class of this package, named in `subcommands` below.
@Command(
        name = "verbena",
        description = "RDMA for every JVM.",
        version = "verbena 0.1.0-SNAPSHOT",
        mixinStandardHelpOptions = true,
        subcommands = {})
public final class Verbena implements Runnable {
    @Spec
    private CommandSpec spec;

    private Verbena() {}

    /// Runs one command and exits with its status: 0 for success, 1 for a failure, 2 for wrong usage.
    public static void main(String[] args) {
        System.exit(new CommandLine(new Verbena()).execute(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say which command to run.");
    }
}
