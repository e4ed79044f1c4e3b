package verbena.lab;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// A process that a check has started, and the lines that it has printed.
final class Running {
    /// The status of a process that took too long and was ended, as timeout(1) has it.
    static final int TOO_LONG = 124;

    private final String label;
    private final Process process;
    private final Thread reader;
    private final List<String> lines = new ArrayList<>(); // guarded by itself

    private Running(String label, Process process) {
        this.label = label;
        this.process = process;
        reader = Thread.ofPlatform().daemon().name("output of " + label).start(this::read);
    }

    /// Starts a process without input.
    ///
    /// @param label which side it is on, for reports
    static Running start(String label, Map<String, String> environment, List<String> command) {
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
        builder.environment().putAll(environment);
        try {
            return new Running(label, builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        try (var from = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) { // it was ended
        }
        synchronized (lines) {
            lines.notifyAll();
        }
    }

    String label() {
        return label;
    }

    /// Returns all that it has printed until now.
    List<String> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    boolean says(Pattern pattern) {
        return lines().stream().anyMatch(line -> pattern.matcher(line).find());
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Waits until a line has the pattern. False: it ended, or the time is over.
    boolean awaitLine(Pattern pattern, int seconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        synchronized (lines) {
            while (true) {
                if (says(pattern)) {
                    return true;
                }
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0 || !reader.isAlive()) {
                    return false;
                }
                lines.wait(Math.min(left, 1_000)); // the reader's end is no event of this lock
            }
        }
    }

    /// Returns a future that is done when the process has ended.
    CompletableFuture<?> onExit() {
        return process.onExit();
    }

    /// Waits until it has ended, and ends it when that takes too long.
    ///
    /// @return its status
    int await(int seconds) throws InterruptedException {
        boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
        if (!ended) {
            end();
        }
        int status = process.waitFor();
        reader.join(2_000); // what it left behind may hold its output open
        return ended ? status : TOO_LONG;
    }

    /// Ends it, and all that it has started.
    void end() {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroy);
        for (ProcessHandle one : all) {
            try {
                one.onExit().get(2, TimeUnit.SECONDS);
            } catch (Exception e) {
                one.destroyForcibly();
            }
        }
    }
}
