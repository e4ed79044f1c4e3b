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
    static final String AWAITED_SEND = "Verbena SEND, awaited";
    static final String FETCH_ADD = "Verbena FETCH_ADD, there and back";
    static final String IWARP_WRITE = "Verbena iWARP WRITE";
    static final String BARE_IWARP_WRITE = "Verbena iWARP WRITE without CRC";
    static final String BATCHES = "Verbena WRITE in batches";
    static final String FEW = "Verbena WRITE, 10 queue pairs";
    static final String MANY = "Verbena WRITE, 1000 queue pairs";

    /// Options of `perf` that choose the devices of the ends.
    private record Devices(String server, String client) {}

    /// Devices on loopback, connected by an exchange over TCP.
    private static final Devices ROCE = new Devices("", "");
    private static final Devices IWARP = new Devices(" -R -d iwarp", " -R -d iwarp");
    private static final Devices IWARP_BARE = new Devices(" -R -d iwarp,crc=off", " -R -d iwarp,crc=off");
    private static final Devices SHM = new Devices(" -d shm", " -d shm");

    private static final int FEW_COUNT = 10;
    private static final int MANY_COUNT = 1_000;
    private static final int BATCH = 64;
    private static final String BATCHES_COMMAND = "write-bw -N -t 256 -l " + BATCH + " -Q " + BATCH;
    private static final long FIRST_LARGE = 2_000;
    private static final long FIRST_SMALL = 100_000;
    private static final long FIRST_ROUND_TRIPS = 20_000;
    /// The allocation of an operation is the difference of two runs, because making and closing a connection
    /// costs both the same.
    private static final long ALLOCATION_FEW = 12_800;
    /// A number of operations that takes seconds. In less time, other allocations of a process would count.
    private static final long ALLOCATION_MANY = 6_400_000;

    private static final long ALLOCATION_MANY_IN_MEMORY = 12_800_000;

    private final Devices devices;
    private final PerfEnds ends = new PerfEnds(Workers.start("verbena"), Workers.start("verbena"), "127.0.0.1");

    private VerbenaPair(Devices devices) throws Exception {
        this.devices = devices;
    }

    static VerbenaPair overLoopback() throws Exception {
        return new VerbenaPair(ROCE);
    }

    static VerbenaPair inMemory() throws Exception {
        return new VerbenaPair(SHM);
    }

    @Override
    public String name() {
        return "Verbena";
    }

    @Override
    public List<Entry> start() {
        var entries = new ArrayList<Entry>();
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            entries.add(entry(WRITE, size, FIRST_LARGE, 1, devices, "write-bw -N"));
            entries.add(entry(READ, size, FIRST_LARGE, 1, devices, "read-bw -N"));
            entries.add(entry(SEND, size, FIRST_LARGE, 1, devices, "send-bw -N"));
            if (devices == ROCE) {
                entries.add(entry(IWARP_WRITE, size, FIRST_LARGE, 1, IWARP, "write-bw -N"));
                entries.add(entry(BARE_IWARP_WRITE, size, FIRST_LARGE, 1, IWARP_BARE, "write-bw -N"));
            }
        }
        entries.add(small(WRITE, FIRST_ROUND_TRIPS, 1, devices, "write-lat"));
        if (devices == ROCE) {
            entries.add(small(IWARP_WRITE, FIRST_ROUND_TRIPS, 1, IWARP, "write-lat"));
        } else {
            entries.add(small(SEND, FIRST_ROUND_TRIPS, 1, devices, "send-lat"));
            entries.add(small(AWAITED_SEND, FIRST_ROUND_TRIPS, 1, devices, "send-lat -e"));
            entries.add(small(FETCH_ADD, FIRST_ROUND_TRIPS, 1, devices, "atomic-lat"));
        }
        entries.add(small(BATCHES, FIRST_SMALL, 1, devices, BATCHES_COMMAND));
        entries.add(small(FEW, FIRST_SMALL, FEW_COUNT, devices, "write-bw -N -t 16 -q " + FEW_COUNT));
        entries.add(small(MANY, FIRST_SMALL, MANY_COUNT, devices, "write-bw -N -t 16 -q " + MANY_COUNT));
        return entries;
    }

    private Entry small(String series, long first, int queuePairs, Devices over, String command) {
        return entry(series, Sizes.SMALL, first, queuePairs, over, command);
    }

    private Entry entry(String series, int size, long first, int queuePairs, Devices over, String command) {
        // The size of an atomic cannot be chosen.
        String sized = series.equals(FETCH_ADD) ? command : command + " -s " + size;
        return new Entry(series, size, first, (_, iterations) -> {
            long each = Math.max(1, iterations / queuePairs / BATCH) * BATCH;
            JsonNode report =
                    Workers.JSON.readTree(run(over, sized + " -n " + each).out());
            return Workers.JSON.treeToValue(report.at("/results/0"), Result.class);
        });
    }

    private PerfEnds.Answer run(Devices over, String command) throws Exception {
        return ends.run(command, over.server, over.client);
    }

    /// Returns the bytes that both ends together allocate for one WRITE.
    double allocatedPerOperation() throws Exception {
        String command = BATCHES_COMMAND + " -s " + Sizes.SMALL + " -n ";
        long count = devices == SHM ? ALLOCATION_MANY_IN_MEMORY : ALLOCATION_MANY;
        long few = run(devices, command + ALLOCATION_FEW).allocated();
        long many = run(devices, command + count).allocated();
        return Math.max(0, (double) (many - few) / (count - ALLOCATION_FEW));
    }

    @Override
    public void close() {
        ends.close();
    }
}
