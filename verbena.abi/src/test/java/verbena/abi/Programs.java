package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Runs programs over Verbena's libraries, as `verbena run` does it, each in a process of its own.
final class Programs implements AutoCloseable {
    static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    static final Path SOURCES = ROOT.resolve("verbena.abi/src/test/c");
    private static final Path NATIVE = ROOT.resolve("verbena.abi/target/native");
    private static final String MODULES = Stream.of(
                    "verbs",
                    "foreign",
                    "provider",
                    "wire",
                    "transport",
                    "cm",
                    "subnet",
                    "nic",
                    "ibverbs",
                    "stream",
                    "abi")
            .map(room -> ROOT.resolve("verbena." + room + "/target/classes").toString())
            .collect(Collectors.joining(":"));
    private static final long PATIENCE_SECONDS = 120;

    /// What a program has come to.
    record Ended(List<String> command, int code, String said) {
        /// Ended as it should. rping now and then ends with 255 after a good run, when its thread for events
        /// meets a channel that is closed already; over the kernel's devices too.
        boolean isWell() {
            return code == 0 || said.contains("rdma_get_cm_event: Bad file descriptor");
        }

        /// Returns whether a client was refused by a server that it had found. With `-R` perftest connects twice,
        /// and its server may not listen yet for the second time. Then the server goes on waiting.
        boolean isLeftHalfway() {
            return said.contains("Failed to handle RDMA CM event");
        }

        @Override
        public String toString() {
            return String.join(" ", command) + " ended with " + code + " and said:\n" + said;
        }
    }

    /// A program that runs.
    record Running(List<String> command, Process process, Path output) {
        Ended await() {
            try {
                boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
                if (!ended) {
                    process.destroyForcibly().waitFor();
                }
                return new Ended(
                        command, process.exitValue(), Files.readString(output) + (ended ? "" : "\n(did not end)"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private final Map<String, String> environment;
    private final List<Process> started = new ArrayList<>();
    private final Path folder;

    private Programs(Map<String, String> environment) {
        this.environment = environment;
        try {
            this.folder = Files.createTempDirectory("verbena-abi");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Skips the test where the libraries could not be built.
    ///
    /// @param devices what the programs see, names with blanks between
    /// @param preloaded libraries that programs have preloaded beside ours
    static Programs over(String devices, Path... preloaded) {
        assumeTrue(
                Files.exists(NATIVE.resolve("librdmacm.so.1")),
                "no C compiler when this was built, so there are no libraries");
        return new Programs(Map.of(
                "LD_LIBRARY_PATH",
                NATIVE.toString(),
                "LD_PRELOAD",
                Stream.concat(
                                Stream.of("libverbena-files.so"),
                                Stream.of(preloaded).map(Path::toString))
                        .collect(Collectors.joining(":")),
                "VERBENA_JVM",
                System.getProperty("java.home") + "/lib/server/libjvm.so",
                "VERBENA_MODULES",
                MODULES,
                "VERBENA_JVM_OPTIONS",
                "-ea -Xshare:auto -XX:TieredStopAtLevel=1",
                "VERBENA_EXPLAIN",
                "1",
                "VERBENA_DEVICES",
                devices));
    }

    /// The same, with another library preloaded.
    static Programs over(String devices, Path preloaded) {
        try (var plain = over(devices)) {
            var environment = new HashMap<>(plain.environment);
            environment.merge("LD_PRELOAD", preloaded.toString(), (ours, other) -> ours + ":" + other);
            return new Programs(environment);
        }
    }

    /// The same, with a variable of the environment more. Takes the place of this, which has run nothing.
    Programs with(String variable, String value) {
        close();
        var more = new HashMap<>(environment);
        more.put(variable, value);
        return new Programs(more);
    }

    /// Returns one of some equal parts of the cases, as it is drawn (`-Dverbena.draw=N`); all with
    /// `-Dverbena.deep=true`.
    static Stream<String> draw(int shares, String... cases) {
        int share = Integer.getInteger("verbena.draw", 0) % shares;
        boolean isDeep = Boolean.getBoolean("verbena.deep");
        return IntStream.range(0, cases.length)
                .filter(i -> isDeep || i % shares == share)
                .mapToObj(i -> cases[i]);
    }

    /// Skips the test where this host does not have the program.
    static void need(String program, String where) {
        boolean isThere = Stream.of(System.getenv("PATH").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        assumeTrue(isThere, program + " is not installed (Debian: " + where + ")");
    }

    /// Compiles a C program against the system's headers and our libraries. Skips the test where there is no
    /// compiler, or no headers.
    Path compile(Path source) {
        return compile(source, List.of());
    }

    /// Compiles a library that a program loads.
    Path compileLibrary(Path source) {
        return compile(source, List.of("-shared", "-fPIC"));
    }

    private Path compile(Path source, List<String> flags) {
        need("cc", "gcc");
        assumeTrue(
                Files.exists(Path.of("/usr/include/infiniband/verbs.h")),
                "no infiniband/verbs.h (Debian: libibverbs-dev, librdmacm-dev)");
        Path program = folder.resolve(source.getFileName().toString().replace(".c", ""));
        var command = new ArrayList<>(List.of("cc", "-Wall", "-Werror", "-O1"));
        command.addAll(flags);
        command.addAll(List.of("-o", program.toString(), source.toString(), "-Wl,--as-needed"));
        command.addAll(List.of("-lrdmacm", "-libverbs", "-lpthread", "-ldl"));
        Ended ended = run(command.toArray(String[]::new));
        if (ended.code() != 0) {
            throw new AssertionError(ended.toString());
        }
        return program;
    }

    Running start(String... command) {
        try {
            Path output = Files.createTempFile(folder, "output", ".txt");
            var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
            if (!command[0].equals("cc")) {
                builder.environment().putAll(environment);
            }
            Process process = builder.start();
            started.add(process);
            return new Running(List.of(command), process, output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Ended run(String... command) {
        return start(command).await();
    }

    /// Compiles a C program and runs it; it has to end with 0.
    Ended runC(Path source, String... arguments) {
        return runC(source, List.of(), arguments);
    }

    /// Does the same with these options of the compiler.
    Ended runC(Path source, List<String> flags, String... arguments) {
        var command = new String[arguments.length + 1];
        command[0] = compile(source, flags).toString();
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Ended ended = run(command);
        assertThat(ended.code()).as(ended.toString()).isZero();
        return ended;
    }

    /// Runs a server, and a client until it has found it; both are to end well.
    ///
    /// @param where Debian's package
    void pair(String where, String server, String client) {
        need(server.split(" ", 2)[0], where);
        pair(start(server.split(" ", -1)), client);
    }

    /// The same for programs that find each other by TCP. The client is started when the server listens: one that
    /// comes too early starts a virtual machine in vain.
    void pairByTcp(String where, String port, String server, String client) throws IOException {
        need(server.split(" ", 2)[0], where);
        var serves = start(server.split(" ", -1));
        Pattern listens = Pattern.compile(":%04X 0+:0000 0A ".formatted(Integer.parseInt(port)));
        while (!isIn("/proc/net/tcp", listens) && !isIn("/proc/net/tcp6", listens) && !endsSoon(serves)) {}
        pair(serves, client);
    }

    private static boolean isIn(String file, Pattern text) throws IOException {
        Path path = Path.of(file);
        return Files.exists(path) && text.matcher(Files.readString(path)).find();
    }

    private static boolean endsSoon(Running one) {
        try {
            return one.process().waitFor(10, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void pair(Running server, String client) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        Running serves = server;
        Ended asked;
        do {
            asked = run(client.split(" ", -1));
            if (asked.isLeftHalfway()) {
                serves.process().destroyForcibly();
                serves = start(serves.command().toArray(String[]::new));
            }
        } while (!asked.isWell() && serves.process().isAlive() && System.nanoTime() < deadline);
        var served = serves.await();
        assertThat(asked.isWell()).as(asked + "\n" + served).isTrue();
        assertThat(served.isWell()).as(served.toString()).isTrue();
    }

    /// Of TCP, where the programs exchange addresses; ports of connections are apart from it.
    static String freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return Integer.toString(socket.getLocalPort());
        }
    }

    /// Ends what still runs.
    @Override
    public void close() {
        started.forEach(Process::destroyForcibly);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.toList().reversed()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
