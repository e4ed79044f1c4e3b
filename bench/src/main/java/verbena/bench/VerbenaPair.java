package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.report.Result;

/// Verbena: `perf` at both ends, in two processes that stay warm.
final class VerbenaPair implements Contender {
    static final String WRITE = "Verbena WRITE";
    static final String READ = "Verbena READ";
    static final String SEND = "Verbena SEND";
    static final String BARE_WRITE = "Verbena WRITE without ICRC";
    static final String IWARP_WRITE = "Verbena iWARP WRITE";
    static final String BARE_IWARP_WRITE = "Verbena iWARP WRITE without CRC";
    static final String BATCHES = "Verbena WRITE in batches";
    static final String FEW = "Verbena WRITE, 10 queue pairs";
    static final String MANY = "Verbena WRITE, 1000 queue pairs";

    /// Loopback devices, by TCP's exchange.
    private static final Devices ROCE = new Devices("", "");
    /// Those that leave the ICRC out (decision 0035); they have to connect by address, so the server's is set.
    private static final Devices ROCE_BARE =
            new Devices(" -R -d rocev2@127.0.0.1,icrc=optional", " -R -d rocev2,icrc=optional");

    private static final Devices IWARP = new Devices(" -R -d iwarp", " -R -d iwarp");
    private static final Devices IWARP_BARE = new Devices(" -R -d iwarp,crc=off", " -R -d iwarp,crc=off");

    private static final int FEW_COUNT = 10;
    private static final int MANY_COUNT = 1_000;
    private static final int BATCH = 64;
    private static final String BATCHES_COMMAND = "write-bw -N -t 256 -l " + BATCH + " -Q " + BATCH;
    private static final long FIRST_LARGE = 2_000;
    private static final long FIRST_SMALL = 100_000;
    private static final long FIRST_ROUND_TRIPS = 20_000;
    /// Both are measured for what an operation allocates; making and closing a connection costs both the same.
    private static final long ALLOCATION_FEW = 12_800;
    private static final long ALLOCATION_MANY = 1_280_000;

    private final Child server;
    private final Child client;

    VerbenaPair() throws Exception {
        server = Worker.start("verbena");
        client = Worker.start("verbena");
    }

    @Override
    public List<Entry> start() {
        var entries = new ArrayList<Entry>();
        for (int size : new int[] {Bench.LARGE, Bench.HUGE}) {
            entries.add(entry(WRITE, size, FIRST_LARGE, 1, ROCE, "write-bw -N"));
            entries.add(entry(READ, size, FIRST_LARGE, 1, ROCE, "read-bw -N"));
            entries.add(entry(SEND, size, FIRST_LARGE, 1, ROCE, "send-bw -N"));
            entries.add(entry(BARE_WRITE, size, FIRST_LARGE, 1, ROCE_BARE, "write-bw -N"));
            entries.add(entry(IWARP_WRITE, size, FIRST_LARGE, 1, IWARP, "write-bw -N"));
            entries.add(entry(BARE_IWARP_WRITE, size, FIRST_LARGE, 1, IWARP_BARE, "write-bw -N"));
        }
        entries.add(entry(WRITE, Bench.SMALL, FIRST_ROUND_TRIPS, 1, ROCE, "write-lat"));
        entries.add(entry(IWARP_WRITE, Bench.SMALL, FIRST_ROUND_TRIPS, 1, IWARP, "write-lat"));
        entries.add(entry(BATCHES, Bench.SMALL, FIRST_SMALL, 1, ROCE, BATCHES_COMMAND));
        entries.add(entry(FEW, Bench.SMALL, FIRST_SMALL, FEW_COUNT, ROCE, "write-bw -N -t 16 -q " + FEW_COUNT));
        entries.add(entry(MANY, Bench.SMALL, FIRST_SMALL, MANY_COUNT, ROCE, "write-bw -N -t 16 -q " + MANY_COUNT));
        return entries;
    }

    private Entry entry(String series, int size, long first, int queuePairs, Devices devices, String command) {
        return new Entry(series, size, first, (_, iterations) -> {
            long each = Math.max(1, iterations / queuePairs / BATCH) * BATCH;
            return result(run(devices, command + " -s " + size + " -n " + each));
        });
    }

    /// Options of `perf` that say which devices the ends use.
    private record Devices(String server, String client) {}

    private static Result result(Answer answer) throws Exception {
        JsonNode report = Bench.JSON.readTree(answer.out);
        return Bench.JSON.treeToValue(report.at("/results/0"), Result.class);
    }

    private record Answer(String out, long allocated) {}

    /// One measurement; answers with what the client printed, and what both ends allocated.
    private Answer run(Devices devices, String command) throws Exception {
        // These processes are warm, and stay so.
        Worker.order(server, "perf " + command + devices.server + " --warm-up 0 -p 0 --source_ip 127.0.0.1 --json");
        String port = server.hear();
        if (!port.startsWith(VerbenaEnd.LISTENING)) {
            Worker.read(port, JsonNode.class); // tells why
        }
        Worker.order(
                client,
                "perf " + command + devices.client + " --warm-up 0 -p " + port.substring(VerbenaEnd.LISTENING.length())
                        + " --json 127.0.0.1");
        String hereSaid = client.hear();
        String thereSaid = server.hear(); // both, also when one has failed: the next order is to get its own answer
        JsonNode here = Worker.read(hereSaid, JsonNode.class);
        JsonNode there = Worker.read(thereSaid, JsonNode.class);
        return new Answer(
                here.get("out").textValue(),
                here.get("allocated").longValue() + there.get("allocated").longValue());
    }

    /// Bytes that both ends together allocate for one WRITE.
    double allocatedPerOperation() throws Exception {
        String command = BATCHES_COMMAND + " -s " + Bench.SMALL + " -n ";
        long few = run(ROCE, command + ALLOCATION_FEW).allocated;
        long many = run(ROCE, command + ALLOCATION_MANY).allocated;
        return Math.max(0, (double) (many - few) / (ALLOCATION_MANY - ALLOCATION_FEW));
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
