package verbena.tools.perf;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import verbena.tools.kit.CNumber;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;

/// The options of a measurement: those of perftest 4.5 with its defaults and rules, and some of our own. [#settle]
/// checks them and works out what follows from them.
final class Options {
    static final int PORT = 18_515;
    private static final int SIZE_BANDWIDTH = 65_536;
    private static final int SIZE_LATENCY = 2;
    private static final int SIZE_MAX = 1 << 23;
    private static final int SIZE_ATOMIC = 8;
    private static final int ITERATIONS = 1_000;
    private static final int ITERATIONS_WRITE = 5_000;
    private static final int ITERATIONS_MIN = 5;
    private static final int ITERATIONS_MAX = 100_000_000;
    private static final int SEND_DEPTH = 128;
    private static final int SEND_DEPTH_MAX = 15_000;
    private static final int RECEIVE_DEPTH = 512;
    private static final int RECEIVE_DEPTH_MAX = 16_384;
    private static final int RECEIVE_DEPTH_UNRELIABLE = 16_000;
    private static final int QUEUE_PAIRS_MAX = 16_384;
    private static final int MODERATION = 100;
    private static final int MODERATION_MAX = 1_024;
    /// Up to this size a completion may stand for several messages; beyond it would blur the figures.
    private static final int MODERATION_SIZE_MAX = 8_192;
    private static final int INLINE_MAX = 912;
    private static final int INLINE_WRITE = 220;
    private static final int INLINE_SEND = 236;
    private static final int INLINE_SEND_UD = 188;
    /// Times of all posts are kept for the peak up to so many iterations.
    private static final int PEAK_ITERATIONS_MAX = 20_000;

    private static final int WARM_UP_SECONDS_MAX = 600;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

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
    private String connection;

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
            converter = CNumber.class,
            description = "Messages up to this size are posted inline (default: 0; for latencies 220, 236 or 188).")
    private @Nullable Integer inlineWanted;

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
            converter = CNumber.class,
            description = "Path MTU: 256, 512, 1024, 2048, 4096 (default: the port's). The ends take the smaller.")
    private @Nullable Integer mtuBytes;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "Messages, at least 5 (default 1000, for write-bw 5000). The same at both ends.")
    private @Nullable Integer iterationsWanted;

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
    private @Nullable Integer moderationWanted;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            converter = CNumber.class,
            description = "Receives posted (default 512).")
    private @Nullable Integer receiveDepthWanted;

    @Option(
            names = {"-R", "--rdma_cm"},
            description = "Connect by address and port, through the connection manager; no TCP.")
    boolean connectionManager;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = Size.class,
            description = "Bytes of a message; K, M and G are understood (default 65536, for latencies 2).")
    private @Nullable Integer sizeWanted;

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
    private @Nullable Integer sendDepthWanted;

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
            defaultValue = "3",
            description = "Warm up until the figures stand still, for so many seconds at most (default"
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

    /// The name that `--html` had before.
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
    private int timeoutSeconds;

    @Option(names = "--with-parent", hidden = true, description = "End when standard input ends.")
    boolean withParent;

    final Verb verb;
    final boolean isLatency;

    // What follows from them.
    int size;
    int iterations;
    int sendDepth;
    int receiveDepth;
    int moderation;
    int inline;
    QpType type = QpType.RC;

    Options(Verb verb, boolean isLatency) {
        this.verb = verb;
        this.isLatency = isLatency;
    }

    /// The names of options that this measurement does not have.
    Set<String> notFor() {
        var names = new HashSet<String>();
        names.addAll(
                isLatency
                        ? Set.of(
                                "-b",
                                "-l",
                                "-N",
                                "-q",
                                "-Q",
                                "-t",
                                "-w",
                                "-y",
                                "--recv_post_list",
                                "--report-both",
                                "--report_gbits",
                                "--run_infinitely")
                        : Set.of("-C", "-H", "-U", "--latency_gap"));
        if (!verb.isAnswered()) {
            names.add("-o");
        } else {
            names.add("-I");
        }
        if (verb != Verb.ATOMIC) {
            names.add("-A");
        } else {
            names.addAll(Set.of("-a", "-s"));
        }
        if (!verb.takesReceives()) {
            names.addAll(Set.of("-r", "--use-srq", "--recv_post_list"));
        }
        if (verb == Verb.WRITE) {
            names.add("-e");
        }
        return names;
    }

    /// Checks everything and works out the rest.
    ///
    /// @throws ParameterException when something is wrong
    void settle() {
        range("-p", port, host == null ? 0 : 1, 65_535);
        range("-i", devicePort, 1, 255);
        range("-l", postList, 1, SEND_DEPTH_MAX);
        range("--recv_post_list", receivePostList, 1, RECEIVE_DEPTH_MAX);
        range("-q", queuePairs, 1, QUEUE_PAIRS_MAX);
        range("-S", serviceLevel, 0, 15);
        range("-u", ackTimeout, 0, 31);
        range("--tclass", trafficClass, 0, 255);
        range("--retry_count", retryCount, 0, 7);
        range("--latency_gap", gapMicros, 0, Integer.MAX_VALUE);
        range("--timeout", timeoutSeconds, 1, 86_400);
        require(
                warmUpSeconds >= 0 && warmUpSeconds <= WARM_UP_SECONDS_MAX,
                "--warm-up: 0 to " + WARM_UP_SECONDS_MAX + ", got " + warmUpSeconds);
        type = typeOf(connection);
        size = verb == Verb.ATOMIC
                ? SIZE_ATOMIC
                : all ? SIZE_MAX : sizeWanted != null ? sizeWanted : isLatency ? SIZE_LATENCY : SIZE_BANDWIDTH;
        iterations = iterationsWanted != null
                ? iterationsWanted
                : verb == Verb.WRITE && !isLatency ? ITERATIONS_WRITE : ITERATIONS;
        range("-n", iterations, ITERATIONS_MIN, ITERATIONS_MAX);
        settleDuration();
        settleDepths();
        settleModeration();
        settleInline();
        if (jsonToFile && jsonFile == null) {
            jsonFile = Path.of("perftest_out.json");
        }
        settleFile("--out_json_file", jsonFile);
        settleFile("--html", page);
        if (gidIndex != null) {
            range("-x", gidIndex, 0, 65_535);
        }
        if (outstandingWanted != null) {
            range("-o", outstandingWanted, 1, 255);
        }
        if (mtuBytes != null && (mtuBytes < 256 || mtuBytes > 4_096 || Integer.bitCount(mtuBytes) != 1)) {
            throw wrong("-m: 256, 512, 1024, 2048 or 4096, got " + mtuBytes);
        }
        if (typeOfService != null) {
            range("-T", typeOfService, 0, 255);
            require(connectionManager, "-T: only with -R");
        }
        require(!connectionManager || type != QpType.UC, "-c UC: not with -R: the connection manager has no UC");
        require(!loopback || host == null, "--loopback: is the server's host too, so without HOST");
        require(host == null || port != 0, "-p 0: is for a server");
        require(
                atomicType.equals("FETCH_AND_ADD") || atomicType.equals("CMP_AND_SWAP"),
                "-A: FETCH_AND_ADD or CMP_AND_SWAP, got " + atomicType);
        if (output != null) {
            var known = isLatency ? List.of("latency") : List.of("bandwidth", "message_rate");
            require(known.contains(output), "--output: " + String.join(" or ", known) + ", got " + output);
        }
    }

    private QpType typeOf(String text) {
        return switch (text.toUpperCase(Locale.ROOT)) {
            case "RC" -> QpType.RC;
            case "UC" -> {
                require(!verb.isAnswered(), "-c UC: has no READs and no atomics");
                yield QpType.UC;
            }
            case "UD" -> {
                require(verb == Verb.SEND, "-c UD: datagrams are for send-bw and send-lat only");
                yield QpType.UD;
            }
            case "XRC", "DC", "SRD" -> throw wrong("-c " + text + ": Verbena has no such connections: RC, UC or UD");
            default -> throw wrong("-c: RC, UC or UD, got " + text);
        };
    }

    private void settleDuration() {
        if (forEver && durationSeconds == null) {
            durationSeconds = 5;
        }
        if (durationSeconds == null) {
            require(marginSeconds == null, "-f: only with -D");
            noPeak |= iterations > PEAK_ITERATIONS_MAX;
            return;
        }
        range("-D", durationSeconds, 1, Integer.MAX_VALUE / 1_000);
        require(iterationsWanted == null, "-D: not with -n");
        require(!events, "-D: not with -e");
        require(!all, "-D: not with -a");
        marginSeconds = marginSeconds != null ? marginSeconds : durationSeconds / 4;
        range("-f", marginSeconds, 0, Integer.MAX_VALUE / 1_000);
        require(durationSeconds > 2 * marginSeconds, "-D: longer than twice -f, which is " + marginSeconds);
        require(!forEver || !bidirectional || !verb.takesReceives(), "--run_infinitely: not with -b");
        noPeak = true;
    }

    private void settleDepths() {
        sendDepth = sendDepthWanted != null ? sendDepthWanted : isLatency ? 1 : SEND_DEPTH;
        range("-t", sendDepth, 1, SEND_DEPTH_MAX);
        receiveDepth = !verb.takesReceives() ? 1 : receiveDepthWanted != null ? receiveDepthWanted : RECEIVE_DEPTH;
        range("-r", receiveDepth, 1, RECEIVE_DEPTH_MAX);
        if (!isDuration()) {
            sendDepth = Math.min(sendDepth, iterations);
            receiveDepth = verb.takesReceives() ? Math.min(receiveDepth, iterations) : 1;
            if (type != QpType.RC && receiveDepth == RECEIVE_DEPTH) {
                receiveDepth = Math.min(iterations, RECEIVE_DEPTH_UNRELIABLE);
            }
            require(iterations % postList == 0, "-n: a multiple of -l, got " + iterations);
            require(iterations % receivePostList == 0, "-n: a multiple of --recv_post_list, got " + iterations);
        }
        require(postList <= sendDepth, "-l: at most -t, which is " + sendDepth + ", got " + postList);
        require(receivePostList <= receiveDepth, "--recv_post_list: at most -r, which is " + receiveDepth);
        require(
                !sharedReceiveQueue || queuePairs <= receiveDepth,
                "--use-srq: -r has to be at least -q, got " + receiveDepth);
    }

    private void settleModeration() {
        moderation = moderationWanted != null ? moderationWanted : MODERATION;
        range("-Q", moderation, 1, MODERATION_MAX);
        if (moderationWanted == null && size > MODERATION_SIZE_MAX && type != QpType.UD && !all && !events) {
            moderation = 1;
        }
        moderation = Math.min(moderation, sendDepth);
        if (postList > 1) {
            require(
                    moderationWanted == null || postList % moderationWanted == 0,
                    "-Q: divides -l, which is " + postList + ", got " + moderationWanted);
            moderation = moderationWanted != null ? moderation : postList;
        }
    }

    private void settleInline() {
        inline = inlineWanted != null
                ? inlineWanted
                : !isLatency || verb.isAnswered()
                        ? 0
                        : verb != Verb.SEND ? INLINE_WRITE : type == QpType.UD ? INLINE_SEND_UD : INLINE_SEND;
        range("-I", inline, 0, INLINE_MAX);
    }

    // Told before anything is measured.
    private void settleFile(String option, @Nullable Path file) {
        if (file != null) {
            Path folder = file.toAbsolutePath().getParent();
            require(
                    folder != null && Files.isDirectory(folder) && !Files.isDirectory(file),
                    option + ": cannot write " + file + ": it is a folder, or there is none for it");
        }
    }

    /// The options that have to be the same at both ends, as they would be given.
    List<String> terms() {
        var terms = new ArrayList<>(List.of(command(), "-c " + type, "-q " + queuePairs));
        if (verb.takesReceives() || bidirectional || (isLatency && !verb.isAnswered())) {
            terms.add(all ? "-a" : "-s " + size);
            terms.add(forEver ? "--run_infinitely" : isDuration() ? "-D " + durationSeconds : "-n " + iterations);
        } else if (size > SIZE_BANDWIDTH) {
            terms.add(all ? "-a" : "-s " + size); // more than a server has memory for by default
        }
        if (bidirectional) {
            terms.add("-b");
        }
        if (connectionManager) {
            terms.add("-R");
        }
        if (gigabits) {
            terms.add("--report_gbits");
        }
        return terms;
    }

    /// As the measurement is called: `write-bw`.
    String command() {
        return verb.command + (isLatency ? "-lat" : "-bw");
    }

    boolean isSizeWanted() {
        return sizeWanted != null && !all;
    }

    boolean isDuration() {
        return durationSeconds != null;
    }

    /// Be a client of this server, whatever was asked for.
    void connectTo(String server, int serverPort) {
        host = server;
        port = serverPort;
    }

    boolean isClient() {
        return host != null;
    }

    Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    boolean exchangesByConnectionManager() {
        return connectionManager || exchangeByConnectionManager;
    }

    /// The path MTU on a port that can use `active` now.
    Mtu mtu(Mtu active) {
        return mtuBytes == null ? active : active.min(Mtu.ofBytes(mtuBytes));
    }

    boolean isMtuTooLarge(Mtu active) {
        return mtuBytes != null && mtuBytes > active.bytes();
    }

    /// Whether this end sends; the other receives, or has its memory used.
    boolean sends() {
        return isClient() || bidirectional || isLatency;
    }

    private void range(String option, int value, int min, int max) {
        require(value >= min && value <= max, option + ": " + min + " to " + max + ", got " + value);
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw wrong(otherwise);
        }
    }

    ParameterException wrong(String message) {
        return new ParameterException(command.commandLine(), message);
    }

    /// A number of bytes, with K, M or G behind it for 2^10, 2^20 and 2^30. A request of the API takes one byte less
    /// than the 2 GiB that the standard allows a message.
    static final class Size implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            int last = text.length() - 1;
            int shift = last < 1 ? 0 : 10 * (1 + "KMG".indexOf(Character.toUpperCase(text.charAt(last))));
            long bytes = new CNumber().convert(shift == 0 ? text : text.substring(0, last));
            if (bytes < 1 || bytes > Integer.MAX_VALUE >> shift) {
                throw new TypeConversionException("1 to 2147483647 bytes, got " + text);
            }
            return (int) bytes << shift;
        }
    }
}
