package verbena.tools;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// A network namespace for one command (unshare(1)): root makes one at once, another user with a user namespace
/// besides.
public final class NetworkNamespace {
    /// How a command ended.
    ///
    /// @param output what it said, on both streams
    public record Ended(int status, String output) {}

    private NetworkNamespace() {}

    /// Runs a command in a namespace of its own, for three minutes at most, because programs start slowly on a busy
    /// machine. Skips the test where none can be made.
    ///
    /// @param hasRun whether this output is the command's, not that of a namespace which could not be made
    public static Ended run(List<String> command, Predicate<String> hasRun) throws IOException, InterruptedException {
        String error = "";
        for (String rights : List.of("--net", "--map-root-user --net")) {
            var line = new ArrayList<>(List.of("timeout", "180", "unshare"));
            line.addAll(List.of(rights.split(" ", -1)));
            line.addAll(command);
            Ended ended;
            try {
                ended = run(line);
            } catch (IOException e) {
                error = e.getMessage(); // there is no such program
                continue;
            }
            if (hasRun.test(ended.output)) {
                return ended;
            }
            error = ended.output;
        }
        assumeTrue(false, "no network namespace can be made here: " + error);
        throw new AssertionError("skipped");
    }

    /// Runs a command here.
    public static Ended run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
