package verbena.ibverbs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The C compiler of this host, when it has one.
public final class CCompiler {
    private CCompiler() {}

    public static boolean isThere() {
        try {
            return tryRun(List.of("--version")).isEmpty();
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Runs it; empty when it is content, else what it says.
    public static String tryRun(List<String> arguments) throws IOException, InterruptedException {
        var command = new ArrayList<String>(List.of("cc"));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return process.waitFor() == 0 ? "" : "cc failed: " + said;
    }

    /// What a program prints.
    public static String output(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError(command + " failed: " + said);
        }
        return said;
    }
}
