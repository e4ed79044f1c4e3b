package verbena.spark.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// An application that stays, and runs the jobs that it is told. It tells what Spark has counted for each, and the
/// system what its executors have used.
///
/// @param scratch where its executors have their files, in memory
record StandingApplication(Process driver, BufferedReader out, Writer in, List<ProcessHandle> executors, Path scratch)
        implements AutoCloseable {
    /// What a job has come to.
    ///
    /// @param result one line, the same for each contender
    /// @param writeSeconds of all map tasks, writing
    /// @param waitSeconds of all reduce tasks, waiting for blocks
    /// @param cpuSeconds of the executors' processes, with their collectors, but without their compilers. Those
    /// have done their work when an executor has run for some minutes
    /// @param gigabytes shuffled, as they are in map outputs
    record Measured(
            String result,
            double seconds,
            double writeSeconds,
            double waitSeconds,
            double cpuSeconds,
            double gigabytes) {}

    /// Starts an application, and waits for its executors.
    ///
    /// @param builder of a process with [Application] that is [Application#ASKED]
    /// @param log for what Spark has to say
    static StandingApplication start(ProcessBuilder builder, Path log, Path scratch) throws IOException {
        Process driver = builder.redirectError(log.toFile()).start();
        BufferedReader out = driver.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        while (line != null && !line.startsWith("ready ")) {
            line = out.readLine();
        }
        if (line == null) {
            SparkRun.end(driver);
            throw new IOException("an application has ended; see " + log);
        }
        String id = line.substring("ready ".length());
        List<ProcessHandle> executors = ProcessHandle.allProcesses()
                .filter(process -> {
                    String command = commandOf(process);
                    return command.contains("CoarseGrainedExecutorBackend") && command.contains(id);
                })
                .toList();
        return new StandingApplication(driver, out, driver.outputWriter(StandardCharsets.UTF_8), executors, scratch);
    }

    /// The whole of it, which may be longer than the JDK shows.
    private static String commandOf(ProcessHandle process) {
        try {
            return Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "cmdline"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // it has ended
        }
    }

    Measured run(String job) throws IOException {
        double cpu = cpuSeconds();
        in.write(job + "\n");
        in.flush();
        Map<String, Long> metrics = new HashMap<>();
        String result = "";
        double seconds = 0;
        for (String line = out.readLine(); ; line = out.readLine()) {
            if (line == null) {
                throw new IOException(job + ": the application has ended");
            }
            String[] words = line.split(" ", 4);
            switch (words[0]) {
                case "result" -> {
                    seconds = Long.parseLong(words[2]) / 1e9;
                    result = words[3];
                }
                case "metric" -> metrics.put(words[1], Long.parseLong(words[2]));
                case "end" -> {
                    return new Measured(
                            result,
                            seconds,
                            metrics.getOrDefault("write.ns", 0L) / 1e9,
                            metrics.getOrDefault("fetch.wait.ms", 0L) / 1e3,
                            cpuSeconds() - cpu,
                            metrics.getOrDefault("write.bytes", 0L) / 1e9);
                }
                default -> {} // of Spark
            }
        }
    }

    private double cpuSeconds() throws IOException {
        long nanos = 0;
        for (ProcessHandle each : executors) {
            nanos += each.info().totalCpuDuration().orElseThrow().toNanos() - compilerNanos(each.pid());
        }
        return nanos / 1e9;
    }

    /// Of the compilers' threads, which stay as long as the process ([SparkBench#JAVA]).
    private static long compilerNanos(long process) throws IOException {
        long nanos = 0;
        try (var threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(process), "task"))) {
            for (Path thread : threads) {
                nanos += isCompiler(thread) ? nanosOf(thread) : 0;
            }
        }
        return nanos;
    }

    private static boolean isCompiler(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).matches("C[12] Compiler.*\\s*");
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    private static long nanosOf(Path thread) throws IOException {
        return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ", 2)[0]);
    }

    /// What the executors have in memory now: their own pages and shared ones, each once, and files in memory.
    long memoryBytes() throws IOException {
        long kilobytes = 0;
        for (ProcessHandle each : executors) {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(each.pid()), "smaps_rollup"))) {
                if (line.startsWith("Pss_Anon:") || line.startsWith("Pss_Shmem:")) {
                    kilobytes += Long.parseLong(line.replaceAll("\\D", ""));
                }
            }
        }
        return (kilobytes << 10) + fileBytes(scratch);
    }

    private static long fileBytes(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return 0;
        }
        var sum = new AtomicLong();
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                sum.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
                return FileVisitResult.CONTINUE; // it was there a moment ago
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) {
                return FileVisitResult.CONTINUE; // the same
            }
        });
        return sum.get();
    }

    /// What the shuffle managers of both executors have counted; then the application ends.
    Map<String, Long> finish() throws IOException {
        in.close();
        Map<String, Long> counters = new HashMap<>();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            String[] words = line.split(" ", 4);
            if (words[0].equals("counter")) {
                counters.put(words[1], Long.parseLong(words[2]));
            }
        }
        return counters;
    }

    @Override
    public void close() {
        SparkRun.end(driver);
    }
}
