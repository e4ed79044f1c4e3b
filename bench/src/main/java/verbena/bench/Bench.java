package verbena.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import verbena.tools.report.Goal;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;
import verbena.tools.report.Result;
import verbena.tools.report.Steady;

/// `verbena bench`: Verbena and its peers side by side, in one run, on loopback. All take turns, round by round,
/// so that what else happens on the machine happens to all.
@Command(
        name = "verbena bench",
        sortOptions = false,
        header = "Compare Verbena with other ways over loopback, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round: Verbena (two processes, RoCE v2 and iWARP), raw UDP with GSO and GRO (the"
                    + " ceiling of all over UDP), a Java TCP socket, Netty's echo, Aeron, and what is installed of UCX's"
                    + " ucx_perftest and libfabric's fi_pingpong, both over TCP, and iperf3. Prints medians, their"
                    + " spread, and whether each goal of docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = {
            "",
            "'verbena bench connections [N]' measures making connections, 'verbena bench programs' programs of others over"
                    + " Verbena and over their own TCP; 'verbena jmh' parts of Verbena.",
            "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage."
        })
public final class Bench implements Callable<Integer> {
    static final ObjectMapper JSON = new ObjectMapper();

    // The sizes of all that is compared.
    static final int SMALL = 8;
    static final int PACKET = 4 << 10;
    static final int LARGE = 64 << 10;
    static final int HUGE = 1 << 20;

    private static final int ROUNDS = 5;
    private static final double SECONDS = 0.5;
    private static final int ROUNDS_QUICK = 2;
    private static final double SECONDS_QUICK = 0.25;
    private static final int ROUNDS_MAX = 1_000;
    private static final double SECONDS_MIN = 0.01;
    private static final double SECONDS_MAX = 10;
    private static final int REPEATS = 3;
    private static final int IDLE_REPEATS = 2;
    /// The keep-alive of connections, so that each window has one.
    private static final double IDLE_SECONDS = 5;
    /// Rounds that do not count are short: they are there for the compilers, which go by how often code runs.
    private static final double WARM_UP_SECONDS = 0.2;
    /// A user waits, and on a busy machine the figures never stand still.
    private static final long WARM_UP_NANOS_MAX = 60_000_000_000L;

    @Spec
    private CommandSpec spec;

    @Option(names = "--rounds", paramLabel = "N", description = "How often each is measured (default 5).")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each time, about (default 0.5).")
    private @Nullable Double seconds;

    @Option(names = "--quick", description = "As --rounds 2 --seconds 0.25: for a first look.")
    private boolean quick;

    @Option(
            names = "--only",
            paramLabel = "TEXT",
            split = ",",
            description = "Only what has one of these in its name, e.g. 64 KiB or UCX,WRITE.")
    private List<String> only = List.of();

    @Option(names = "--json", description = "Print one JSON object, and nothing else.")
    private boolean json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with plots, for a browser.")
    private @Nullable Path page;

    /// The name that `--html` had before.
    @Option(names = "--report", hidden = true)
    private void setReport(Path file) {
        page = file;
    }

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    private final List<Entry> entries = new ArrayList<>();
    /// Those of contenders that get warm.
    private final List<Entry> warming = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private String warmUp = "";

    private Bench() {}

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        var line = new CommandLine(new Bench());
        line.setParameterExceptionHandler((e, _) -> {
            System.err.println("verbena bench: " + e.getMessage() + ". See 'verbena bench --help'.");
            return 2;
        });
        line.setExecutionExceptionHandler((e, _, _) -> {
            System.err.println("verbena bench: " + (e instanceof Child.Failed ? e.getMessage() : e));
            return 1;
        });
        System.exit(line.execute(args));
    }

    @Override
    public Integer call() throws Exception {
        int rounds = this.rounds != null ? this.rounds : quick ? ROUNDS_QUICK : ROUNDS;
        double seconds = this.seconds != null ? this.seconds : quick ? SECONDS_QUICK : SECONDS;
        require(rounds >= 1 && rounds <= ROUNDS_MAX, "--rounds: 1 to " + ROUNDS_MAX + ", got " + rounds);
        require(
                seconds >= SECONDS_MIN && seconds <= SECONDS_MAX,
                "--seconds: " + SECONDS_MIN + " to " + SECONDS_MAX + ", got " + seconds);
        if (page != null) {
            Path folder = page.toAbsolutePath().getParent();
            require(folder != null && Files.isDirectory(folder), "--html: no such folder: " + folder);
        }
        Map<String, String> machine = Machine.facts(); // the load is that before the measurement
        List<Double> allocated = new ArrayList<>();
        List<Double> idle = new ArrayList<>();
        var verbena = new VerbenaPair();
        var contenders = new ArrayList<Contender>(List.of(
                verbena,
                new JavaPair("udp"),
                new Programs.Ucx(),
                new Programs.Iperf(),
                new JavaPair("tcp"),
                new JavaPair("netty"),
                new AeronPair(),
                new Programs.Libfabric()));
        try {
            for (Contender contender : contenders) {
                start(contender);
            }
            warmUp = warmUp();
            for (int round = 1; round <= rounds; round++) {
                measureAll("round " + round + " of " + rounds, entries, seconds, true);
            }
            if (isWanted(VerbenaPair.BATCHES + ", " + Table.size(SMALL))) {
                progress("allocation");
                attempt("allocation", () -> {
                    double _ = verbena.allocatedPerOperation(); // what the compiler has still to do costs, too
                    for (int i = 0; i < REPEATS; i++) {
                        allocated.add(verbena.allocatedPerOperation());
                    }
                });
            }
        } finally {
            contenders.forEach(Contender::close);
        }
        if (isWanted(IdlePair.NAME)) {
            progress(IdlePair.NAME);
            attempt(IdlePair.NAME, () -> {
                try (var pair = new IdlePair()) {
                    for (int i = 0; i < IDLE_REPEATS; i++) {
                        idle.add(pair.percent(IDLE_SECONDS));
                    }
                }
            });
        }
        progress("");
        var goals = new Goals(entries, allocated, idle);
        var report = new Report("Side by side", facts(machine, rounds, seconds, goals), goals.known, medians());
        if (json) {
            System.out.println(report.json());
        } else {
            print(report);
        }
        if (page != null) {
            Files.writeString(page, report.html());
        }
        return 0;
    }

    private boolean isWanted(String name) {
        return only.isEmpty() || only.stream().anyMatch(name::contains);
    }

    private void require(boolean condition, String message) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private interface Attempt {
        void run() throws Exception;
    }

    // What one of them cannot do is no reason to leave out the others.
    private boolean attempt(String what, Attempt attempt) throws InterruptedException {
        try {
            attempt.run();
            return true;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            missing.add(e instanceof Child.Failed ? what + ": " + e.getMessage() : what + ": " + e);
            return false;
        }
    }

    private void start(Contender contender) throws InterruptedException {
        attempt(contender.getClass().getSimpleName(), () -> {
            List<Entry> wanted = contender.start().stream()
                    .filter(entry -> isWanted(entry.toString()))
                    .toList();
            entries.addAll(wanted);
            if (contender.getsWarm()) {
                warming.addAll(wanted);
            }
        });
    }

    /// Rounds that do not count, until the figures stand still; says how that went. In the first all take part: it
    /// tells how many messages of each are enough.
    private String warmUp() throws InterruptedException {
        long start = System.nanoTime();
        measureAll("warming up", entries, WARM_UP_SECONDS, false);
        if (warming.isEmpty()) {
            return "none, because all programs are started anew each time";
        }
        List<Entry> all = List.copyOf(warming);
        var steady = new Steady(all.size(), WARM_UP_NANOS_MAX);
        do {
            measureAll("warming up", warming, WARM_UP_SECONDS, false);
        } while (!warming.isEmpty()
                && !steady.add(
                        System.nanoTime() - start,
                        0, // compilers work in other processes; what they have left to do shows in the figures
                        all.stream().mapToDouble(Entry::figure).toArray()));
        return steady.words();
    }

    private void measureAll(String what, List<Entry> some, double seconds, boolean counts) throws InterruptedException {
        for (Entry entry : List.copyOf(some)) {
            progress(what + ": " + entry);
            if (!attempt(entry.toString(), () -> entry.measure(seconds, counts))) {
                entries.remove(entry);
                warming.remove(entry);
            }
        }
    }

    private List<Result> medians() {
        return entries.stream().map(entry -> Medians.of(entry.results)).toList();
    }

    private Map<String, String> facts(Map<String, String> machine, int rounds, double seconds, Goals goals) {
        var facts = new LinkedHashMap<>(machine);
        facts.put("measured", "medians of " + rounds + " rounds of " + seconds + " s each; two processes on loopback");
        facts.put("warm-up", warmUp);
        if (!missing.isEmpty()) {
            facts.put("missing", String.join("; ", missing));
        }
        if (!goals.unknown.isEmpty() && only.isEmpty()) {
            facts.put("not measured", String.join("; ", goals.unknown));
        }
        return facts;
    }

    // ---- for the eye

    static void progress(String text) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.printf("\r%-70s%s", text, text.isEmpty() ? "\r" : "");
            System.err.flush();
        }
    }

    private void print(Report report) {
        report.facts().forEach((name, fact) -> System.out.printf("%-14s%s%n", name, fact));
        section("Bandwidth, MB/s (2^20 bytes)", LARGE, Result::bandwidthMBps);
        section("Bandwidth, MB/s (2^20 bytes)", HUGE, Result::bandwidthMBps);
        section(
                "Latency one way, us (medians)",
                SMALL,
                r -> r.latencyUs() == null ? null : r.latencyUs().p50());
        section("Messages, million/s", SMALL, r -> r.latencyUs() == null ? r.messageRateMpps() : null);
        if (!report.goals().isEmpty()) {
            System.out.println();
            System.out.println("Goals");
        }
        for (Goal goal : report.goals()) {
            System.out.printf(
                    "  %-66s %9s %-11s %s %-5s %s%n",
                    goal.name() + " ",
                    Table.number(goal.value()),
                    goal.unit(),
                    goal.atMost() ? "<=" : ">=",
                    Table.number(goal.limit()).replaceAll("\\.?0+$", ""),
                    (goal.reached() ? "reached" : "MISSED ") + "  (" + Table.number(goal.low()) + " to "
                            + Table.number(goal.high()) + ")");
        }
    }

    private void section(String title, int size, Function<Result, @Nullable Double> figure) {
        List<Entry> shown = entries.stream()
                .filter(entry -> entry.size == size && !entry.results.isEmpty())
                .filter(entry -> figure.apply(entry.results.getFirst()) != null)
                .toList();
        if (shown.isEmpty()) {
            return;
        }
        System.out.println();
        System.out.println(title + ", " + Table.size(size));
        for (Entry entry : shown) {
            double[] values = entry.results.stream()
                    .mapToDouble(result -> Objects.requireNonNull(figure.apply(result)))
                    .sorted()
                    .toArray();
            System.out.printf(
                    "  %-40s %9s   (%s to %s)%n",
                    entry.series,
                    Table.number(Medians.of(values)),
                    Table.number(values[0]),
                    Table.number(values[values.length - 1]));
        }
    }
}
