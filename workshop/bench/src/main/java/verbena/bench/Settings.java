package verbena.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import verbena.tools.report.Report;

/// The options of a comparison: how often, how long, which part, and in which form it is reported.
final class Settings {
    private static final int ROUNDS = 5;
    private static final double SECONDS = 0.5;
    private static final int ROUNDS_QUICK = 2;
    private static final double SECONDS_QUICK = 0.25;
    private static final int ROUNDS_MAX = 1_000;
    private static final double SECONDS_MIN = 0.01;
    private static final double SECONDS_MAX = 10;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--rounds", paramLabel = "N", description = "How often each is measured (default 5).")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each time, about (default 0.5).")
    private @Nullable Double seconds;

    @Option(names = "--quick", description = "As --rounds 2 --seconds 0.25: for a first look.")
    private boolean quick;

    @Option(
            names = "--only",
            paramLabel = "TEXT",
            split = ",",
            description = "Only what has one of these in its name, e.g. 64 KiB or UCX,WRITE.")
    private List<String> only = List.of();

    @Option(names = "--json", description = "Print one JSON object, and nothing else.")
    private boolean json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with plots, for a browser.")
    private @Nullable Path page;

    /// Sets the option by its former name.
    @Option(names = "--report", hidden = true)
    private void setReport(Path file) {
        page = file;
    }

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    /// Runs a comparison; returns the exit status.
    static int run(Callable<Integer> comparison, String[] args) {
        var line = new CommandLine(comparison);
        String name = line.getCommandName();
        line.setParameterExceptionHandler((e, _) -> {
            System.err.println(name + ": " + e.getMessage() + ". See '" + name + " --help'.");
            return 2;
        });
        line.setExecutionExceptionHandler((e, _, _) -> {
            System.err.println(name + ": " + (e instanceof Child.Failed ? e.getMessage() : e));
            return 1;
        });
        return line.execute(args);
    }

    int rounds() {
        return rounds != null ? rounds : quick ? ROUNDS_QUICK : ROUNDS;
    }

    double seconds() {
        return seconds != null ? seconds : quick ? SECONDS_QUICK : SECONDS;
    }

    /// Returns whether the contender of this name is to be measured; of an empty name, whether all contenders are.
    boolean isWanted(String name) {
        return only.isEmpty() || only.stream().anyMatch(name::contains);
    }

    void check() {
        require(rounds() >= 1 && rounds() <= ROUNDS_MAX, "--rounds: 1 to " + ROUNDS_MAX + ", got " + rounds());
        require(
                seconds() >= SECONDS_MIN && seconds() <= SECONDS_MAX,
                "--seconds: " + SECONDS_MIN + " to " + SECONDS_MAX + ", got " + seconds());
        if (page != null) {
            Path folder = page.toAbsolutePath().getParent();
            require(folder != null && Files.isDirectory(folder), "--html: no such folder: " + folder);
        }
    }

    void require(boolean condition, String message) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    /// Prints the report, and writes its page.
    ///
    /// @param text the report for people
    void show(Report report, String text) throws IOException {
        System.out.print(json ? report.json() + System.lineSeparator() : text);
        if (page != null) {
            Files.writeString(page, report.html());
        }
    }
}
