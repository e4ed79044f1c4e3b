package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Two processes with connections on which nothing happens.
final class IdlePair implements AutoCloseable {
    static final int CONNECTIONS = 100;
    static final String NAME = "idle connections";
    private static final long SETTLE_MILLIS = 10_000;

    private final Child server = Worker.start("verbena");
    private final Child client = Worker.start("verbena");

    IdlePair() throws Exception {
        Worker.order(server, "listen");
        String address = Worker.answer(server, JsonNode.class).get("address").textValue();
        Worker.order(client, "connect", address, CONNECTIONS);
        Worker.answer(client, JsonNode.class);
        Thread.sleep(SETTLE_MILLIS); // two keep-alives of each: what they take is compiled then
    }

    /// The busier one's share of a core while nothing happens, in percent.
    double percent(double seconds) throws IOException, InterruptedException {
        long start = System.nanoTime();
        long[] before = {nanos(server.pid()), nanos(client.pid())};
        TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
        long most = Math.max(nanos(server.pid()) - before[0], nanos(client.pid()) - before[1]);
        return 100.0 * most / (System.nanoTime() - start);
    }

    // What all threads have run for (kernel documentation, sched-stats: the first number of schedstat).
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
        List.of(client, server).forEach(Child::close);
    }
}
