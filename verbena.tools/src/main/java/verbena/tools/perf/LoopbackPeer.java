package verbena.tools.perf;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;
import verbena.tools.CommandFailed;
import verbena.tools.Verbena;

/// The server of a measurement with `--loopback`: this program once more, in a process of its own. It is ended on
/// close, and ends by itself when this process is killed.
final class LoopbackPeer implements AutoCloseable {
    /// Where both ends are.
    static final String ADDRESS = "127.0.0.1";

    /// Options that are for the end that the user looks at.
    private static final List<String> NOT_FOR_THE_PEER = List.of(
            "--loopback",
            "-p",
            "--source_ip",
            "--json",
            "--out_json",
            "--out_json_file",
            "--html",
            "--report",
            "-w",
            "-y");

    private static final Pattern LISTENING = Pattern.compile(" port (\\d+); there: ");
    private static final long START_SECONDS = 20;
    private static final long END_SECONDS = 2;

    private final Process process;
    private final Thread hook;
    private final ArrayBlockingQueue<String> said = new ArrayBlockingQueue<>(16);

    /// Starts it.
    ///
    /// @param command as it was called here: its options are the peer's too
    LoopbackPeer(String name, ParseResult command) throws IOException {
        List<String> line = new ArrayList<>(Verbena.javaCommand());
        line.addAll(List.of("perf", name, "--with-parent", "-p", "0", "--source_ip", ADDRESS));
        for (OptionSpec option : command.matchedOptions()) {
            if (NOT_FOR_THE_PEER.contains(option.shortestName()) || NOT_FOR_THE_PEER.contains(option.longestName())) {
                continue;
            }
            List<String> values = option.originalStringValues();
            line.add(option.arity().max() == 0 ? option.longestName() : option.longestName() + "=" + values.getLast());
        }
        process = new ProcessBuilder(line)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        hook = new Thread(process::destroyForcibly, "verbena-perf-end-peer");
        Runtime.getRuntime().addShutdownHook(hook);
        Thread.ofVirtual().start(this::listen);
    }

    private void listen() {
        try (BufferedReader from = process.errorReader(StandardCharsets.UTF_8)) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (!said.offer(line)) {
                    said.poll();
                    said.add(line);
                }
            }
        } catch (IOException _) {
            // The same as its end.
        }
        said.offer("");
    }

    /// Waits until it listens; returns its port.
    ///
    /// @throws CommandFailed when it does not come up
    int port() throws InterruptedException {
        for (String line = next(); ; line = next()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                return Integer.parseInt(matcher.group(1));
            }
            if (line.startsWith("verbena ") || line.isEmpty()) {
                throw new CommandFailed("the peer process did not come up: " + line);
            }
        }
    }

    private String next() throws InterruptedException {
        String line = said.poll(START_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new CommandFailed("the peer process did not start in " + START_SECONDS + " s");
        }
        return line;
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException _) {
            // It is dead already.
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
