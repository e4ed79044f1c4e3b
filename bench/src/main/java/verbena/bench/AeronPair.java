package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import verbena.tools.report.Result;

/// Aeron: what the JVM has that is fastest.
final class AeronPair implements Contender {
    static final String UDP = "Aeron UDP";
    static final String IPC = "Aeron IPC";
    private static final int FIRST = 100;

    private final Child server = Worker.start("aeron");
    private final Child client = Worker.start("aeron");
    private int measured;

    AeronPair() throws Exception {}

    @Override
    public List<Entry> start() {
        return List.of(
                entry(UDP, Bench.LARGE, "stream"),
                entry(UDP, Bench.SMALL, "pingpong"),
                entry(IPC, Bench.LARGE, "stream"),
                entry(IPC, Bench.SMALL, "pingpong"));
    }

    private Entry entry(String series, int size, String order) {
        String way = series.substring("Aeron ".length()).toLowerCase(Locale.ROOT);
        return new Entry(series, size, FIRST, (seconds, _) -> {
            String folder = "bench-" + server.pid() + "-" + ++measured;
            int port = Ports.free();
            Worker.order(server, "serve", way, order.equals("stream") ? "stream" : "echo", folder, port);
            Worker.answer(server, JsonNode.class);
            Worker.order(client, order, way, folder, port, size, seconds);
            Result result = Worker.answer(client, Result.class);
            Worker.order(server, "end");
            Worker.answer(server, JsonNode.class);
            return result;
        });
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
