package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import verbena.tools.report.Goal;
import verbena.tools.report.Latency;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;
import verbena.tools.report.Result;

/// `verbena bench programs`: other projects' programs over our libraries, compared with the same programs over
/// their own TCP. The two take turns, so that other load on the machine hits both.
@Command(
        name = "verbena bench programs",
        sortOptions = false,
        header = "Compare programs of others over Verbena with the same programs over their own TCP.",
        description = {
            "",
            "Measures in turn, round by round, two processes on loopback each: what is installed of UCX's ucx_perftest,"
                    + " Open MPI over UCX, fio, qperf, and libfabric's fi_pingpong. Prints medians, their spread, and"
                    + " whether each goal of docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = {"", "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage."})
public final class BesideTcp implements Callable<Integer> {
    private static final int TRIES = 20;
    private static final String REJECTED = "RDMA_CM_EVENT_REJECTED";

    private static final double TAG_AT_MOST = 2;
    private static final double PUT_AT_LEAST = 1;
    /// The time that a program runs before its figures count. The compilers of the virtual machine in it need that
    /// long.
    private static final int WARM_UP_SECONDS = 6;
    /// A program that reports each second runs until it is ended.
    private static final String ENDLESS = "1000000000";

    private static final int SECONDS_MIN = 2;

    private static final double MEGA = 1 << 20;
    private static final double DECIMAL_MEGA = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    private static final String LOOPBACK = "127.0.0.1";
    private static final String ROCE_DEVICE = "rocev2_lo";
    /// Set by the launcher in a network namespace that it has made. The namespace has an interface besides
    /// loopback, which libfabric needs.
    private static final String INSIDE = "VERBENA_PROGRAMS_INSIDE";

    private static final String CABLE_ADDRESS = "10.77.0.1";
    private static final String CABLE_DEVICE = "rocev2_west";

    private static final String MPI = "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ";
    private static final String MPI_OVER_UCX = MPI + "--mca pml ucx --mca osc ucx --mca btl self ";
    private static final String MPI_OVER_TCP = MPI + "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo ";

    private enum Way {
        VERBENA,
        TCP
    }

    /// Measures a program once, over one of the two.
    private interface Measurement {
        Result measure(Way way, long iterations) throws Exception;
    }

    /// A reader of the lines that count in a client's output.
    private interface Hearing {
        List<String> hear(Child client) throws InterruptedException;
    }

    /// A figure of a program, over both transports.
    private record Figure(String name, Entry verbena, Entry tcp, Optional<Limit> limit) {
        double[] values(Entry entry) {
            return entry.results.stream().mapToDouble(Figure::value).toArray();
        }

        private static double value(Result result) {
            Latency latency = result.latencyUs();
            return latency != null ? latency.p50() : Objects.requireNonNull(result.bandwidthMBps());
        }

        boolean isLatency() {
            return verbena.results.getFirst().latencyUs() != null;
        }

        /// Returns the ratios of the rounds.
        double[] ratios() {
            double[] above = values(verbena);
            double[] below = values(tcp);
            for (int i = 0; i < above.length; i++) {
                above[i] /= below[i];
            }
            return above;
        }

        double ratio() {
            return Medians.of(values(verbena)) / Medians.of(values(tcp));
        }
    }

    /// The ratio to reach: at most for a latency, at least for a bandwidth.
    private record Limit(double ratio) {}

    @Mixin
    private final Settings settings = new Settings();

    @Option(
            names = {"-d", "--device"},
            defaultValue = ROCE_DEVICE)
    private String ours = ROCE_DEVICE;

    private final String launcher;
    private final Path source;
    private final List<Figure> figures = new ArrayList<>();
    private final Rounds rounds = new Rounds(settings);

    private BesideTcp(String launcher, Path source) {
        this.launcher = launcher;
        this.source = source;
    }

    /// Measures, and exits with the status.
    ///
    /// @param args the start script of Verbena, the source of the MPI program; then the user's arguments
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new BesideTcp(args[0], Path.of(args[1])), Arrays.copyOfRange(args, 2, args.length)));
    }

    @Override
    public Integer call() throws Exception {
        settings.check();
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        ucx();
        mpi(Child.folder().resolve("mpi_speed"));
        fio();
        qperf();
        libfabric();
        rounds.measure();
        rounds.describe(facts, "Verbena (" + ours + ") and TCP in turn, two processes on loopback", List.of());
        // A program that could not be measured over one of them has nothing to compare.
        figures.removeIf(figure -> !rounds.entries.containsAll(List.of(figure.verbena, figure.tcp)));
        var report = new Report(
                "Programs of others over Verbena (" + ours + "), beside their own TCP",
                facts,
                figures.stream().flatMap(figure -> goal(figure).stream()).toList(),
                figures.stream()
                        .flatMap(figure -> Stream.of(figure.verbena, figure.tcp))
                        .map(entry -> Medians.of(entry.results))
                        .toList());
        settings.show(report, text(report));
        return 0;
    }

    // ---- the programs

    private void ucx() throws InterruptedException {
        if (isInstalled("ucx_perftest", "ucx-utils")) {
            // What a line has: thread, iterations, median, average twice, bandwidth twice, rate twice.
            add("UCX tag latency", Sizes.SMALL, 1, TAG_AT_MOST, (way, _) -> {
                Warm tags = ucx(way, "tag_lat", Sizes.SMALL, 2);
                return Programs.latency(Sizes.SMALL, tags.messages, tags.median);
            });
            add("UCX put", Sizes.LARGE, 1, PUT_AT_LEAST, (way, _) -> {
                Warm puts = ucx(way, "ucp_put_bw", Sizes.LARGE, 5);
                return Programs.bandwidth(Sizes.LARGE, puts.messages, puts.median);
            });
        }
    }

    /// The results of a warm program: messages in all, and a number of its usual second.
    private record Warm(long messages, double median) {}

    /// Measures UCX by the number at index `which` in the lines that the program prints each second. Its own
    /// warm-up is a tenth of the iterations at most, and too short.
    private Warm ucx(Way way, String test, int size, int which) throws Exception {
        int port = Ports.free();
        String server = "ucx_perftest -p " + port;
        String client = server + " " + LOOPBACK + " -t " + test + " -s " + size + " -n " + ENDLESS;
        int seconds = Math.max(SECONDS_MIN, (int) Math.round(settings.seconds()));
        List<String> said =
                run(way, ours, overUcx(way), port, server, client, asking -> warm(asking, "[thread", seconds));
        List<double[]> lines = said.stream()
                .map(line -> Programs.numbers(List.of(line), "[thread"))
                .toList();
        double[] figures =
                lines.stream().skip(1).mapToDouble(line -> line[which]).toArray();
        return new Warm((long) (lines.getLast()[1] - lines.getFirst()[1]), Medians.of(figures));
    }

    /// Returns lines with this beginning, of which a program prints one each second: the last line of its warm-up,
    /// and so many more.
    private static List<String> warm(Child program, String begin, int seconds) throws InterruptedException {
        var lines = new ArrayList<String>();
        while (lines.size() < WARM_UP_SECONDS + seconds) {
            String line = program.hear();
            if (line.startsWith(begin)) {
                lines.add(line);
            }
        }
        return lines.subList(WARM_UP_SECONDS - 1, lines.size());
    }

    private Map<String, String> overUcx(Way way) {
        return way == Way.VERBENA
                ? Map.of("UCX_TLS", "rc_v,self", "UCX_NET_DEVICES", ours + ":1")
                : Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo");
    }

    private void mpi(Path program) throws Exception {
        if (!isInstalled("mpirun.openmpi", "openmpi-bin") || !isInstalled("mpicc.openmpi", "libopenmpi-dev")) {
            return;
        }
        try (var compiler =
                new Child(List.of("mpicc.openmpi", "-O2", "-o", program.toString(), source.toString()), Map.of())) {
            compiler.result();
        }
        add("Open MPI latency", Sizes.SMALL, 20_000, Double.NaN, (way, n) -> {
            return Programs.latency(Sizes.SMALL, n, mpi(way, program + " latency " + WARM_UP_SECONDS + " ", n));
        });
        add("Open MPI bandwidth", Sizes.LARGE, 10_000, Double.NaN, (way, n) -> {
            return Programs.bandwidth(Sizes.LARGE, n, mpi(way, program + " bandwidth " + WARM_UP_SECONDS + " ", n));
        });
    }

    private double mpi(Way way, String program, long n) throws Exception {
        String command = (way == Way.VERBENA ? MPI_OVER_UCX : MPI_OVER_TCP) + program + n;
        try (var processes = new Child(words(way, ours, command), way == Way.VERBENA ? overUcx(way) : Map.of())) {
            return Programs.numbers(processes.result(), program.contains(" latency ") ? "latency" : "bandwidth")[0];
        }
    }

    private void fio() throws InterruptedException {
        if (isInstalled("fio", "fio")) {
            for (String verb : List.of("write", "read")) {
                add("fio " + verb, Sizes.LARGE, 10_000, Double.NaN, (way, n) -> fio(way, verb, n));
            }
        }
    }

    private Result fio(Way way, String verb, long n) throws Exception {
        int port = Ports.free();
        String common = (way == Way.VERBENA ? " --ioengine=rdma --iodepth=16" : " --ioengine=net --protocol=tcp")
                + " --bs=64k --size=" + n * Sizes.LARGE + " --port=" + port;
        String asks = way == Way.VERBENA ? "write --verb=" + verb : verb;
        String serves = way == Way.TCP && verb.equals("read") ? "write" : "read";
        List<String> said = run(
                way,
                ours,
                Map.of(),
                way == Way.VERBENA ? 0 : port,
                "fio --name=server --rw=" + serves + common + (way == Way.VERBENA ? "" : " --listen"),
                "fio --name=client --output-format=json" + common + " --hostname=" + LOOPBACK + " --rw=" + asks);
        JsonNode job = Workers.JSON
                .readTree(String.join("\n", said.subList(said.indexOf("{"), said.size())))
                .at("/jobs/0");
        double bytesPerSecond = Math.max(
                job.at("/read/bw_bytes").doubleValue(),
                job.at("/write/bw_bytes").doubleValue());
        return Programs.bandwidth(Sizes.LARGE, n, bytesPerSecond / MEGA);
    }

    private void qperf() throws InterruptedException {
        if (isInstalled("qperf", "qperf")) {
            add("qperf bandwidth", Sizes.LARGE, 1, Double.NaN, (way, n) -> {
                return Programs.bandwidth(Sizes.LARGE, n, qperf(way, "bw", Sizes.LARGE) / MEGA);
            });
            add("qperf latency, waiting", Sizes.SMALL, 1, Double.NaN, (way, n) -> {
                return Programs.latency(Sizes.SMALL, n, qperf(way, "lat", Sizes.SMALL) / NANOS_PER_MICRO);
            });
        }
    }

    private double qperf(Way way, String test, int size) throws Exception {
        int port = Ports.free();
        String server = "qperf -lp " + port;
        String what = way == Way.VERBENA ? " -cm 1 " + LOOPBACK + " rc_" : " " + LOOPBACK + " tcp_";
        List<String> said = run(
                way,
                ours,
                Map.of(),
                port,
                server,
                server + " -uu -m " + size + " -t " + (WARM_UP_SECONDS + SECONDS_MIN) + what + test);
        return Programs.numbers(said, test.equals("bw") ? "bw" : "latency")[1];
    }

    private void libfabric() throws InterruptedException {
        rounds.attempt("libfabric", () -> {
            Contender.need("fi_pingpong", "libfabric-bin");
            if (!ours.equals(ROCE_DEVICE)) {
                throw new Child.Failed("is measured over rocev2 alone, because it does not use loopback");
            }
            if (System.getenv(INSIDE) == null) {
                throw new Child.Failed("needs a network namespace, because it does not use loopback");
            }
            add("libfabric, back and forth", Sizes.LARGE, 2_000, Double.NaN, (way, n) -> {
                // bytes, sent, acknowledged, total, time, MB/sec, usec/xfer, Mxfers/sec
                return Programs.bandwidth(Sizes.LARGE, n, libfabric(way, n)[4] * DECIMAL_MEGA / MEGA);
            });
        });
    }

    private double[] libfabric(Way way, long n) throws Exception {
        int port = Ports.free();
        String provider = way == Way.VERBENA ? "verbs;ofi_rxm" : "tcp;ofi_rxm";
        String options = " -p " + provider + " -e rdm -S " + Sizes.LARGE + " -I " + n;
        List<String> said = run(
                way,
                CABLE_DEVICE,
                Map.of(),
                port,
                "fi_pingpong -B " + port + options,
                "fi_pingpong -P " + port + options + " " + CABLE_ADDRESS);
        return Programs.numbers(said, "64k ");
    }

    // ---- measuring

    private boolean isInstalled(String program, String debianPackage) throws InterruptedException {
        return rounds.attempt(program, () -> Contender.need(program, debianPackage));
    }

    /// @param first how many messages to begin with
    /// @param limit the limit of the ratio, NaN for none
    private void add(String name, int size, long first, double limit, Measurement measurement) {
        if (settings.isWanted(name)) {
            var figure = new Figure(
                    name + ", " + Sizes.text(size),
                    new Entry(name + " over Verbena", size, first, (_, n) -> measurement.measure(Way.VERBENA, n)),
                    new Entry(name + " over TCP", size, first, (_, n) -> measurement.measure(Way.TCP, n)),
                    Double.isNaN(limit) ? Optional.empty() : Optional.of(new Limit(limit)));
            figures.add(figure);
            rounds.entries.addAll(List.of(figure.verbena, figure.tcp));
        }
    }

    private List<String> words(Way way, String device, String command) {
        var words = new ArrayList<String>();
        if (way == Way.VERBENA) {
            words.addAll(List.of(launcher, "run", "--device", device, "--"));
        }
        words.addAll(List.of(command.split(" ", -1)));
        return words;
    }

    /// Runs a server and a client; returns the client's output.
    ///
    /// @param port the TCP port that the server listens on. 0 when it uses none: clients are then started until
    ///     one finds the server. Clients of fio report a rejection, and end well
    private List<String> run(
            Way way, String device, Map<String, String> environment, int port, String server, String client)
            throws Exception {
        return run(way, device, environment, port, server, client, Child::result);
    }

    private List<String> run(
            Way way,
            String device,
            Map<String, String> environment,
            int port,
            String server,
            String client,
            Hearing hearing)
            throws Exception {
        try (var serving = new Child(words(way, device, server), environment)) {
            if (port != 0 && !Ports.awaitListener(port, () -> !serving.isAlive())) {
                return serving.result();
            }
            for (int tries = 0; tries < TRIES; tries++) {
                try (var asking = new Child(words(way, device, client), environment)) {
                    List<String> said = hearing.hear(asking);
                    if (said.stream().noneMatch(line -> line.contains(REJECTED))) {
                        return said;
                    }
                }
            }
            throw new Child.Failed("no server for " + client);
        }
    }

    // ---- results

    private static Optional<Goal> goal(Figure figure) {
        return figure.limit.map(limit -> {
            double[] ratios = figure.ratios();
            double ratio = figure.ratio();
            boolean atMost = figure.isLatency();
            return new Goal(
                    figure.name + ", over its own TCP",
                    "x",
                    ratio,
                    Arrays.stream(ratios).min().orElseThrow(),
                    Arrays.stream(ratios).max().orElseThrow(),
                    limit.ratio,
                    atMost,
                    atMost ? ratio <= limit.ratio : ratio >= limit.ratio);
        });
    }

    private String text(Report report) {
        var out = new StringBuilder();
        report.facts().forEach((name, fact) -> Table.add(out, "%-14s%s", name, fact));
        Table.add(
                out, "%n%-36s %-34s %-34s %s", "MB/s (2^20 bytes), or us one way", "over Verbena", "over TCP", "ratio");
        for (Figure figure : figures) {
            Table.add(
                    out,
                    "%-36s %-34s %-34s %s",
                    figure.name + (figure.isLatency() ? ", us" : ", MB/s"),
                    spread(Medians.of(figure.values(figure.verbena)), figure.values(figure.verbena)),
                    spread(Medians.of(figure.values(figure.tcp)), figure.values(figure.tcp)),
                    spread(figure.ratio(), figure.ratios())
                            + goal(figure).map(BesideTcp::words).orElse(""));
        }
        return out.toString();
    }

    private static String words(Goal goal) {
        return (goal.atMost() ? "; at most " : "; at least ")
                + Math.round(goal.limit())
                + (goal.reached() ? ": reached" : ": MISSED");
    }

    private static String spread(double median, double[] values) {
        return Table.number(median) + "  ("
                + Table.number(Arrays.stream(values).min().orElseThrow()) + " to "
                + Table.number(Arrays.stream(values).max().orElseThrow()) + ")";
    }
}
