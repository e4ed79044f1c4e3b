package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import verbena.bench.ConnectionsEnd.Made;
import verbena.bench.ConnectionsEnd.Memory;

/// Connections between two processes: the time to make them, and their cost while they are idle.
final class ConnectionsPair implements Contender {
    static final String CONNECT = "Verbena connect";
    /// The number of connections that are idle while their cost is measured.
    static final int IDLE_COUNT = 100;

    static final String IDLE = "idle connections";
    private static final int FIRST = 100;
    /// The number of connections that warm the compilers up: making a connection runs much code.
    private static final int WARM_UP_COUNT = 5_000;
    private static final long TIMEOUT_SECONDS = 600;
    private static final long SETTLE_MILLIS = 10_000;

    private final String device;
    private final Child server = Workers.start("connections");
    private final Child client = Workers.start("connections");
    private final String address;

    ConnectionsPair(String device) throws Exception {
        this.device = device;
        Workers.order(server, "listen", device);
        address = Workers.answer(server, JsonNode.class).get("address").textValue();
    }

    @Override
    public String name() {
        return "Verbena's connections";
    }

    @Override
    public List<Entry> start() throws Exception {
        make(WARM_UP_COUNT, 1);
        unmake();
        return List.of(new Entry(CONNECT, 0, FIRST, (_, n) -> {
            Made made = make((int) n, 1);
            unmake();
            return Programs.latency(0, n, made.medianUs());
        }));
    }

    /// Makes connections one after the other, by each of some threads.
    Made make(int count, int threads) throws Exception {
        Workers.order(client, "connect", device, address, count, threads);
        return Workers.read(client.hear(TIMEOUT_SECONDS), Made.class);
    }

    void unmake() throws Exception {
        for (Child end : List.of(client, server)) {
            Workers.order(end, "close");
            Workers.answer(end, JsonNode.class);
        }
    }

    /// Returns the memory of the two ends, this end first.
    List<Memory> memory() throws Exception {
        Workers.order(client, "memory");
        Workers.order(server, "memory");
        return List.of(Workers.answer(client, Memory.class), Workers.answer(server, Memory.class));
    }

    /// Makes more connections. Returns the cost of each at the end where that is higher, in bytes of the heap or of
    /// all memory.
    double bytesOfOne(int count) throws Exception {
        List<Memory> before = memory();
        make(count, 1);
        List<Memory> after = memory();
        double most = 0;
        for (int end = 0; end < before.size(); end++) {
            long heap = after.get(end).heap() - before.get(end).heap();
            long resident = after.get(end).resident() - before.get(end).resident();
            most = Math.max(most, (double) Math.max(heap, resident) / count);
        }
        return most;
    }

    /// Waits until the code of keep-alives is compiled, too: two of each.
    void settle() throws InterruptedException {
        Thread.sleep(SETTLE_MILLIS);
    }

    /// Returns the share of a core that the busier process uses meanwhile, in percent.
    double percent(double seconds) throws IOException, InterruptedException {
        long start = System.nanoTime();
        long[] before = {nanos(server.pid()), nanos(client.pid())};
        TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
        long most = Math.max(nanos(server.pid()) - before[0], nanos(client.pid()) - before[1]);
        return 100.0 * most / (System.nanoTime() - start);
    }

    // The run time of all threads (kernel documentation, sched-stats: the first number of schedstat).
    private static long nanos(long pid) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            long sum = 0;
            for (Path thread : threads.toList()) {
                sum += Long.parseLong(
                        Files.readString(thread.resolve("schedstat")).split(" ", -1)[0]);
            }
            return sum;
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
