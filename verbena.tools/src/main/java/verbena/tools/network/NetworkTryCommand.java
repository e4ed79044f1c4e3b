package verbena.tools.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.ethernet.NetworkText;
import verbena.sim.scenario.Outcome;
import verbena.sim.scenario.Trial;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena network try`: a workload on a network of the user's.
@Command(
        name = "try",
        header = "Send messages through a network of your own, and print how long they take.",
        description = {
            "",
            "NETWORK is a file, or one line in quotes: star HOSTS RATE DELAY, dumb-bell LEFT RIGHT RATE DELAY,"
                    + " leaf-spine LEAVES SPINES HOSTS RATE DELAY, fat-tree K RATE DELAY, dragonfly GROUPS SWITCHES"
                    + " HOSTS LINKS RATE DELAY, each with options of the switches: buffer=16MB, headroom=100KB,"
                    + " alpha=0.125, mark=100KB:400KB:0.2, watchdog=1ms, cut-through, spray, drop. A file may also have"
                    + " lines of its own: switch NAME [OPTION ...], host NAME [bus=RATE[:BYTES]],"
                    + " link NAME NAME RATE DELAY [loss=SHARE].",
            "",
            "For example: verbena network try 'fat-tree 4 100G 1us mark=100KB:400KB:0.2' --control dcqcn"
        })
public final class NetworkTryCommand extends ToolCommand {
    @Parameters(paramLabel = "NETWORK", description = "A file, or one line.")
    private String network = "";

    @Option(
            names = "--workload",
            paramLabel = "W",
            defaultValue = "web-search",
            description = "incast, permutation, all-to-all, all-reduce-ring, all-reduce-halving, all-reduce-tree,"
                    + " web-search, hadoop or storage. Default: web-search.")
    private String workload = "";

    @Option(
            names = "--bytes",
            paramLabel = "N",
            defaultValue = "1MB",
            description = "Of each message, or of the vector of an all-reduce. Default: 1MB.")
    private String bytes = "";

    @Option(
            names = "--load",
            paramLabel = "L",
            defaultValue = "0.5",
            description = "Of web-search, hadoop and storage: the use of each host's link, 0 to 1. Default: 0.5.")
    private double load;

    @Option(
            names = "--for",
            paramLabel = "T",
            defaultValue = "2ms",
            description = "Of the same: messages begin for so long, in virtual time. Default: 2ms.")
    private String time = "";

    @Option(
            names = "--control",
            paramLabel = "C",
            defaultValue = "none",
            description = "The senders' rule: none, dcqcn (the switches have to mark), swift or hpcc. Default: none.")
    private String control = "";

    @Option(names = "--selective", description = "Send again only what is missing, in place of go-back-N.")
    private boolean selective;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "The seed. Default: 1.")
    private long seed;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with figures and a plot, for a browser.")
    private @Nullable Path html;

    @Option(names = "--json", description = "Print one JSON object, and nothing else.")
    private boolean json;

    @Override
    public Integer call() {
        OutcomeReport.checkPage(this, html);
        if (!(load > 0 && load < 1)) {
            throw wrong("--load: more than 0 and less than 1, got " + load);
        }
        long length = amount("--bytes", () -> NetworkText.bytes(bytes));
        long nanos = amount("--for", () -> NetworkText.nanos(time));
        var trial = new Trial(
                lines(network, this),
                choice("--workload", workload, Trial.Workload.values()),
                length,
                load,
                nanos,
                choice("--control", control, Trial.Control.values()),
                selective,
                seed);
        long began = System.nanoTime();
        Outcome outcome;
        try {
            outcome = trial.run(step -> note("  " + step + " ..."));
        } catch (IllegalArgumentException e) {
            throw wrong(String.valueOf(e.getMessage()));
        }
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("network", network);
        facts.put("workload", workload);
        facts.put("control", control + (selective ? ", selective repeat" : ", go-back-N"));
        facts.put("seed", Long.toString(seed));
        new OutcomeReport(this, json, html)
                .tell("Network, " + workload, facts, outcome, (System.nanoTime() - began) / 1e9);
        return 0;
    }

    /// Returns the lines of a network that is a file, or one line.
    public static List<String> lines(String network, ToolCommand command) {
        try {
            Path file = Path.of(network);
            if (Files.exists(file)) {
                return Files.readAllLines(file);
            }
        } catch (InvalidPathException e) {
            return List.of(network); // a line, and no name of a file
        } catch (IOException e) {
            throw CommandFailed.io("cannot read " + network, e);
        }
        if (!network.contains(" ")) {
            throw command.wrong("NETWORK: there is no file '" + network + "', and one word is no network");
        }
        return List.of(network);
    }

    private interface Amount {
        long read();
    }

    private long amount(String option, Amount amount) {
        try {
            return amount.read();
        } catch (IllegalArgumentException e) {
            throw wrong(option + ": " + e.getMessage());
        }
    }

    private <E extends Enum<E>> E choice(String option, String word, E[] values) {
        return Arrays.stream(values)
                .filter(each -> name(each).equals(word))
                .findFirst()
                .orElseThrow(() -> wrong(option + ": "
                        + Arrays.stream(values).map(NetworkTryCommand::name).collect(Collectors.joining(", "))
                        + "; got "
                        + word));
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
