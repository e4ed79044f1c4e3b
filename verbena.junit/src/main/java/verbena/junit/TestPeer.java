package verbena.junit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import verbena.verbs.Preview;

/// A program that runs in a process of its own, for one test: a server, for example. It calls [#ready] when it can be
/// reached. The test's process ends it: it closes the program's standard input, and kills it two seconds later.
///
/// ```java
/// class EchoServer {
///     public static void main(String[] args) throws Exception {
///         try (var listener = ConnectionListener.bind("127.0.0.1", 0)) {
///             TestPeer.ready(listener.localAddress().getPort());
///             // … accepts, until it is ended …
///         }
///     }
/// }
/// ```
///
/// Safe for use by any thread.
///
/// @since 0.1
@Preview
public final class TestPeer implements AutoCloseable {
    private static final String READY = "verbena.junit: ready ";
    private static final long END_SECONDS = 2;

    private final Process process;
    private final Path output;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();
    private final Thread reader;

    private TestPeer(Process process, Path output) {
        this.process = process;
        this.output = output;
        this.reader = Thread.ofVirtual().start(this::read);
    }

    /// Announces that the test can reach the program. The program calls it, in its own process. When the test is
    /// over the process exits, whatever its threads do then. A shutdown hook does what the program has to do at its
    /// end.
    ///
    /// @param port what [#port()] returns in the test, 0 to 65535
    public static void ready(int port) {
        System.out.println(READY + port);
        System.out.flush();
        Thread.ofPlatform().daemon().name("verbena-junit-end").start(() -> {
            try (InputStream in = System.in) {
                in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // the test's process has gone
            }
            System.exit(0);
        });
    }

    /// Starts a program and waits until it is ready.
    ///
    /// @param output the file of all that it prints
    /// @throws AssertionError when it ends before, or is not ready in time; with what it has printed
    static TestPeer start(RunsIn what, Path output) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        String classes = System.getProperty("java.class.path");
        String modules = System.getProperty("jdk.module.path", "");
        // The classes of modules are as good on the class path.
        command.addAll(List.of("-cp", modules.isEmpty() ? classes : classes + File.pathSeparator + modules));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("verbena."))
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.add(what.value().getName());
        command.addAll(List.of(what.arguments()));
        var peer = new TestPeer(
                new ProcessBuilder(command)
                        .redirectError(Redirect.appendTo(output.toFile()))
                        .start(),
                output);
        boolean isReady = false;
        try {
            peer.awaitReady(what);
            isReady = true;
            return peer;
        } finally {
            if (!isReady) {
                peer.close();
            }
        }
    }

    private void awaitReady(RunsIn what) throws InterruptedException {
        try {
            int _ = port.get(what.seconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(what.value().getName() + " has ended before it was ready:\n" + printed(), e);
        } catch (TimeoutException e) {
            throw new AssertionError(
                    what.value().getName() + " was not ready within " + what.seconds() + " s:\n" + printed(), e);
        }
    }

    private void read() {
        try (BufferedReader lines = process.inputReader();
                var file = Files.newBufferedWriter(output, StandardOpenOption.APPEND)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(READY)) {
                    port.complete(Integer.parseInt(line.substring(READY.length())));
                } else {
                    file.write(line);
                    file.newLine();
                    file.flush();
                }
            }
        } catch (IOException e) {
            port.completeExceptionally(e);
        }
        port.completeExceptionally(new IOException("no more output"));
    }

    /// Returns the port that the program has named when it was ready.
    public int port() {
        return port.join();
    }

    /// Returns the process, which a test may kill.
    public Process process() {
        return process;
    }

    /// Returns what the program has printed up to now, on both of its outputs.
    public String printed() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Ends the process, and waits until it has ended. Idempotent.
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // it has ended
        }
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
            reader.join();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "process " + process.pid();
    }
}
