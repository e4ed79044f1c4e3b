package verbena.tools.kit;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// This program once more, as the second process of a command. It is ended on close, whatever it does then. It
/// reads its standard input, and so it ends by itself when this process is killed.
public final class ChildProcess implements AutoCloseable {
    /// The element of [#lines] after the last line.
    public static final String NO_MORE = "";

    private static final long END_SECONDS = 2;

    private final Process process;
    private final BufferedWriter input;
    private final Thread hook;

    /// Starts it.
    ///
    /// @param arguments of the command line
    public ChildProcess(List<String> arguments, Redirect output, Redirect error) throws IOException {
        this(List.of(), arguments, output, error);
    }

    /// Starts it by another command.
    ///
    /// @param by the words of that command, which runs what follows it
    /// @param arguments of the command line
    public ChildProcess(List<String> by, List<String> arguments, Redirect output, Redirect error) throws IOException {
        List<String> command = new ArrayList<>(by);
        command.addAll(JavaCommand.again());
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .redirectOutput(output)
                .redirectError(error)
                .start();
        hook = new Thread(process::destroyForcibly, "verbena-end-child");
        Runtime.getRuntime().addShutdownHook(hook);
        input = process.outputWriter(StandardCharsets.UTF_8);
    }

    public long pid() {
        return process.pid();
    }

    /// Gives it a line to read.
    ///
    /// @throws IOException when it has ended
    public void tell(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    /// Returns the lines that it prints.
    public BufferedReader output() {
        return process.inputReader(StandardCharsets.UTF_8);
    }

    /// Returns the lines that it prints about errors.
    public BufferedReader errors() {
        return process.errorReader(StandardCharsets.UTF_8);
    }

    /// Reads lines as they come, on a thread of its own. Empty lines are left out; [#NO_MORE] is the last.
    ///
    /// @param most how many are kept: the newest
    public static BlockingQueue<String> lines(BufferedReader from, int most) {
        var lines = new LinkedBlockingQueue<String>(most);
        Thread.ofPlatform().daemon().name("verbena-child-output").start(() -> {
            try (from) {
                for (String line = from.readLine(); line != null; line = from.readLine()) {
                    if (!line.isEmpty()) {
                        keep(lines, line);
                    }
                }
            } catch (IOException _) {
                // The same as its end.
            }
            keep(lines, NO_MORE);
        });
        return lines;
    }

    private static void keep(BlockingQueue<String> lines, String line) {
        while (!lines.offer(line)) {
            lines.poll();
        }
    }

    /// Waits until it has ended; returns its status.
    public int await() throws InterruptedException {
        return process.waitFor();
    }

    /// Returns ` with status 1`, or nothing when it has not ended yet.
    public String ending() throws InterruptedException {
        return process.waitFor(1, TimeUnit.SECONDS) ? " with status " + process.exitValue() : "";
    }

    /// Ends its input, and then the process when that did not.
    @Override
    public void close() {
        try {
            input.close();
        } catch (IOException _) {
            // It has ended already.
        }
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
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
