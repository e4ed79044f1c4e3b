package verbena.nic.link;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Runs a program of the tests in a network namespace of its own, whose interfaces a shell script sets up.
public final class Namespace {
    private final List<String> entering;

    private Namespace(List<String> entering) {
        this.entering = entering;
    }

    /// A namespace in which `setup` works: as root, or as the root of a user namespace. Null without the right to
    /// either, or when the script lacks a tool that it needs.
    public static @Nullable Namespace with(String setup) throws InterruptedException {
        for (String how : List.of("--net", "--map-root-user --net")) {
            var entering = new ArrayList<>(List.of("unshare"));
            entering.addAll(List.of(how.split(" ", -1)));
            entering.addAll(List.of("sh", "-c", setup + " && exec \"$@\"", "sh"));
            if (run(entering, List.of("true")).isEmpty()) {
                return new Namespace(entering);
            }
        }
        return null;
    }

    /// The error output of the program; empty when it ended well.
    public String run(Class<?> program, String... arguments) throws InterruptedException {
        return run("-XX:TieredStopAtLevel=1", program, arguments);
    }

    /// The same, with both compilers of the virtual machine.
    public String runCompiled(Class<?> program) throws InterruptedException {
        return run("-XX:+TieredCompilation", program);
    }

    private String run(String option, Class<?> program, String... arguments) throws InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                option,
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(arguments));
        return run(entering, command);
    }

    private static String run(List<String> entering, List<String> command) throws InterruptedException {
        try {
            var all = new ArrayList<>(entering);
            all.addAll(command);
            Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            return status == 0 ? "" : "exit code " + status + ": " + output;
        } catch (IOException e) {
            return e.toString();
        }
    }
}
