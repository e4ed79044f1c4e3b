package verbena.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Verbena: makes connections and holds them. Every connection has a protection domain, two completion queues and a
/// queue pair of its own.
public final class ConnectionsEnd implements WorkerEnd {
    private static final int PORT = 7_471;

    private final List<Connection> open = Collections.synchronizedList(new ArrayList<>());
    private @Nullable Context device;

    /// Takes the orders `listen DEVICE`, `connect DEVICE ADDRESS COUNT THREADS`, `memory`, `close`.
    @Override
    public Object order(String[] words) throws Exception {
        return switch (words[0]) {
            case "listen" -> Map.of("address", listen(options(words[1])));
            case "connect" ->
                connect(
                        new InetSocketAddress(InetAddress.ofLiteral(words[2]), PORT),
                        options(words[1]),
                        Integer.parseInt(words[3]),
                        Integer.parseInt(words[4]));
            case "memory" -> memory();
            default -> close();
        };
    }

    private ConnectionOptions options(String name) {
        if (device == null) {
            device = Device.named(name).open();
        }
        return ConnectionOptions.defaults().withDevice(device);
    }

    private String listen(ConnectionOptions options) {
        InetAddress address = Objects.requireNonNull(device).gid(1, 0).gid().address();
        ConnectionListener listener = ConnectionListener.bind(new InetSocketAddress(address, PORT), options);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    open.add(listener.accept());
                }
            } catch (InterruptedException | VerbsException e) {
                System.err.println(e);
            }
        });
        return address.getHostAddress();
    }

    /// The time that all connections took, and the time that one connection took.
    public record Made(double seconds, double medianUs, double p99Us) {}

    private Made connect(InetSocketAddress to, ConnectionOptions options, int count, int threadCount) throws Exception {
        var nanos = new long[count];
        long start = System.nanoTime();
        try (var threads = Executors.newFixedThreadPool(threadCount)) {
            var parts = new ArrayList<Future<?>>();
            for (int t = 0; t < threadCount; t++) {
                int first = t;
                parts.add(threads.submit(() -> {
                    for (int i = first; i < count; i += threadCount) {
                        long before = System.nanoTime();
                        Connection made = Connection.connect(to, options);
                        nanos[i] = System.nanoTime() - before;
                        open.add(made);
                    }
                    return first;
                }));
            }
            for (Future<?> part : parts) {
                part.get();
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        Arrays.sort(nanos);
        return new Made(seconds, nanos[count / 2] / 1e3, nanos[count * 99 / 100] / 1e3);
    }

    /// Bytes of memory, after a collection.
    public record Memory(long heap, long resident) {}

    private static Memory memory() throws IOException {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        long resident = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10) // in kB
                .findFirst()
                .orElse(0);
        return new Memory(heap, resident);
    }

    private Object close() {
        List<Connection> all = List.copyOf(open);
        all.forEach(connection -> connection.id().disconnect());
        all.forEach(Connection::close);
        open.removeAll(Set.copyOf(all));
        return Map.of();
    }
}
