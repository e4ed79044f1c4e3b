package verbena.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A process that takes part. It does not outlive this one: Ctrl-C ends it, too.
final class Child implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 30;
    private static final String END = "\0";
    /// Guards itself, and `isEnding`: none is started while all are being ended.
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
        builder.environment().putAll(environment);
        process = start(builder);
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("output of " + name).start(() -> {
            try {
                out.lines().forEach(said::add);
            } catch (RuntimeException _) {
                // closed: it has ended
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
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Whether there is something to hear.
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
            // It has ended, and what it answers will tell.
        }
    }

    /// The next line that it prints.
    String hear() throws InterruptedException {
        String line = said.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new Failed(name + " said nothing for " + PATIENCE_SECONDS + " s");
        }
        if (line.equals(END)) {
            said.add(END);
            throw new Failed(name + " has ended" + lastWords());
        }
        all.add(line);
        return line;
    }

    /// All that it prints until it ends, well. It may take as long as it likes, while it says how far it is.
    List<String> result() throws InterruptedException {
        while (true) {
            String line = said.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (line == null) {
                throw new Failed(
                        name + " is not done, and has said nothing for " + PATIENCE_SECONDS + " s" + lastWords());
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

    /// With what it has started: mpirun and fio have processes of their own.
    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    @Override
    public void close() {
        end(process);
        synchronized (RUNNING) {
            RUNNING.remove(process);
        }
    }

    /// What a contender could not do, in words.
    static final class Failed extends RuntimeException {
        Failed(String message) {
            super(message);
        }
    }
}
