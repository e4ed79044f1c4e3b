package verbena.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// How fast two processes of this host make connections, and what each costs them while it is idle: device by
/// device, with a protection domain, two completion queues and a queue pair for every connection.
public final class Connections {
    private static final int PORT = 7_471;
    private static final int THREADS = 8;
    private static final int COUNT = 10_000;

    private final List<Connection> open = new ArrayList<>();

    private Connections() {}

    /// @param args how many connections, 10,000 unless told; `peer` for the second process
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("peer")) {
            new Connections().serve();
        } else {
            new Connections().measure(args.length > 0 ? Integer.parseInt(args[0]) : COUNT);
        }
    }

    // ---- the client

    private void measure(int count) throws Exception {
        Process peer = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        Connections.class.getName(),
                        "peer")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Context device = Device.named("rocev2").open();
                BufferedReader said = peer.inputReader(StandardCharsets.UTF_8)) {
            var to = new InetSocketAddress(said.readLine(), PORT);
            var options = ConnectionOptions.defaults().withDevice(device);
            connect(to, options, count / 10); // warm
            Memory before = Memory.now();
            Memory theirsBefore = ask(peer, said);
            long[] nanos = new long[count];
            long start = System.nanoTime();
            connect(to, options, nanos);
            double seconds = (System.nanoTime() - start) / 1e9;
            Memory after = Memory.now();
            Memory theirs = ask(peer, said);
            Arrays.sort(nanos);
            System.out.printf(
                    Locale.ROOT,
                    "%,d connections in %.1f s by %d threads: %,.0f a second; one takes %.2f ms (median), %.2f (p99)%n",
                    count,
                    seconds,
                    THREADS,
                    count / seconds,
                    nanos[count / 2] / 1e6,
                    nanos[count * 99 / 100] / 1e6);
            print("here", before, after, count);
            print("peer", theirsBefore, theirs, count);
            open.forEach(connection -> connection.id().disconnect());
            open.forEach(Connection::close);
        } finally {
            peer.destroy();
        }
    }

    private void connect(InetSocketAddress to, ConnectionOptions options, int count) throws Exception {
        connect(to, options, new long[count]);
    }

    private void connect(InetSocketAddress to, ConnectionOptions options, long[] nanos) throws Exception {
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            var parts = new ArrayList<Future<List<Connection>>>();
            for (int t = 0; t < THREADS; t++) {
                int first = t;
                parts.add(threads.submit(() -> {
                    var mine = new ArrayList<Connection>();
                    for (int i = first; i < nanos.length; i += THREADS) {
                        long start = System.nanoTime();
                        mine.add(Connection.connect(to, options));
                        nanos[i] = System.nanoTime() - start;
                    }
                    return mine;
                }));
            }
            for (Future<List<Connection>> part : parts) {
                open.addAll(part.get());
            }
        }
    }

    private static Memory ask(Process peer, BufferedReader said) throws IOException {
        peer.outputWriter(StandardCharsets.UTF_8).append("memory\n").flush();
        String[] figures = said.readLine().split(" ", -1);
        return new Memory(Long.parseLong(figures[0]), Long.parseLong(figures[1]));
    }

    private static void print(String who, Memory before, Memory after, int count) {
        System.out.printf(
                Locale.ROOT,
                "%s: an idle connection costs %,d bytes of heap; resident memory grew by %,d bytes for each%n",
                who,
                (after.heap - before.heap) / count,
                (after.resident - before.resident) / count);
    }

    // ---- the server

    private void serve() throws Exception {
        Context device = Device.named("rocev2").open();
        var address = new InetSocketAddress(device.gid(1, 0).gid().address(), PORT);
        ConnectionListener listener =
                ConnectionListener.bind(address, ConnectionOptions.defaults().withDevice(device));
        Thread.ofPlatform().daemon().start(() -> accept(listener));
        System.out.println(address.getAddress().getHostAddress());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
            Memory now = Memory.now();
            System.out.println(now.heap + " " + now.resident);
        }
        System.exit(0);
    }

    private void accept(ConnectionListener listener) {
        try {
            while (true) {
                open.add(listener.accept());
            }
        } catch (InterruptedException | VerbsException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    /// Bytes, after a collection.
    private record Memory(long heap, long resident) {
        private static final int KIB = 1_024;

        static Memory now() throws IOException {
            System.gc();
            var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
            return new Memory(heap.getUsed(), residentBytes());
        }

        private static long residentBytes() throws IOException {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * KIB;
                }
            }
            return 0;
        }
    }
}
