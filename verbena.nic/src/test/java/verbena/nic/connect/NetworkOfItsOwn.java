package verbena.nic.connect;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs a program of a test in a network namespace of its own.
final class NetworkOfItsOwn {
    /// What a program says first, to show that it runs.
    static final String BEGINS = "begins";

    private NetworkOfItsOwn() {}

    /// What the program says after [#BEGINS], line by line. Skips the test where no namespace can be made.
    ///
    /// @param network commands of the shell that make the network, and run the program as `"$@"`
    static List<String> run(String network, Class<?> program) throws IOException, InterruptedException {
        return run(network, program, "--enable-native-access=ALL-UNNAMED");
    }

    /// The same.
    ///
    /// @param access the option of the virtual machine for native access
    static List<String> run(String network, Class<?> program, String access) throws IOException, InterruptedException {
        String error = "";
        for (String rights : List.of("--net", "--map-root-user --net")) {
            var command = new ArrayList<>(List.of("timeout", "60", "unshare"));
            command.addAll(List.of(rights.split(" ", -1)));
            command.addAll(List.of("sh", "-c", network, "sh"));
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    access,
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    program.getName()));
            Process process;
            try {
                process = new ProcessBuilder(command).redirectErrorStream(true).start();
            } catch (IOException e) {
                error = e.getMessage(); // there is no unshare
                continue;
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            if (output.startsWith(BEGINS)) {
                return output.lines().skip(1).toList();
            }
            error = output;
        }
        assumeTrue(false, "no network namespace can be made here: " + error);
        return List.of();
    }
}
