package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import verbena.tools.report.Result;

/// Contenders in Java whose ends connect by themselves: two [Worker] processes of one kind.
final class JavaPair implements Contender {
    static final String TCP = "Java TCP socket";
    static final String UNIX = "Java UNIX-domain socket";
    static final String GRPC_CALL = "gRPC, call";
    static final String GRPC_CALLS = "gRPC, 64 calls outstanding";
    static final String CEILING = "raw UDP, GSO and GRO";
    /// The bytes that count of a packet with 4 KiB: not the headers of a WRITE's middle packet, BTH and ICRC.
    private static final int PAYLOAD_BYTES = 4 << 10;

    private static final int SEGMENT_BYTES = PAYLOAD_BYTES + 16;

    private static final int NETTY_WINDOW = 16;
    private static final int FIRST = 100;

    private final String kind;
    private final Child server;
    private final Child client;

    JavaPair(String kind) throws Exception {
        this.kind = kind;
        server = Workers.start(kind);
        client = Workers.start(kind);
    }

    @Override
    public String name() {
        return kind;
    }

    @Override
    public List<Entry> start() throws Exception {
        Object any = kind.equals("unix") ? Child.folder().resolve("socket-" + server.pid()) : 0;
        Workers.order(server, kind.equals("udp") ? "open" : "listen", any);
        String port = Workers.answer(server, JsonNode.class).get("port").asText();
        return switch (kind) {
            case "udp" ->
                List.of(new Entry(CEILING, Sizes.LARGE, FIRST, (seconds, _) -> {
                    Workers.order(server, "receive", SEGMENT_BYTES, PAYLOAD_BYTES);
                    Workers.order(client, "send", SEGMENT_BYTES, port, seconds);
                    Workers.answer(client, JsonNode.class);
                    return Workers.answer(server, Result.class);
                }));
            case "grpc" ->
                List.of(call(GRPC_CALL, MessagesEnd.CALL_LATENCY, port), call(GRPC_CALLS, MessagesEnd.CALL_RATE, port));
            case "tcp" -> socket(TCP, port);
            case "unix" -> socket(UNIX, port);
            default ->
                List.of(
                        entry("Netty echo", Sizes.LARGE, "echo", port, " " + NETTY_WINDOW),
                        entry("Netty echo", Sizes.SMALL, "echo", port, " 1"));
        };
    }

    private List<Entry> socket(String series, String port) {
        return List.of(
                entry(series, Sizes.LARGE, "stream", port, ""),
                entry(series, Sizes.HUGE, "stream", port, ""),
                entry(series, Sizes.SMALL, "pingpong", port, ""));
    }

    private Entry call(String series, String order, String port) {
        return new Entry(series, Sizes.SMALL, FIRST, (_, iterations) -> {
            Workers.order(client, order, port, Sizes.SMALL, iterations);
            return Workers.answer(client, Result.class);
        });
    }

    private Entry entry(String series, int size, String order, String port, String more) {
        return new Entry(series, size, FIRST, (seconds, _) -> {
            Workers.order(client, order, port, size, seconds + more);
            return Workers.answer(client, Result.class);
        });
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
