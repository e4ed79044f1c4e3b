package verbena.tools.files;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import verbena.tools.CommandFailed;
import verbena.tools.Verbena;

/// One of the two processes, seen from the command. It is ended on close, and ends by itself when this process
/// does.
final class ComparePeer implements AutoCloseable {
    private final Process process;
    private final BufferedWriter orders;
    private final BufferedReader answers;
    private final Thread hook;

    ComparePeer() throws IOException {
        List<String> command = new ArrayList<>(Verbena.javaCommand());
        command.add("cp-peer");
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        hook = new Thread(process::destroyForcibly, "verbena-compare-end-peer");
        Runtime.getRuntime().addShutdownHook(hook);
        orders = process.outputWriter(StandardCharsets.UTF_8);
        answers = process.inputReader(StandardCharsets.UTF_8);
    }

    long pid() {
        return process.pid();
    }

    void order(Object... words) throws IOException {
        orders.write(String.join(
                        "\t",
                        java.util.Arrays.stream(words).map(Object::toString).toList()) + "\n");
        orders.flush();
    }

    /// @throws CommandFailed when it could not do what it was told
    String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new CommandFailed("the peer process has ended");
        }
        if (!line.startsWith("ok ")) {
            throw new CommandFailed("the peer process: " + line.replaceFirst("^failed ", ""));
        }
        return line.substring(3);
    }

    @Override
    public void close() throws IOException {
        try (answers) {
            orders.close();
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException _) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Shutting down: the hook has done it, or is about to.
        }
    }
}
