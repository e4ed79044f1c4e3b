package verbena.tools.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.tools.kit.Size;

/// The options that `cp --compare` takes besides a file.
final class CompareOptions {
    @Option(
            names = "--compare",
            description =
                    "Copy nothing; show what copying FILE between two processes here costs by each classic method and by"
                            + " RDMA. Without FILE one is made.")
    private boolean compare;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            defaultValue = "256",
            converter = Size.InMiB.class,
            description = "--compare: size of the file that is made; without a unit in MiB (default ${DEFAULT-VALUE}).")
    private int sizeMiB;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "--compare: times that each method is measured (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--warm",
            description =
                    "--compare: the file is in the page cache before each run (default: it is dropped from there).")
    private boolean warm;

    @Option(names = "--html", paramLabel = "FILE", description = "--compare: write a page with plots, too.")
    private @Nullable Path html;

    @Option(names = "--json", description = "--compare: print one JSON object instead of the table.")
    private boolean json;

    boolean isWanted() {
        return compare;
    }

    /// @param given the file; null to make one
    void run(@Nullable Path given, List<String> devices, FilesCommand command) throws InterruptedException {
        command.range("--size", sizeMiB, 1, 1 << 20);
        command.range("--rounds", rounds, 1, 1000);
        if (given != null && !Files.isRegularFile(given)) {
            throw new CommandFailed(given + ": no such file");
        }
        List<Way> ways = new ArrayList<>(Way.sockets());
        (devices.isEmpty() ? List.of("rocev2", "iwarp") : devices).forEach(device -> ways.addAll(Way.over(device)));
        Path scratch = null;
        try {
            scratch = given == null
                    ? Files.createTempDirectory("verbena-compare-")
                    : Files.createTempDirectory(given.toAbsolutePath().getParent(), ".verbena-compare-");
            Path file = given == null ? scratch.resolve("file") : given.toRealPath();
            if (given == null) {
                Comparison.make(file, (long) sizeMiB << 20);
            }
            Consumer<String> tell = line -> command.note(command.name() + ": " + line);
            ComparisonReport report = new Comparison(ways, file, scratch, rounds, warm, tell).run();
            command.out().println(json ? report.json() : report.table());
            command.out().flush();
            if (html != null) {
                Files.writeString(html, report.html());
            }
        } catch (IOException e) {
            throw new CommandFailed("--compare: " + Failures.text("files", e), e);
        } finally {
            delete(scratch);
        }
    }

    private static void delete(@Nullable Path scratch) {
        if (scratch == null) {
            return;
        }
        try (var all = Files.list(scratch)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.delete(each);
            }
            Files.delete(scratch);
        } catch (IOException _) {
            // The system clears its temporary folder.
        }
    }
}
