package verbena.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A child process. It does not outlive this process: Ctrl-C ends it, too, and removes the files that it has left.
final class Child implements AutoCloseable {
    private static final long SILENCE_SECONDS = 30;
    private static final long ENDING_MILLIS = 1_000;
    private static final String END = "\0";
    private static final Path MEMORY = Path.of("/dev/shm");
    /// The files that killed processes leave behind, with their process id in the place of the number: a JVM its
    /// socket for jcmd, libfabric the memory that it shares.
    private static final List<String> LEAVINGS = List.of("/tmp/.java_pid%d", MEMORY + "/%d:0:0");

    /// The folder for the temporary files of all children; it is deleted with this process.
    private static final Path FOLDER = newFolder();

    /// Guarded by itself, as is `isEnding`: no process is started while all are being ended.
    private static final Set<Process> RUNNING = new HashSet<>();

    private static boolean isEnding;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Child::endAll));
    }

    private final String name;
    private final Process process;
    private final LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final List<String> all = new ArrayList<>();

    Child(List<String> command, Map<String, String> environment) throws IOException {
        name = command.getFirst().replaceAll(".*/", "");
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("TMPDIR", FOLDER.toString());
        builder.environment().put("XDG_RUNTIME_DIR", FOLDER.toString());
        builder.environment().putAll(environment);
        process = start(builder);
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + name).start(() -> {
            try {
                out.lines().forEach(said::add);
            } catch (RuntimeException _) {
                // closed: the process has ended
            }
            said.add(END);
        });
    }

    private static Process start(ProcessBuilder builder) throws IOException {
        synchronized (RUNNING) {
            if (isEnding) {
                throw new Failed("interrupted");
            }
            Process process = builder.start();
            RUNNING.add(process);
            return process;
        }
    }

    private static void endAll() {
        synchronized (RUNNING) {
            isEnding = true;
            RUNNING.forEach(Child::end);
            removeFolder(); // in the lock, so that the thread that measures stays where it is
        }
    }

    private static Path newFolder() {
        try {
            // In memory, where Aeron wants its files.
            return Files.isWritable(MEMORY)
                    ? Files.createTempDirectory(MEMORY, "verbena-bench")
                    : Files.createTempDirectory("verbena-bench");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Tries for a moment, because a process that is ending may still make a file, or remove one.
    private static void removeFolder() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ENDING_MILLIS);
        while (Files.exists(FOLDER)) {
            try (Stream<Path> found = Files.walk(FOLDER)) {
                for (Path each : found.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException | UncheckedIOException e) {
                if (System.nanoTime() > deadline) {
                    System.err.println("verbena: files are left in " + FOLDER + ": " + e);
                    return;
                }
            }
        }
    }

    /// Returns the folder for files of children.
    static Path folder() {
        return FOLDER;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Returns whether the process has printed a line that was not read.
    boolean hasSaid() {
        return !said.isEmpty();
    }

    void say(String line) {
        try {
            process.outputWriter(StandardCharsets.UTF_8)
                    .append(line)
                    .append('\n')
                    .flush();
        } catch (IOException _) {
            // The process has ended; its output will show why.
        }
    }

    /// Returns the next line that it prints.
    String hear() throws InterruptedException {
        return hear(SILENCE_SECONDS);
    }

    /// Returns the next line that it prints, if it does so in time.
    String hear(long seconds) throws InterruptedException {
        String line = said.poll(seconds, TimeUnit.SECONDS);
        if (line == null) {
            throw new Failed(name + " said nothing for " + seconds + " s");
        }
        if (line.equals(END)) {
            said.add(END);
            throw new Failed(name + " has ended" + lastWords());
        }
        all.add(line);
        return line;
    }

    /// Returns all lines that the process prints until it ends well. It may take any time, as long as it prints its
    /// progress.
    List<String> result() throws InterruptedException {
        while (true) {
            String line = said.poll(SILENCE_SECONDS, TimeUnit.SECONDS);
            if (line == null) {
                throw new Failed(
                        name + " is not done, and has said nothing for " + SILENCE_SECONDS + " s" + lastWords());
            }
            if (line.equals(END)) {
                break;
            }
            all.add(line);
        }
        if (process.waitFor() != 0) {
            throw new Failed(name + " ended with status " + process.exitValue() + lastWords());
        }
        return all;
    }

    private String lastWords() {
        return all.isEmpty() ? "" : ": " + String.join(" / ", all.subList(Math.max(0, all.size() - 3), all.size()));
    }

    /// Ends the process and those that it has started: mpirun and fio have processes of their own.
    private static void end(Process process) {
        List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle()))
                .toList();
        for (ProcessHandle each : all) {
            each.destroyForcibly();
            for (String left : LEAVINGS) {
                try {
                    Files.deleteIfExists(Path.of(left.formatted(each.pid())));
                } catch (IOException _) {
                    // It is another user's.
                }
            }
        }
    }

    @Override
    public void close() {
        end(process);
        synchronized (RUNNING) {
            RUNNING.remove(process);
        }
    }

    /// The failure of a contender, in words.
    static final class Failed extends RuntimeException {
        Failed(String message) {
            super(message);
        }
    }
}
