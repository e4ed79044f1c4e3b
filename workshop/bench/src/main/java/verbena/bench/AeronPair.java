package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import verbena.tools.report.Result;

/// Aeron: the fastest messaging of the JVM.
final class AeronPair implements Contender {
    static final String UDP = "Aeron UDP";
    static final String IPC = "Aeron IPC";
    private static final int FIRST = 100;

    private final Child server = Workers.start("aeron");
    private final Child client = Workers.start("aeron");
    private final List<String> ways;
    private int measured;

    /// @param ways [#UDP], [#IPC]
    AeronPair(String... ways) throws Exception {
        this.ways = List.of(ways);
    }

    @Override
    public String name() {
        return "Aeron";
    }

    @Override
    public List<Entry> start() {
        return ways.stream()
                .flatMap(way -> Stream.of(entry(way, Sizes.LARGE, "stream"), entry(way, Sizes.SMALL, "pingpong")))
                .toList();
    }

    private Entry entry(String series, int size, String order) {
        String way = series.substring("Aeron ".length()).toLowerCase(Locale.ROOT);
        return new Entry(series, size, FIRST, (seconds, _) -> {
            String folder = "bench-" + server.pid() + "-" + ++measured;
            int port = Ports.free();
            Workers.order(server, "serve", way, order.equals("stream") ? "stream" : "echo", folder, port);
            Workers.answer(server, JsonNode.class);
            Workers.order(client, order, way, folder, port, size, seconds);
            Result result = Workers.answer(client, Result.class);
            Workers.order(server, "end");
            Workers.answer(server, JsonNode.class);
            return result;
        });
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
