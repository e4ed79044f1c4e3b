package verbena.tools.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.card.Card;
import verbena.sim.card.Measured;
import verbena.sim.card.Prediction;
import verbena.sim.card.Recorded;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena card predict`: what a card would do with a program.
@Command(
        name = "predict",
        header = "Record what a program posts, and predict what a card would do with it.",
        description = {
            "",
            "The program runs on Verbena's devices, with the recorder of the layer of checks in front of them: in Java,"
                    + " or in C by 'verbena run'. Its requests, doorbells, queue pairs, regions and waits pass through"
                    + " the model of a card then.",
            "",
            "For example: verbena card predict --as cx5 -- verbena perf write-bw --loopback -s 64 -n 5000"
        })
public final class CardPredictCommand extends ToolCommand {
    private static final int CHANGES = 3;

    @Option(
            names = "--as",
            paramLabel = "CARD",
            defaultValue = "cx5",
            description = "A file, a name of 'verbena card list', or one line. Default: ${DEFAULT-VALUE}.")
    private String card = "";

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description = "A recording that was made before, with VERBENA_CHECK=record=FOLDER; no program runs.")
    private @Nullable Path from;

    @Parameters(
            arity = "0..*",
            paramLabel = "PROGRAM [ARGUMENT...]",
            description = "The program, behind --, and what it is given.")
    private List<String> program = List.of();

    @Override
    public Integer call() throws InterruptedException {
        if ((from == null) == program.isEmpty()) {
            throw wrong("either a program behind --, or --from FILE");
        }
        Card of = CardWords.card(this, "--as", card);
        Recorded recorded = from == null ? record() : read(from);
        Prediction prediction;
        try {
            prediction = Prediction.of(of, recorded);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(String.valueOf(e.getMessage()), e);
        }
        tell(of, recorded, prediction);
        return 0;
    }

    private Recorded record() throws InterruptedException {
        try {
            Path folder = Files.createTempDirectory("verbena-recording");
            try {
                var builder = new ProcessBuilder(program).inheritIO();
                builder.environment().put("VERBENA_CHECK", "record=" + folder);
                Process process = builder.start();
                int status;
                try {
                    status = process.waitFor();
                } finally {
                    process.destroy();
                }
                if (status != 0) {
                    note("the program ended with status " + status);
                }
                return longest(folder);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            throw CommandFailed.io("cannot run or record " + program.getFirst(), e);
        }
    }

    /// Returns the recording of the process that posted most.
    private Recorded longest(Path folder) throws IOException {
        List<Recorded> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(file -> file.toString().endsWith(".recording"))
                    .sorted()
                    .forEach(file -> all.add(read(file)));
        }
        if (all.size() > 1) {
            note(all.size() + " processes used devices; the prediction is for that which posted most");
        }
        return all.stream()
                .max(Comparator.comparingLong(Recorded::requests))
                .orElseThrow(() -> new CommandFailed("nothing was recorded: the program opened no device of Verbena, or"
                        + " verbena.check is not on its path"));
    }

    private static Recorded read(Path file) {
        try {
            return Recorded.parse(Files.readAllLines(file));
        } catch (IOException e) {
            throw CommandFailed.io("cannot read " + file, e);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(file + ": " + e.getMessage(), e);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private void tell(Card of, Recorded recorded, Prediction prediction) {
        Measured slow = prediction.asRecorded();
        Measured fast = prediction.unhindered();
        print(String.format(
                Locale.ROOT,
                "As %s, %s: %,d requests by %d threads on %d queue pairs",
                of.name(),
                of.title(),
                recorded.requests(),
                recorded.threads(),
                recorded.queuePairs()));
        double error = Prediction.ERROR;
        line("rate", "%.3g to %.3g M/s", slow.rate() * (1 - error), fast.rate() * (1 + error));
        print(String.format(
                Locale.ROOT,
                "            from %,d ns of the program's own work before each doorbell, to none; 20 %% off at both ends",
                recorded.medianGapNanos()));
        line("latency", "median %,.0f ns, 99 %% %,.0f ns, 20 %% more or less", fast.median(), fast.slowest());
        line("bound", "%s; with the program's own work %s", fast.bound(), slow.bound());
        print("  what would help most, each alone, where the program's own work is short:");
        int number = 0;
        for (Prediction.Change each :
                prediction.changes().stream().limit(CHANGES).toList()) {
            print(String.format(
                    Locale.ROOT, "  %d. %-45s %5.2f times: %.3g M/s", ++number, each.text(), each.gain(), each.rate()));
        }
        if (number == 0) {
            print("     none of the changes that the model knows");
        }
        print("  not a promise:");
        prediction.doubts().forEach(each -> print("  - " + each));
    }

    private void line(String name, String form, Object... values) {
        print(String.format(
                Locale.ROOT,
                "  %-8s  " + form,
                Stream.concat(Stream.of(name), Stream.of(values)).toArray()));
    }
}
