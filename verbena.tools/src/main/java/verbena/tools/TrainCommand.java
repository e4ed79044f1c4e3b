package verbena.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.module.ModuleReader;
import java.lang.module.ResolvedModule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import verbena.tools.kit.CommandFailed;

/// A small sample of the work of the commands, with both ends in this process, while the JVM records the contents of
/// an AOT cache (decision 47). A part that fails here is worse trained, and nothing else: the command prints the
/// failure and goes on.
@Command(name = "train", hidden = true, header = "Do a little of everything, for the AOT cache that the JVM records.")
final class TrainCommand implements Callable<Integer> {
    private static final Pattern LISTENING = Pattern.compile(" port (\\d+); there: ");
    private static final long TIMEOUT_SECONDS = 20;
    /// The number of files: so many that a copy of them goes in batches and packs, as a tree of a user's does.
    private static final int FILES = 600;

    @Override
    public Integer call() throws IOException, InterruptedException {
        loadClasses();
        for (String command : List.of(
                "--help",
                "--version",
                "help decode",
                "devices",
                "info rocev2",
                "doctor",
                "status",
                "decode --help",
                "perf write-bw --help",
                "cp --help",
                "explain",
                "demo --seconds 0")) {
            ask(command);
        }
        for (String device : List.of("rocev2", "iwarp")) {
            measure("write-lat -n 10000", device);
            measure("send-lat -n 4000", device);
            measure("write-bw -n 3000", device);
        }
        measure("send-lat -n 4000", "shm");
        measure("write-bw -n 3000", "shm");
        measure("send-lat -e -n 1000", "rocev2");
        measure("read-bw -n 1000", "rocev2");
        Path folder = Files.createTempDirectory("verbena-train");
        try {
            copy(folder);
        } finally {
            delete(folder);
        }
        return 0;
    }

    /// Loads all classes. A class that nothing below uses is then in the cache too, but without profiles.
    private static void loadClasses() throws IOException {
        ModuleLayer layer = TrainCommand.class.getModule().getLayer();
        if (layer == null) {
            return; // on a class path
        }
        for (ResolvedModule module : layer.configuration().modules()) {
            if (!module.name().startsWith("verbena.") && !module.name().equals("info.picocli")) {
                continue;
            }
            try (ModuleReader reader = module.reference().open();
                    Stream<String> names = reader.list()) {
                names.filter(name -> name.endsWith(".class") && !name.equals("module-info.class"))
                        .map(name -> name.substring(0, name.length() - ".class".length())
                                .replace('/', '.'))
                        .forEach(name ->
                                Class.forName(layer.findModule(module.name()).orElseThrow(), name));
            }
        }
    }

    private static void measure(String arguments, String device) throws InterruptedException {
        String[] words = arguments.split(" ", 2);
        String common = "perf " + words[0] + " -R " + (device.equals("rocev2") ? "" : "-d " + device + " ") + words[1];
        var server = new Server(common + " -p 0 --source_ip 127.0.0.1");
        ask(common + " -p " + server.port() + " 127.0.0.1");
        server.end();
    }

    private static void copy(Path folder) throws IOException, InterruptedException {
        Path from = Files.createDirectories(folder.resolve("from"));
        Path to = Files.createDirectories(folder.resolve("to"));
        Files.write(from.resolve("large"), new byte[8 << 20]);
        for (int i = 0; i < FILES; i++) {
            Path in = Files.createDirectories(from.resolve("folder" + i % 10));
            Files.write(in.resolve("small" + i), new byte[100 * (i % 100)]);
        }
        var server = new Server("serve --writable -P 0 " + to);
        ask("cp -r -P " + server.port() + " " + from + " 127.0.0.1:");
        ask("cp -r -P " + server.port() + " 127.0.0.1:from " + folder.resolve("back"));
        server.thread.interrupt();
        server.end();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void ask(String command) {
        var said = new StringWriter();
        if (execute(command, said) != 0) {
            System.err.println(
                    "verbena train: " + command + ": " + said.toString().strip());
        }
    }

    private static int execute(String command, Writer err) {
        CommandLine line = Verbena.commandLine();
        line.setOut(new PrintWriter(Writer.nullWriter()));
        line.setErr(new PrintWriter(err, true));
        return line.execute(command.split(" ", -1));
    }

    /// The other end, in a thread of its own.
    private static final class Server {
        private final String command;
        private final CompletableFuture<Integer> port = new CompletableFuture<>();
        private final Thread thread;

        Server(String command) {
            this.command = command;
            thread = Thread.ofPlatform().daemon().name("verbena-train-server").start(() -> {
                var said = new StringWriter() {
                    @Override
                    public void flush() {
                        Matcher matcher = LISTENING.matcher(toString());
                        if (matcher.find()) {
                            port.complete(Integer.parseInt(matcher.group(1)));
                        }
                    }
                };
                execute(command, said);
                port.completeExceptionally(new CommandFailed(command + ": " + said));
            });
        }

        int port() throws InterruptedException {
            try {
                return port.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new CommandFailed("the other end does not listen: " + command, e);
            }
        }

        void end() throws InterruptedException {
            thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        }
    }
}
