package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.report.Result;

/// Verbena's messages, active messages and calls between two processes that stay warm, over one device.
final class MessagesPair implements Contender {
    static final String SHM = "Verbena shm";
    static final String ROCE = "Verbena rocev2";
    static final String TAGGED = ", tagged message";
    static final String ACTIVE = ", active message";
    static final String CALL = ", call";
    static final String PROMPT_CALL = ", call answered at once";
    static final String CALLS = ", 64 calls outstanding";
    static final String PROMPT_CALLS = ", 64 calls outstanding, answered at once";

    private static final int FIRST_SMALL = 2_000;
    private static final int FIRST_LARGE = 200;
    /// The allocation of a message is the difference of two runs.
    private static final int ALLOCATION_FEW = 1_000;
    private static final int ALLOCATION_MANY = 101_000;

    private final String name;
    private final String device;
    private final String deviceThere;
    private final Child server;
    private final Child client;

    private MessagesPair(String name, String device, String deviceThere) throws Exception {
        this.name = name;
        this.device = device;
        this.deviceThere = deviceThere;
        this.server = Workers.start("messages");
        this.client = Workers.start("messages");
    }

    static MessagesPair inMemory() throws Exception {
        return new MessagesPair(SHM, "shm", "shm");
    }

    static MessagesPair overLoopback() throws Exception {
        return new MessagesPair(ROCE, "rocev2@127.0.77.1", "rocev2@127.0.77.2");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Entry> start() throws Exception {
        Workers.order(server, "listen", deviceThere);
        String port = Workers.answer(server, JsonNode.class).get("port").asText();
        Workers.order(client, "connect", device, port);
        Workers.answer(client, JsonNode.class);
        var entries = new ArrayList<Entry>();
        entries.add(entry(TAGGED, Sizes.SMALL, MessagesEnd.TAG_LATENCY));
        entries.add(entry(ACTIVE, Sizes.SMALL, MessagesEnd.ACTIVE_LATENCY));
        entries.add(entry(CALL, Sizes.SMALL, MessagesEnd.CALL_LATENCY));
        entries.add(entry(PROMPT_CALL, Sizes.SMALL, MessagesEnd.PROMPT_CALL_LATENCY));
        entries.add(entry(CALLS, Sizes.SMALL, MessagesEnd.CALL_RATE));
        entries.add(entry(PROMPT_CALLS, Sizes.SMALL, MessagesEnd.PROMPT_CALL_RATE));
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            entries.add(entry(TAGGED, size, MessagesEnd.TAG_BANDWIDTH));
            entries.add(entry(ACTIVE, size, MessagesEnd.ACTIVE_BANDWIDTH));
        }
        return entries;
    }

    private Entry entry(String series, int size, String order) {
        return new Entry(
                name + series,
                size,
                size == Sizes.SMALL ? FIRST_SMALL : FIRST_LARGE,
                (_, iterations) -> Workers.JSON.treeToValue(
                        run(order, size, iterations).here.get("result"), Result.class));
    }

    private record Answers(JsonNode here, JsonNode there) {}

    private Answers run(String order, int size, long count) throws Exception {
        Workers.order(server, order, size, count);
        String ready = server.hear();
        if (!ready.equals(MessagesEnd.READY)) {
            Workers.read(ready, JsonNode.class); // throws with the reason
        }
        Workers.order(client, order, size, count);
        String hereSaid = client.hear();
        String thereSaid = server.hear(); // read even when the client has failed: the next order needs its own answer
        return new Answers(Workers.read(hereSaid, JsonNode.class), Workers.read(thereSaid, JsonNode.class));
    }

    /// Returns the bytes that both ends together allocate for one short active message.
    double allocatedPerMessage() throws Exception {
        long few = allocated(ALLOCATION_FEW);
        long many = allocated(ALLOCATION_MANY);
        return Math.max(0, (double) (many - few) / (ALLOCATION_MANY - ALLOCATION_FEW) / 2); // one there, one back
    }

    private long allocated(int count) throws Exception {
        Answers answers = run(MessagesEnd.ACTIVE_LATENCY, Sizes.SMALL, count);
        return answers.here.get("allocated").longValue()
                + answers.there.get("allocated").longValue();
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
