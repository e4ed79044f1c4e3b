package verbena.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.check.device.CheckSession;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// The devices, connections and processes of one test, and the folder of the files that they write. By the thread of
/// the test.
final class TestScene {
    private static final String DEVICE = "verbena.test.device";
    private static final String SEED = "verbena.test.seed";
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

    private final RdmaTest settings;
    private final String name;
    private final long seed;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private @Nullable Path folder;
    private final @Nullable CheckSession checks;
    private int devices;
    private boolean hasFaults;

    /// @param name of the test, of which the folder gets its own
    TestScene(RdmaTest settings, String name) {
        this.settings = settings;
        this.name = name;
        this.checks = settings.check() || settings.checkThreads() ? new CheckSession(settings.checkThreads()) : null;
        String set = System.getProperty(SEED);
        if (set != null) {
            seed = Long.parseLong(set);
        } else {
            seed = settings.seed() != 0
                    ? settings.seed()
                    : ThreadLocalRandom.current().nextLong(1, 1 << 30);
        }
    }

    // ---- what tests take as parameters

    /// Opens a device.
    ///
    /// @param label what its packets' file is called
    Context open(String label) throws IOException {
        Device device = named(label);
        Context context = (checks == null ? device : checks.over(device)).open();
        open.push(context);
        devices++;
        return context;
    }

    private Device named(String label) throws IOException {
        String plain = System.getProperty(DEVICE, settings.device());
        boolean isReplaced = !plain.equals(settings.device());
        String faults = settings.faults();
        String full = plain;
        if (!faults.isEmpty()) {
            full = plain + ",faults=" + faults + ",seed:" + (seed + devices);
            if (isReplaced && !takes(full)) {
                full = plain; // a card has its own network
            } else {
                hasFaults = true;
            }
        }
        if (settings.packets()) {
            String captured = full + ",capture=" + folder().resolve(devices + "-" + label + ".pcapng");
            if (takes(captured)) {
                full = captured;
            }
        }
        return Device.named(full);
    }

    private static boolean takes(String name) {
        try {
            return !Device.named(name).name().isEmpty();
        } catch (RuntimeException e) { // there is no such option, or no such device
            return false;
        }
    }

    /// Connects two ends at two devices.
    ConnectedEnds connect() throws IOException, InterruptedException {
        Context server = open("server");
        Context client = open("client");
        ConnectionOptions options = ConnectionOptions.defaults().withConnectTimeout(CONNECT_LIMIT);
        if (settings.receivesAhead() != 0) {
            options = options.withReceivesAhead(settings.receivesAhead());
        }
        ConnectionOptions atServer = options.withDevice(server);
        ConnectionOptions atClient = options.withDevice(client);
        var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
        try (ConnectionListener listener = ConnectionListener.bind(at, atServer)) {
            var accepted = new FutureTask<>(listener::accept);
            Thread.ofVirtual().start(accepted);
            Connection connected = Connection.connect(listener.localAddress(), atClient);
            open.push(connected);
            Connection other = accepted.get();
            open.push(other);
            return new ConnectedEnds(connected, other);
        } catch (ExecutionException e) {
            throw new IllegalStateException("no connection: " + e.getMessage(), e);
        }
    }

    /// Starts a program in a process of its own.
    TestPeer run(RunsIn what) throws IOException, InterruptedException {
        String file = what.value().getSimpleName() + "-" + open.size() + ".txt";
        TestPeer peer = TestPeer.start(what, Files.createFile(folder().resolve(file)));
        open.push(peer);
        return peer;
    }

    // ---- the end

    /// Says what a failed test leaves, and how to repeat its faults.
    String kept() {
        var text = new StringJoiner("; ");
        if (folder != null) {
            text.add("verbena: packets and output are in " + folder);
        }
        if (hasFaults) {
            text.add("repeat the faults with -D" + SEED + "=" + seed);
        }
        return text.toString();
    }

    /// Closes everything, the youngest first, and deletes what is not to be kept.
    ///
    /// @param hasFailed whether the test has
    /// @throws AssertionError when it has not, and the checks have found a fault in it
    void end(boolean hasFailed) throws IOException {
        RuntimeException first = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                var failure = new IllegalStateException("closing what the test had: " + e.getMessage(), e);
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        Optional<String> faults = checks == null ? Optional.empty() : checks.faults();
        if (faults.isPresent()) {
            Files.writeString(folder().resolve("findings.txt"), faults.get());
        }
        if (first != null) {
            throw first;
        }
        if (!hasFailed && faults.isPresent()) {
            throw new AssertionError("the program is not right on every card:\n" + faults.get() + kept());
        }
        if (!hasFailed) {
            deleteFolder();
        }
    }

    private Path folder() throws IOException {
        Path own = folder;
        if (own == null) {
            Path parent = Stream.of("target", "build")
                    .map(Path::of)
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElse(Path.of(System.getProperty("java.io.tmpdir")))
                    .resolve("verbena-tests");
            own = Files.createTempDirectory(Files.createDirectories(parent), name + "-")
                    .toAbsolutePath();
            folder = own;
        }
        return own;
    }

    private void deleteFolder() throws IOException {
        Path own = folder;
        if (own == null) {
            return;
        }
        try (Stream<Path> files = Files.list(own)) {
            files.forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        Files.delete(own);
    }
}
