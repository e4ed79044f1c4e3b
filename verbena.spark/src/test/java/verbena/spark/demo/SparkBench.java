package verbena.spark.demo;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.apache.spark.package$;
import org.jspecify.annotations.Nullable;
import verbena.spark.VerbenaShuffleManager;

/// `./verbena bench spark`: the same jobs with Spark's sort shuffle, with that under `verbena.nio`'s agent, and with
/// ours, in turns. Each has an application that stays, so that all are warm. Says which goals are reached.
public final class SparkBench {
    private static final String SORT = "sort shuffle, tmpfs";
    private static final String AGENT = "sort shuffle, nio agent";
    private static final String SHM = "Verbena shm";
    private static final String ROCE = "Verbena rocev2";
    private static final String BLOCKS = "blocks";
    private static final List<String> JOBS = List.of("sort", "group", "join", BLOCKS, "move", "revenue");
    /// After two, the compilers of the executors took more than two fifths of the processors' time.
    private static final int WARM_UPS = 10;
    private static final Duration LIMIT = Duration.ofMinutes(6);
    /// The compilers' threads stay, so that their time can be told.
    static final String JAVA =
            "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -XX:-UseDynamicNumberOfCompilerThreads";

    /// What was asked for.
    ///
    /// @param warmUps rounds that do not count
    /// @param sides partitions on both sides of the shuffle that has many small blocks
    /// @param names of contenders, in part; none for all
    /// @param network a rate for the wire between two hosts, as `tc` has it; empty for one host
    private record Options(
            int rounds, int warmUps, int records, int sides, List<String> jobs, List<String> names, String network) {
        private static Options of(List<String> args) {
            boolean isQuick = args.contains("--quick");
            int rounds = isQuick ? 2 : 5;
            List<String> jobs = JOBS;
            List<String> names = List.of();
            String network = "";
            for (int i = 0; i < args.size(); i++) {
                switch (args.get(i)) {
                    case "--quick" -> {} // known already
                    case "--rounds" -> rounds = Integer.parseInt(args.get(++i));
                    case "--only" -> {
                        List<String> words = List.of(args.get(++i).split(",", -1));
                        List<String> some =
                                JOBS.stream().filter(words::contains).toList();
                        jobs = some.isEmpty() ? JOBS : some;
                        names = words.stream()
                                .filter(word -> !JOBS.contains(word))
                                .toList();
                    }
                    case "--network" -> network = args.get(++i);
                    default -> throw new IllegalArgumentException("bench spark: unknown option " + args.get(i));
                }
            }
            return new Options(
                    rounds,
                    isQuick ? 1 : WARM_UPS,
                    isQuick ? 100_000 : 400_000,
                    isQuick ? 50 : 200,
                    jobs,
                    names,
                    network);
        }

        private boolean isWanted(String name) {
            return names.isEmpty() || names.stream().anyMatch(name::contains);
        }
    }

    /// Those that are compared, and all that was measured of each, by job and round.
    private record Contender(
            String name, StandingApplication application, Map<String, List<StandingApplication.Measured>> measured) {}

    private final Options options;
    private final Path build;
    private final Path jars;
    private final String classes;
    private final String agent;
    private final Path scratch;
    private final List<Contender> contenders = new ArrayList<>();
    private final Map<String, Long> memory = new LinkedHashMap<>();

    private SparkBench(Options options, List<String> paths, Path scratch) {
        this.options = options;
        this.build = Path.of(paths.get(0));
        this.jars = Path.of(paths.get(1));
        this.classes = paths.get(2);
        this.agent = paths.get(3);
        this.scratch = scratch;
    }

    /// Measures.
    ///
    /// @param args the build's folder, that of Spark's jars, the class path for Spark's processes, the agent's jar,
    /// and options
    public static void main(String[] args) throws Exception {
        Options options;
        try {
            options = Options.of(Arrays.asList(args).subList(4, args.length));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            System.err.println("verbena: " + e.getMessage() + "; see verbena bench --help");
            System.exit(2);
            return;
        }
        Path memory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench-spark-");
        var bench = new SparkBench(options, Arrays.asList(args).subList(0, 4), memory);
        var closing = new Thread(bench::close);
        Runtime.getRuntime().addShutdownHook(closing); // also when a user ends it
        bench.run();
        System.exit(0);
    }

    private @Nullable SparkCable cable;

    private void run() throws Exception {
        System.out.printf(
                Locale.ROOT,
                "date          %s%nprocessor     %d usable cores, %s%nload at start %.2f%nmeasured      Spark %s, two executors"
                        + " of one core each, %,d records; medians of %d rounds in turns after %d that do not count%n%n",
                ZonedDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS),
                Runtime.getRuntime().availableProcessors(),
                processor(),
                load(),
                package$.MODULE$.SPARK_VERSION(),
                options.records(),
                options.rounds(),
                options.warmUps());
        start();
        for (int round = 0; round < options.warmUps(); round++) {
            measureAll(false);
        }
        for (int round = 0; round < options.rounds(); round++) {
            measureAll(true);
        }
        tellMemory();
        options.jobs().forEach(this::table);
        goals();
        for (Contender each : contenders) {
            Map<String, Long> counters = each.application().finish();
            if (counters.containsKey("bytes.read")) {
                System.out.printf(
                        Locale.ROOT,
                        "%-26s %,d bytes by READ, %,d otherwise%n",
                        each.name(),
                        counters.get("bytes.read"),
                        counters.get("bytes.transport"));
            }
        }
        System.out.printf(Locale.ROOT, "load at end   %.2f%n", load());
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static String processor() throws IOException {
        return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("model name") || line.startsWith("cpu family"))
                .limit(2)
                .map(line -> line.replaceAll("\\s*:\\s*", " "))
                .reduce((a, b) -> b + ", " + a)
                .orElse("unknown");
    }

    // ---- applications

    private void start() throws Exception {
        if (!options.network().isEmpty()) {
            SparkRun home = home("cluster");
            cable = SparkCable.lay(home, options.network(), scratch);
        }
        add(SORT, "sort", JAVA, Map.of());
        String device = options.network().isEmpty() ? "" : " -Dverbena.nio.rdma=*";
        add(
                AGENT,
                "sort",
                JAVA + " -javaagent:" + agent + " -Dverbena.nio.begin=rdma -Dverbena.nio.wait=5000" + device,
                Map.of());
        String ours = VerbenaShuffleManager.class.getName();
        if (options.network().isEmpty()) {
            add(SHM, ours, JAVA, Map.of("spark.verbena.devices", "shm"));
        }
        add(ROCE, ours, JAVA, Map.of("spark.verbena.devices", "rocev2"));
    }

    private SparkRun home(String name) throws IOException {
        var spark = new SparkRun(build.resolve("bench").resolve(name), jars, classes, LIMIT);
        spark.prepare();
        return spark;
    }

    private void add(String name, String manager, String java, Map<String, String> settings) throws IOException {
        if (!options.isWanted(name)) {
            return;
        }
        System.err.println("verbena: starting " + name + " ...");
        String folder = name.replaceAll("[^A-Za-z0-9]+", "-");
        var all = new TreeMap<String, String>(settings);
        all.put("spark.shuffle.manager", manager);
        all.put("spark.executor.extraJavaOptions", java);
        Path files = scratch.resolve(folder);
        all.put("spark.local.dir", files.toString());
        SparkRun spark = home(folder);
        List<String> arguments = List.of(
                Integer.toString(options.records()), "8", Integer.toString(options.sides()), "", Application.ASKED);
        SparkCable between = cable;
        ProcessBuilder builder =
                between == null ? spark.application(all, arguments) : between.application(spark, all, arguments);
        var application = StandingApplication.start(builder, spark.home().resolve("application.log"), files);
        contenders.add(new Contender(name, application, new TreeMap<>()));
        if (between != null) {
            between.check(application);
        }
    }

    private void measureAll(boolean counts) throws IOException {
        for (String job : options.jobs()) {
            String expected = "";
            for (Contender each : contenders) {
                System.err.printf("verbena: %s: %s%n", job, each.name());
                StandingApplication.Measured measured = each.application().run(job);
                if (!expected.isEmpty() && !expected.equals(measured.result())) {
                    throw new IllegalStateException(
                            job + ": " + each.name() + " has " + measured.result() + " in place of " + expected);
                }
                expected = measured.result();
                if (counts) {
                    each.measured()
                            .computeIfAbsent(job, name -> new ArrayList<>())
                            .add(measured);
                }
            }
        }
    }

    /// One more round, which counts for nothing else: looking at memory takes time.
    private void tellMemory() throws IOException, InterruptedException {
        for (Contender each : contenders) {
            var most = new long[1];
            Thread looking = Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (!Thread.interrupted()) {
                        most[0] = Math.max(most[0], each.application().memoryBytes());
                        Thread.sleep(50);
                    }
                } catch (IOException | InterruptedException e) {
                    Thread.currentThread().interrupt(); // the end of the round
                }
            });
            for (String job : options.jobs()) {
                StandingApplication.Measured _ = each.application().run(job);
            }
            looking.interrupt();
            looking.join();
            memory.put(each.name(), most[0]);
        }
    }

    // ---- figures

    private void table(String job) {
        System.out.printf("%-26s %-22s %-22s %-22s %-22s%n", job, "wall s", "write s", "fetch wait s", "CPU s per GB");
        for (Contender each : contenders) {
            List<StandingApplication.Measured> all =
                    Objects.requireNonNull(each.measured().get(job));
            System.out.printf(
                    "  %-24s %-22s %-22s %-22s %-22s%n",
                    each.name(),
                    figure(all, StandingApplication.Measured::seconds),
                    figure(all, StandingApplication.Measured::writeSeconds),
                    figure(all, StandingApplication.Measured::waitSeconds),
                    figure(all, one -> one.cpuSeconds() / one.gigabytes()));
        }
        double megabytes = 1_000
                * Objects.requireNonNull(contenders.getFirst().measured().get(job))
                        .getFirst()
                        .gigabytes();
        System.out.printf(Locale.ROOT, "  %.1f MB shuffled%n%n", megabytes);
    }

    private static String figure(
            List<StandingApplication.Measured> all, ToDoubleFunction<StandingApplication.Measured> of) {
        return range(all.stream().mapToDouble(of).toArray());
    }

    private static String range(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return String.format(Locale.ROOT, "%.3f (%.3f to %.3f)", median(sorted), sorted[0], sorted[sorted.length - 1]);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }

    private void goals() {
        System.out.println("Most memory of both executors, with their files in memory");
        memory.forEach((name, bytes) -> System.out.printf(Locale.ROOT, "  %-24s %,d MB%n", name, bytes / 1_000_000));
        List<String> jobs = options.jobs();
        for (Contender ours : contenders) {
            if (!ours.name().startsWith("Verbena")) {
                continue;
            }
            for (Contender other : contenders) {
                if (other.name().startsWith("Verbena")) {
                    continue;
                }
                System.out.println(ours.name() + " beside " + other.name());
                goal("shuffle write time, all jobs", 0.5, ours, other, jobs, one -> one.writeSeconds());
                goal("fetch wait, all jobs", 0.5, ours, other, jobs, one -> one.waitSeconds());
                goal("CPU seconds per GB, all jobs", 0.8, ours, other, jobs, one -> one.cpuSeconds());
                for (String job : jobs) {
                    double limit = job.equals(BLOCKS) ? 1.0 : 1.03;
                    goal("wall time, " + job, limit, ours, other, List.of(job), one -> one.seconds());
                }
            }
        }
    }

    /// A ratio of two contenders in each round. Both have shuffled the same bytes.
    private void goal(
            String name,
            double limit,
            Contender ours,
            Contender other,
            List<String> jobs,
            ToDoubleFunction<StandingApplication.Measured> of) {
        var ratios = new double[options.rounds()];
        for (int round = 0; round < ratios.length; round++) {
            ratios[round] = sum(ours, jobs, round, of) / sum(other, jobs, round, of);
        }
        System.out.printf(
                Locale.ROOT,
                "  %-32s %-22s <= %.2f %s%n",
                name,
                range(ratios),
                limit,
                median(ratios) <= limit ? "reached" : "MISSED");
    }

    private static double sum(
            Contender of, List<String> jobs, int round, ToDoubleFunction<StandingApplication.Measured> figure) {
        return jobs.stream()
                .mapToDouble(job -> figure.applyAsDouble(
                        Objects.requireNonNull(of.measured().get(job)).get(round)))
                .sum();
    }

    private void close() {
        contenders.forEach(each -> each.application().close());
        if (cable != null) {
            cable.close();
        }
        try {
            SparkRun.delete(scratch);
        } catch (IOException e) {
            System.err.println("verbena: " + scratch + " stays: " + e.getMessage());
        }
    }
}
