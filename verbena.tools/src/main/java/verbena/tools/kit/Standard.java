package verbena.tools.kit;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The common part of all commands: three options, and the looks of their help.
public final class Standard {
    private static final String STACK_TRACE = "--stacktrace";
    private static final int USAGE_COLUMNS = 100;
    private static final int LAST = 100;

    /// A command whose first positional parameter ends its own options: what follows are those of another program.
    public interface RunsCommand {}

    private Standard() {}

    /// Gives it to a command and all below it.
    public static void addTo(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        spec.versionProvider(new Version());
        spec.usageMessage()
                .sortOptions(false)
                .width(USAGE_COLUMNS)
                .optionListHeading("%nOptions:%n")
                .commandListHeading("%nCommands:%n");
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .order(LAST)
                .description("Show this help and exit.")
                .build());
        // rping has a -V of its own.
        spec.addOption((spec.findOption("-V") == null
                        ? OptionSpec.builder("-V", "--version")
                        : OptionSpec.builder("--version"))
                .versionHelp(true)
                .order(LAST + 1)
                .description("Show the version and exit.")
                .build());
        spec.addOption(OptionSpec.builder(STACK_TRACE)
                .order(LAST + 2)
                .description("Show where in the code an error comes from.")
                .build());
        command.setStopAtPositional(spec.userObject() instanceof RunsCommand);
        command.getSubcommands().values().forEach(Standard::addTo);
    }

    /// Returns whether an error of this command is to be shown with its stack trace, as said here or at a parent.
    public static boolean wantsStackTrace(CommandLine command) {
        for (CommandLine at = command; at != null; at = at.getParent()) {
            if (at.getParseResult() != null && at.getParseResult().hasMatchedOption(STACK_TRACE)) {
                return true;
            }
        }
        return false;
    }
}
