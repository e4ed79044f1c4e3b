package verbena.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// One of the two processes of a run. It does not outlive this process.
final class Member implements AutoCloseable {
    private static final String END = "end";
    private static final int LAST_LINES = 12;
    /// Guarded by itself, as is `isEnding`: no process is started while all are being ended.
    private static final Set<Process> RUNNING = new HashSet<>();

    private static boolean isEnding;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Member::endAll));
    }

    private final String role;
    private final Path log;
    private final Process process;
    private final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();

    /// @param log for all that it prints
    Member(String role, List<String> command, Map<String, String> environment, Path log) throws IOException {
        this.role = role;
        this.log = log;
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        builder.environment().putAll(environment);
        process = start(builder);
        Thread.ofPlatform().daemon().name("output of " + role).start(this::listen);
    }

    private static Process start(ProcessBuilder builder) throws IOException {
        synchronized (RUNNING) {
            if (isEnding) {
                throw new IOException("interrupted");
            }
            Process process = builder.start();
            RUNNING.add(process);
            return process;
        }
    }

    private void listen() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
                var file = Files.newBufferedWriter(log)) {
            String line = out.readLine();
            while (line != null) {
                file.append(line).append('\n').flush();
                if (line.startsWith(Job.PREFIX)) {
                    said.add(line.substring(Job.PREFIX.length()));
                }
                line = out.readLine();
            }
        } catch (IOException | UncheckedIOException _) {
            // the process has ended
        }
        said.add(END);
    }

    /// Returns the text behind the word in the next line of the process that is not about a part of its work
    /// ([Job#done]).
    ///
    /// @param seconds for each line
    /// @throws RunFailed when it says something else, or nothing in time, or ends
    String hear(String word, long seconds) throws InterruptedException {
        String line = said.poll(seconds, TimeUnit.SECONDS);
        while (line != null && line.startsWith(Job.DONE)) {
            line = said.poll(seconds, TimeUnit.SECONDS);
        }
        if (line == null) {
            throw new RunFailed("the " + role + " has said nothing for " + seconds + " s", lastWords());
        }
        if (line.equals(END)) {
            throw new RunFailed("the " + role + " has ended early", lastWords());
        }
        if (!line.startsWith(word)) {
            throw new RunFailed("the " + role + " " + line, lastWords());
        }
        return line.substring(word.length()).strip();
    }

    /// Lets a client go on that is halfway.
    void go() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /// Makes the process end, in an orderly manner.
    void end(long seconds) throws IOException, InterruptedException {
        process.getOutputStream().close();
        awaitEnd(seconds);
        if (process.exitValue() != 0) {
            throw new RunFailed("the " + role + " ended with status " + process.exitValue(), lastWords());
        }
    }

    /// Waits until it has ended, well or not.
    void awaitEnd(long seconds) throws InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new RunFailed("the " + role + " does not end", lastWords());
        }
    }

    /// Ends it at once, as a power cut does.
    void kill() throws InterruptedException {
        end(process);
        int _ = process.waitFor();
    }

    /// Returns the last lines that the process has printed.
    List<String> lastWords() {
        try {
            List<String> all = Files.readAllLines(log);
            return all.subList(Math.max(0, all.size() - LAST_LINES), all.size());
        } catch (IOException | UncheckedIOException e) {
            return List.of("(no output: " + e + ")");
        }
    }

    private static void endAll() {
        synchronized (RUNNING) {
            isEnding = true;
            for (Process each : RUNNING) {
                end(each);
                each.onExit().join(); // it writes no file any more
            }
            Scratch.closeAll(); // in the lock, so that the thread that runs the systems says nothing of failures
        }
    }

    /// Ends a process and the processes that it has started, as executors of Spark.
    private static void end(Process process) {
        Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList()
                .forEach(ProcessHandle::destroyForcibly);
    }

    @Override
    public void close() {
        end(process);
        synchronized (RUNNING) {
            RUNNING.remove(process);
        }
    }
}
