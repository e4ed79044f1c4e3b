package verbena.tools.perf;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.Size;

/// The options of a measurement: those of perftest 4.5 with its defaults, and some of our own.
abstract sealed class OptionTable permits Options {
    @Spec(Spec.Target.MIXEE)
    CommandSpec command;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "HOST",
            description = "Where the server is; without it, be the server.")
    @Nullable
    String host;

    @Option(
            names = {"-a", "--all"},
            description = "Measure all sizes from 2 to 2^23 bytes.")
    boolean all;

    @Option(
            names = {"-A", "--atomic_type"},
            paramLabel = "TYPE",
            defaultValue = "FETCH_AND_ADD",
            description = "FETCH_AND_ADD or CMP_AND_SWAP (default ${DEFAULT-VALUE}).")
    String atomicType = "FETCH_AND_ADD";

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both ends send at once; the figures are sums.")
    boolean bidirectional;

    @Option(
            names = {"-c", "--connection"},
            paramLabel = "TYPE",
            defaultValue = "RC",
            description = "RC, UC or UD (default ${DEFAULT-VALUE}).")
    String connection;

    @Option(
            names = {"-C", "--report-cycles"},
            description = "Times in cycles of the clock, which has 10^9 of them a second.")
    boolean cycles;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "Device (default: the one at the address by which the ends found each other).")
    @Nullable
    String device;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            converter = CNumber.class,
            description = "Run for so long, in place of a number of iterations.")
    @Nullable
    Integer durationSeconds;

    @Option(
            names = {"-e", "--events"},
            description = "Sleep until the completion queue has something (default: poll).")
    boolean events;

    @Option(
            names = {"-f", "--margin"},
            paramLabel = "SECONDS",
            converter = CNumber.class,
            description = "With -D: not measured at the start and at the end (default: a quarter of -D each).")
    @Nullable
    Integer marginSeconds;

    @Option(
            names = {"-F", "--CPU-freq"},
            description = "Accepted; there is no warning of the CPU's frequency to silence.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean frequency;

    @Option(
            names = {"-H", "--report-histogram"},
            description = "Print all times, sorted.")
    boolean histogram;

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "PORT",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Port of the device (default ${DEFAULT-VALUE}).")
    int devicePort;

    @Option(
            names = {"-I", "--inline_size"},
            paramLabel = "BYTES",
            converter = Size.class,
            description = "Messages up to this size are posted inline (default: 0; for latencies 220, 236 or 188).")
    @Nullable
    Integer inlineWanted;

    @Option(
            names = {"-l", "--post_list"},
            paramLabel = "N",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Requests posted at a time (default ${DEFAULT-VALUE}).")
    int postList = 1;

    @Option(
            names = "--recv_post_list",
            paramLabel = "N",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Receives posted at a time (default ${DEFAULT-VALUE}).")
    int receivePostList = 1;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "BYTES",
            converter = Size.class,
            description = "Path MTU: 256, 512, 1024, 2048, 4096 (default: the port's). The ends take the smaller.")
    @Nullable
    Integer mtuBytes;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "Messages, at least 5 (default 1000, for write-bw 5000). The same at both ends.")
    @Nullable
    Integer iterationsWanted;

    @Option(
            names = {"-N", "--noPeak"},
            description = "Do not look for the peak (it is looked for up to 20000 messages).")
    boolean noPeak;

    @Option(
            names = {"-o", "--outs"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "READs or atomics outstanding (default: what the device can).")
    @Nullable
    Integer outstandingWanted;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "18515",
            converter = CNumber.class,
            description = "Port to listen on or connect to (default ${DEFAULT-VALUE}); 0: any.")
    int port;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "N",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Queue pairs, used in turn (default ${DEFAULT-VALUE}).")
    int queuePairs = 1;

    @Option(
            names = {"-Q", "--cq-mod"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "One completion for so many messages (default 100; 1 for sizes over 8192).")
    @Nullable
    Integer moderationWanted;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "Receives posted (default 512).")
    @Nullable
    Integer receiveDepthWanted;

    @Option(
            names = {"-R", "--rdma_cm"},
            description = "Connect by address and port, through the connection manager; no TCP.")
    boolean connectionManager;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = Options.MessageSize.class,
            description = "Size of a message, such as 64K (default 65536, for latencies 2).")
    @Nullable
    Integer sizeWanted;

    @Option(
            names = {"-S", "--sl"},
            paramLabel = "SL",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Service level, 0 to 15 (default ${DEFAULT-VALUE}).")
    int serviceLevel;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "Requests outstanding of a queue pair (default 128).")
    @Nullable
    Integer sendDepthWanted;

    @Option(
            names = {"-T", "--tos"},
            paramLabel = "TOS",
            converter = CNumber.class,
            description = "With -R: type of service, 0 to 255.")
    @Nullable
    Integer typeOfService;

    @Option(
            names = {"-u", "--qp-timeout"},
            paramLabel = "N",
            defaultValue = "14",
            converter = CNumber.class,
            description = "A packet is sent again after 4.096 us * 2^N (default ${DEFAULT-VALUE}: 67 ms).")
    int ackTimeout;

    @Option(
            names = {"-U", "--report-unsorted"},
            description = "Print all times, as they came.")
    boolean unsorted;

    @Option(
            names = {"-w", "--limit_bw"},
            paramLabel = "BW",
            description = "Fail when the average bandwidth is below this.")
    double bandwidthMin;

    @Option(
            names = {"-y", "--limit_msgrate"},
            paramLabel = "RATE",
            description = "Fail when the message rate [Mpps] is below this.")
    double messageRateMin;

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "INDEX",
            converter = CNumber.class,
            description = "Own GID (default: the one by which the ends found each other).")
    @Nullable
    Integer gidIndex;

    @Option(
            names = {"-z", "--com_rdma_cm", "--comm_rdma_cm"},
            description = "Exchange what has to be known through the connection manager; no TCP.")
    boolean exchangeByConnectionManager;

    @Option(names = "--ipv6", description = "Use an IPv6 GID.")
    boolean ipv6;

    @Option(
            names = "--source_ip",
            paramLabel = "ADDRESS",
            description = "Own address to connect from or to listen on (default: any).")
    @Nullable
    String sourceIp;

    @Option(
            names = "--output",
            paramLabel = "WHAT",
            description = "Print one figure only: bandwidth, message_rate; latency for latencies.")
    @Nullable
    String output;

    @Option(names = "--perform_warm_up", description = "Accepted; Verbena warms up by default.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean warmUp;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            defaultValue = "6",
            description = "Warm up until the figures are stable, for so many seconds at most (default"
                    + " ${DEFAULT-VALUE}); 0: measure cold.")
    double warmUpSeconds;

    @Option(
            names = "--latency_gap",
            paramLabel = "USEC",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Pause between two messages, in microseconds.")
    int gapMicros;

    @Option(names = "--report-both", description = "With -b: the directions one by one, too.")
    boolean reportBoth;

    @Option(
            names = "--report_gbits",
            description = "Bandwidth in 10^9 bits a second (default: 2^20 bytes, called MB). The same at both ends.")
    boolean gigabits;

    @Option(names = "--run_infinitely", description = "Run until interrupted, with a line every -D seconds.")
    boolean forEver;

    @Option(
            names = "--retry_count",
            paramLabel = "N",
            defaultValue = "7",
            converter = CNumber.class,
            description = "With -R: how often to send again, 0 to 7 (default ${DEFAULT-VALUE}).")
    int retryCount;

    @Option(
            names = "--tclass",
            paramLabel = "CLASS",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Traffic class, 0 to 255 (default ${DEFAULT-VALUE}).")
    int trafficClass;

    @Option(names = "--dont_xchg_versions", description = "Do not exchange versions and path MTU; at both ends.")
    boolean noVersions;

    @Option(names = "--use-srq", description = "Receive from one shared receive queue.")
    boolean sharedReceiveQueue;

    @Option(names = "--use_old_post_send", description = "Accepted; Verbena has only the new way of posting.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean oldPostSend;

    @Option(names = "--disable_pcie_relaxed", description = "Accepted; there is no PCIe.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean noRelaxedOrdering;

    @Option(names = "--loopback", description = "Start the other end as well, in a process of its own on this host.")
    boolean loopback;

    @Option(names = "--json", description = "Print the results as JSON, and nothing else.")
    boolean json;

    @Option(names = "--out_json", description = "Write the results as JSON into the file of --out_json_file.")
    boolean jsonToFile;

    @Option(
            names = "--out_json_file",
            paramLabel = "FILE",
            description = "Where --out_json writes (default perftest_out.json); implies it.")
    @Nullable
    Path jsonFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page with plots of the results, for a browser.")
    @Nullable
    Path page;

    /// Sets the file of the page. This option is the former name of `--html`.
    @Option(names = "--report", hidden = true)
    void setReport(Path file) {
        page = file;
    }

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description =
                    "Give up when the peer is silent for so long (default ${DEFAULT-VALUE}). A server waits for its"
                            + " client without limit.")
    int timeoutSeconds;

    @Option(names = "--with-parent", hidden = true, description = "End when standard input ends.")
    boolean withParent;
}
