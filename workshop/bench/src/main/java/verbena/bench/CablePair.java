package verbena.bench;

import java.io.IOException;
import java.util.List;
import verbena.tools.report.Result;

/// Verbena's `perf` between two network namespaces that a pair of virtual interfaces joins, over one kind of
/// link. The client is in this process's namespace, which it may change.
final class CablePair implements Contender {
    static final String UDP = "UDP sockets";
    static final String PACKET = "packet sockets";
    static final String XDP = "AF_XDP";
    static final String BATCHES = " WRITE in batches";
    static final String WRITE = " WRITE";

    private static final int BATCH = 64;
    private static final String BATCHES_COMMAND = "write-bw -N -t 256 -l " + BATCH + " -Q " + BATCH;
    private static final long FIRST_SMALL = 100_000;
    private static final long FIRST_LARGE = 2_000;
    private static final long FIRST_ROUND_TRIPS = 10_000;
    private static final long ALLOCATION_FEW = 12_800;
    /// A number of operations that takes seconds. In less time, other allocations of a process would count.
    private static final long ALLOCATION_MANY = 6_400_000;

    private final String name;
    private final String serverDevice;
    private final String clientDevice;
    private final PerfEnds ends;

    /// @param name of the link, one of those above
    /// @param options of the devices
    /// @param number tells this cable from others
    CablePair(String name, String options, int number) throws Exception {
        this.name = name;
        String near = "near" + number;
        String far = "far" + number;
        String address = "10.78." + number + ".";
        // The interface comes when the process is there.
        Child server = Workers.start(
                "verbena",
                List.of(
                        "unshare",
                        "--net",
                        "sh",
                        "-c",
                        "until ip address add " + address + "2/24 dev " + far + " 2> /dev/null; do :; done;"
                                + " ip link set lo up; ip link set " + far + " up; exec \"$@\"",
                        "sh"));
        ends = new PerfEnds(server, Workers.start("verbena"), address + "2");
        boolean isReady = false;
        try {
            String own = namespaceOf(ProcessHandle.current().pid());
            while (namespaceOf(server.pid()).equals(own)) {
                Thread.onSpinWait(); // it is not in its own yet
            }
            ip("link add " + near + " mtu 9000 type veth peer name " + far + " mtu 9000 netns " + server.pid());
            ip("address add " + address + "1/24 dev " + near);
            ip("link set " + near + " up");
            isReady = true;
        } finally {
            if (!isReady) {
                ends.close();
            }
        }
        serverDevice = " -d rocev2_" + far + options;
        clientDevice = " -d rocev2_" + near + options;
    }

    private static String namespaceOf(long pid) throws IOException {
        return java.nio.file.Files.readSymbolicLink(java.nio.file.Path.of("/proc/" + pid + "/ns/net"))
                .toString();
    }

    private static void ip(String arguments) throws Exception {
        var command = new java.util.ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments.split(" ", -1)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new Child.Failed("ip " + arguments + ": " + said.strip());
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Entry> start() {
        return List.of(
                entry(BATCHES, Sizes.SMALL, FIRST_SMALL, BATCHES_COMMAND),
                entry(WRITE, Sizes.SMALL, FIRST_ROUND_TRIPS, "write-lat"),
                entry(WRITE, Sizes.LARGE, FIRST_LARGE, "write-bw -N"));
    }

    private Entry entry(String series, int size, long first, String command) {
        return new Entry(name + series, size, first, (_, iterations) -> {
            long each = Math.max(1, iterations / BATCH) * BATCH;
            String out = run(command + " -s " + size + " -n " + each).out();
            return Workers.JSON.treeToValue(Workers.JSON.readTree(out).at("/results/0"), Result.class);
        });
    }

    private PerfEnds.Answer run(String command) throws Exception {
        return ends.run(command, serverDevice, clientDevice);
    }

    /// Returns the bytes that both ends together allocate for one WRITE: the difference of two runs, because making
    /// and closing a connection costs both the same.
    double allocatedPerOperation() throws Exception {
        String command = BATCHES_COMMAND + " -s " + Sizes.SMALL + " -n ";
        long few = run(command + ALLOCATION_FEW).allocated();
        long many = run(command + ALLOCATION_MANY).allocated();
        return Math.max(0, (double) (many - few) / (ALLOCATION_MANY - ALLOCATION_FEW));
    }

    @Override
    public void close() {
        ends.close();
    }
}
