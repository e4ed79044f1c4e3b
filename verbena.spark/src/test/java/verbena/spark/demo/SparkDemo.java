package verbena.spark.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.package$;
import verbena.spark.VerbenaShuffleManager;
import verbena.wire.BigEndian;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;

/// The same jobs with Spark's sort shuffle and with ours, over several devices and through faults. Compares
/// results, and says what share of the remote bytes went by READ. The last line is `N passed, N failed`.
public final class SparkDemo {
    private static final Duration LIMIT = Duration.ofMinutes(6);
    private static final String JOBS = "sort,group,join,words,blocks,move,revenue,skew";
    private static final String LEAVE = "leave";
    private static final int PARTITIONS = 8;
    private static final String ALL_BY_READ = "100 % by READ";
    /// Jobs that run under the agent.
    private static final String UNDER_THE_AGENT = "sort,group";
    /// Jobs between two hosts whose devices encrypt.
    private static final String PROTECTED = "sort,group,blocks";
    /// Datagrams that are recorded there. These jobs have some thousands.
    private static final int RECORDED = 100;
    /// The octet of a datagram on Ethernet over IPv4 that has RoCE's version of its transport, 0, in the clear. In
    /// its place a packet of PSP has the length of its header, and a message about keys a letter.
    private static final int VERSION_AT = 43;

    /// Settings with which some outputs have no room in memory.
    private static final Map<String, String> LITTLE_MEMORY =
            Map.of("spark.verbena.devices", "shm", "spark.verbena.memory", "600k");
    /// A job that needs little room.
    private static final String FEW_RECORDS = "words";
    /// Jobs on a weak device.
    private static final String WEAK = "sort,words";
    /// The option in front of the number of weak devices to try, which is all that is done then.
    private static final String SEEDS = "--seeds";
    /// The option in front of the share of the runs after the first two, such as `1/3`.
    private static final String SHARE = "--share";
    /// The driver and two executors.
    private static final int PROCESSES = 3;
    /// Executors end after the driver, and write their lines then.
    private static final long SUMMARY_SECONDS = 20;
    /// Of the bytes of Spark's channels, when all processes have the agent.
    private static final double LEAST_SHARE = 0.99;

    private static final Pattern FAULT = Pattern.compile("\"rule\":\"([^\"]+)\",\"grade\":\"(?:error|luck)\"");
    private static final Pattern COUNT = Pattern.compile("\\b(rdma|tcp)-(?:in|out)=(\\d+)");

    private enum Trait {
        /// Blocks may take other ways than READ, and tasks be repeated.
        FAULTY,
        /// A task ends its executor.
        KILLS,
        /// The application and the manager come as a user's jars, by `spark-submit`.
        SUBMITTED
    }

    /// A run, whose results are compared with those of Spark's sort shuffle.
    private interface Run {
        void judge(SparkRun.Outcome sorted) throws IOException, InterruptedException;
    }

    /// A run with our manager.
    private record Scenario(String name, Map<String, String> settings, String jobs, Set<Trait> traits) {
        private static Scenario good(String name, String devices, String jobs) {
            return new Scenario(name, Map.of("spark.verbena.devices", devices), jobs, Set.of());
        }

        private boolean is(Trait trait) {
            return traits.contains(trait);
        }
    }

    private final SparkRun spark;
    private final String records;
    private final String text;
    private final Path agent;
    private int passed;
    private int failed;

    private SparkDemo(SparkRun spark, String records, Path checkout) {
        this.spark = spark;
        this.records = records;
        this.text = checkout.resolve("docs").resolve("*.md").toString();
        this.agent = checkout.resolve("verbena.nio/target/verbena-nio.jar");
    }

    /// Runs all of it; the status is 1 when something has failed.
    ///
    /// @param args the build's folder, that of Spark's jars, the class path for Spark's processes, the checkout,
    /// and `--small`, `--share I/N`, `--seeds N`, or nothing
    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> options = List.of(args).subList(4, args.length);
        int seeds = options.indexOf(SEEDS) + 1;
        int share = options.indexOf(SHARE) + 1;
        boolean isSmall = seeds > 0 || options.contains("--small");
        Path checkout = Path.of(args[3]);
        String classes = args[2] + ":" + checkout.resolve("verbena.check/target/classes");
        var spark = new SparkRun(Path.of(args[0], "home"), Path.of(args[1]), classes, LIMIT);
        spark.prepare();
        var demo = new SparkDemo(spark, isSmall ? "40000" : "400000", checkout);
        boolean isGood = seeds > 0
                ? demo.runWeak(Integer.parseInt(options.get(seeds)))
                : demo.run(isSmall, share > 0 ? options.get(share) : "0/1");
        System.exit(isGood ? 0 : 1);
    }

    private boolean run(boolean isSmall, String share) throws IOException, InterruptedException {
        System.out.println("Spark " + package$.MODULE$.SPARK_VERSION() + ", two executors of one core each, " + records
                + " records; jobs: " + JOBS);
        SparkRun.Outcome sorted = spark.run(spark.application(managedBy("sort", Map.of()), arguments(JOBS)));
        if (!judge("sort shuffle", sorted.trouble().isEmpty(), sorted.trouble())) {
            return false;
        }
        figures("sort shuffle", sorted, sorted);
        judge(Scenario.good("shm", "shm", JOBS), sorted);
        List<Run> others = others(isSmall);
        int slash = share.indexOf('/');
        int step = Integer.parseInt(share.substring(slash + 1));
        for (int i = Integer.parseInt(share.substring(0, slash)); i < others.size(); i += step) {
            others.get(i).judge(sorted);
        }
        return sum();
    }

    private boolean runWeak(int seeds) throws IOException, InterruptedException {
        SparkRun.Outcome sorted = spark.run(spark.application(managedBy("sort", Map.of()), arguments(WEAK)));
        for (int seed = 1; seed <= seeds; seed++) {
            judgeWeak(sorted, seed);
        }
        return sum();
    }

    private boolean sum() {
        System.out.println(passed + " passed, " + failed + " failed");
        return failed == 0;
    }

    /// Returns the runs after that over `shm`.
    private List<Run> others(boolean isSmall) {
        var others = new ArrayList<Run>();
        scenarios(isSmall).forEach(scenario -> others.add(sorted -> judge(scenario, sorted)));
        others.add(sorted -> judgeWeak(sorted, 1));
        others.add(this::judgeFullDisk);
        others.add(this::judgeFullDisks);
        others.add(this::judgeAgent);
        others.add(this::judgeProtected);
        return others;
    }

    private static List<Scenario> scenarios(boolean isSmall) {
        var scenarios = new ArrayList<Scenario>();
        if (!isSmall) {
            scenarios.add(Scenario.good("rocev2", "rocev2", JOBS));
            scenarios.add(new Scenario(
                    "encrypted map outputs",
                    Map.of("spark.verbena.devices", "shm", "spark.io.encryption.enabled", "true"),
                    "sort,group",
                    Set.of()));
            scenarios.add(new Scenario(
                    "no device", Map.of("spark.verbena.devices", "rocev2_none"), "sort,group", Set.of(Trait.FAULTY)));
        }
        scenarios.add(new Scenario(
                "spark-submit --jars, Kryo, Zstandard, speculation",
                Map.of(
                        "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
                        "spark.io.compression.codec", "zstd",
                        "spark.speculation", "true"),
                "sort,blocks,skew",
                Set.of(Trait.SUBMITTED)));
        scenarios.add(new Scenario(
                "executor decommissioned",
                Map.of(
                        "spark.decommission.enabled", "true",
                        "spark.storage.decommission.enabled", "true",
                        "spark.storage.decommission.shuffleBlocks.enabled", "true",
                        "spark.storage.decommission.replicationReattemptInterval", "1s"),
                LEAVE,
                Set.of(Trait.FAULTY)));
        scenarios.add(Scenario.good("rocev2, 5 % lost", "rocev2,faults=loss:5%,seed:7", "sort,words"));
        scenarios.add(new Scenario(
                "executor killed, memory full", LITTLE_MEMORY, "words,join", Set.of(Trait.FAULTY, Trait.KILLS)));
        return scenarios;
    }

    private static Map<String, String> managedBy(String manager, Map<String, String> settings) {
        var all = new TreeMap<String, String>(settings);
        all.put("spark.shuffle.manager", manager);
        return all;
    }

    /// What [Application] is told.
    private List<String> arguments(String jobs) {
        return List.of(records, Integer.toString(PARTITIONS), "40", text, jobs);
    }

    /// Spark's own shuffle, whose channels go by RDMA because the processes have the agent of `verbena.nio`.
    private void judgeAgent(SparkRun.Outcome sorted) throws IOException, InterruptedException {
        String name = "sort shuffle under the agent";
        Path summary = spark.home().resolve("summary");
        Files.deleteIfExists(summary);
        String options = "-javaagent:" + agent
                + " -Dverbena.nio.begin=rdma -Dverbena.nio.wait=5000 -Dverbena.nio.summary=" + summary;
        ProcessBuilder application = spark.application(managedBy("sort", Map.of()), arguments(UNDER_THE_AGENT));
        application.environment().put("JAVA_TOOL_OPTIONS", options);
        SparkRun.Outcome under = spark.run(application);
        if (!judge(name, under.trouble().isEmpty(), under.trouble())) {
            return;
        }
        judgeResults(name, UNDER_THE_AGENT, under, sorted);
        List<String> lines = lines(summary);
        long rdma = bytes(lines, "rdma");
        long tcp = bytes(lines, "tcp");
        judge(
                name + ": its bytes by RDMA",
                lines.size() == PROCESSES && rdma > 0 && rdma >= LEAST_SHARE * (rdma + tcp),
                rdma + " bytes by RDMA, " + tcp + " by TCP, in " + lines.size() + " processes");
        System.out.printf(Locale.ROOT, "      %s: %,d of %,d bytes of channels by RDMA%n", name, rdma, rdma + tcp);
    }

    /// Our shuffle between two hosts whose devices encrypt, because the configuration of the application names a
    /// policy.
    private void judgeProtected(SparkRun.Outcome sorted) throws IOException, InterruptedException {
        String name = "rocev2 between two hosts, psp by configuration";
        String why = SparkCable.whyNot();
        if (!why.isEmpty()) {
            System.out.println("skip  " + name + ": " + why);
            return;
        }
        Path secret = Files.writeString(spark.home().resolve("secret"), "0123456789abcdef0123456789abcdef");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Path policy = Files.writeString(spark.home().resolve("psp"), "secret secret\ndefault required\n");
        Path wire = spark.home().resolve("wire.pcapng");
        SparkRun.Outcome ours;
        boolean isRecorded;
        try (SparkCable cable = SparkCable.lay(spark, "", spark.home().resolve("scratch"))) {
            Process recorder = cable.record(RECORDED, wire);
            Map<String, String> settings =
                    Map.of("spark.verbena.devices", "rocev2", "spark.executorEnv.VERBENA_PSP", policy.toString());
            ours = spark.run(cable.application(
                    spark, managedBy(VerbenaShuffleManager.class.getName(), settings), arguments(PROTECTED)));
            isRecorded = recorder.waitFor(SUMMARY_SECONDS, TimeUnit.SECONDS);
        }
        if (!judge(name, ours.trouble().isEmpty(), ours.trouble())) {
            return;
        }
        judgeResults(name, PROTECTED, ours, sorted);
        judge(
                name + ": by READ",
                ours.counter("bytes.read") > 0,
                ours.counters().toString());
        int hidden = isRecorded ? hidden(wire) : 0;
        judge(name + ": on the wire", hidden == RECORDED, hidden + " of " + RECORDED + " datagrams are encrypted");
        figures(name, ours, sorted);
    }

    /// Counts the recorded datagrams that are no packets of RoCE.
    private static int hidden(Path wire) throws IOException {
        int hidden = 0;
        try (var reader = CaptureReader.open(wire)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                MemorySegment bytes = packet.bytes();
                hidden += (BigEndian.u8(bytes, VERSION_AT) & 0xF) != 0 ? 1 : 0;
            }
        }
        return hidden;
    }

    /// Devices that take the freedoms of the standard, or of cards, under all rules of `verbena.check`.
    private void judgeWeak(SparkRun.Outcome sorted, int seed) throws IOException, InterruptedException {
        String device = "rocev2,weak=" + (seed % 2 == 0 ? "card" : "standard") + ",seed=" + seed;
        Path reports = Files.createTempDirectory(spark.home(), "check");
        ProcessBuilder application = spark.application(
                managedBy(VerbenaShuffleManager.class.getName(), Map.of("spark.verbena.devices", device)),
                arguments(WEAK));
        application.environment().put("JAVA_TOOL_OPTIONS", "-Dverbena.check=quiet,json=" + reports + "/%p.json");
        SparkRun.Outcome ours = spark.run(application);
        if (!judge(device, ours.trouble().isEmpty(), ours.trouble())) {
            return;
        }
        judgeResults(device, WEAK, ours, sorted);
        judge(
                device + ": bytes by READ",
                ours.counter("bytes.read") > 0,
                ours.counters().toString());
        String faults = faults(reports);
        judge(device + ": nothing works by luck", faults.isEmpty(), faults + "; see " + reports);
    }

    /// Returns the rules that were broken in the reports of two executors, other than costs.
    private static String faults(Path reports) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SUMMARY_SECONDS);
        List<String> whole = List.of();
        while (whole.size() < 2 && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(100);
            try (Stream<Path> files = Files.list(reports)) {
                whole = files.map(SparkDemo::text)
                        .filter(text -> text.endsWith("]\n"))
                        .toList();
            }
        }
        return whole.size() < 2
                ? "only " + whole.size() + " executors have reported"
                : FAULT.matcher(String.join("", whole))
                        .results()
                        .map(each -> each.group(1))
                        .distinct()
                        .collect(Collectors.joining(", "));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// One line for each process, as soon as all have written theirs.
    private static List<String> lines(Path summary) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SUMMARY_SECONDS);
        List<String> lines = List.of();
        while (lines.size() < PROCESSES && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(100);
            lines = Files.exists(summary) ? Files.readAllLines(summary) : lines;
        }
        return lines;
    }

    private static long bytes(List<String> lines, String way) {
        return COUNT.matcher(String.join("\n", lines))
                .results()
                .filter(each -> each.group(1).equals(way))
                .mapToLong(each -> Long.parseLong(each.group(2)))
                .sum();
    }

    private void judgeResults(String name, String jobs, SparkRun.Outcome ours, SparkRun.Outcome sorted) {
        for (String job : jobs.split(",", -1)) {
            String expected = job.equals(LEAVE) ? left() : sorted.results().get(job);
            String got = ours.results().get(job);
            judge(name + ": " + job, String.valueOf(expected).equals(got), expected + "; got " + got);
        }
    }

    /// The result of the job [#LEAVE], which Spark's own shuffle does not run here.
    private String left() {
        long count = Long.parseLong(records);
        long each = count / PARTITIONS;
        long sum = (count * (each - 1) + count * (PARTITIONS - 1)) / 2;
        return count + " records, sum " + sum + ", " + count + " were made";
    }

    private void judge(Scenario scenario, SparkRun.Outcome sorted) throws IOException, InterruptedException {
        Files.deleteIfExists(killed());
        Map<String, String> settings = managedBy(VerbenaShuffleManager.class.getName(), scenario.settings());
        var arguments = new ArrayList<String>(arguments(scenario.jobs()));
        if (scenario.is(Trait.KILLS)) {
            arguments.add(killed().toString());
        }
        SparkRun.Outcome ours = spark.run(
                scenario.is(Trait.SUBMITTED)
                        ? spark.submitted(settings, arguments)
                        : spark.application(settings, arguments));
        if (!judge(scenario.name(), ours.trouble().isEmpty(), ours.trouble())) {
            return;
        }
        judgeResults(scenario.name(), scenario.jobs(), ours, sorted);
        long byRead = ours.counter("bytes.read");
        long byTransport = ours.counter("bytes.transport");
        if (scenario.is(Trait.KILLS)) {
            judgeKilled(scenario.name(), ours);
            judge(
                    scenario.name() + ": map outputs in files",
                    ours.counter("outputs.files") > 0,
                    ours.counters().toString());
        }
        if (!scenario.is(Trait.FAULTY)) {
            judge(
                    scenario.name() + ": " + ALL_BY_READ,
                    byRead > 0 && byTransport == 0,
                    byRead + " bytes by READ, " + byTransport + " otherwise");
            judge(
                    scenario.name() + ": as many bytes as Spark has counted",
                    byRead + byTransport == ours.metric("remote.bytes"),
                    byRead + byTransport + "; Spark has " + ours.metric("remote.bytes"));
        }
        figures(scenario.name(), ours, sorted);
    }

    /// The file that the task makes which ends its executor.
    private Path killed() {
        return spark.home().resolve("killed");
    }

    private void judgeKilled(String name, SparkRun.Outcome ours) {
        String expected = "sum " + 20_000L * 19_999 / 2 + ", " + PARTITIONS * Application.RECORDS + " whole records";
        judge(
                name + ": the job whose executor is killed",
                expected.equals(ours.results().get("killed")) && Files.exists(killed()),
                expected + "; got " + ours.results().get("killed"));
    }

    /// An executor is killed while another one has no room on its disk. Tasks that fail there are tried again until
    /// others take them, as many times as that needs, so the job ends well.
    private void judgeFullDisk(SparkRun.Outcome sorted) throws IOException, InterruptedException {
        Map<String, String> patience = Map.of("spark.task.maxFailures", "100000");
        judgeOnDisk("executor killed, disk of the other full", Application.SURVIVOR, patience, (name, ours) -> {
            if (judge(name, ours.trouble().isEmpty(), ours.trouble())) {
                judgeKilled(name, ours);
                judgeResults(name, FEW_RECORDS, ours, sorted);
            }
        });
    }

    /// An executor is killed while no disk has room. The job fails, however often its tasks are repeated.
    private void judgeFullDisks(SparkRun.Outcome sorted) throws IOException, InterruptedException {
        Map<String, String> patience = Map.of("spark.task.maxFailures", "40");
        judgeOnDisk("executor killed, all disks full", "*", patience, (name, ours) -> {
            boolean hasFailed = ours.trouble().startsWith("ended with status 1;");
            judge(name + ": the job fails", hasFailed && Files.exists(killed()), ours.trouble() + ours.results());
        });
    }

    private interface Verdict {
        void judge(String name, SparkRun.Outcome ours);
    }

    /// @param executors those that have their files on the small disk, as [FullDisk] has it
    private void judgeOnDisk(String name, String executors, Map<String, String> settings, Verdict verdict)
            throws IOException, InterruptedException {
        var disk = new FullDisk(spark, spark.home().resolve("disk"), executors);
        String why = FullDisk.whyNot(disk.folder());
        if (!why.isEmpty()) {
            System.out.println("skip  " + name + ": " + why);
            return;
        }
        Files.deleteIfExists(killed());
        var all = new TreeMap<String, String>(settings);
        all.putAll(LITTLE_MEMORY);
        var arguments = new ArrayList<String>(arguments(FEW_RECORDS));
        arguments.add(killed().toString());
        SparkRun.Outcome ours = spark.run(disk.under(
                spark.application(managedBy(VerbenaShuffleManager.class.getName(), all), arguments), killed()));
        verdict.judge(name, ours);
        judge(
                name + ": the reason is named",
                ours.log().stream().anyMatch(line -> line.contains("No space left on device")),
                ours.log().size() + " lines without it");
        judge(
                name + ": no file is left there",
                ours.metrics().containsKey(FullDisk.LEFT) && ours.metric(FullDisk.LEFT) == 0,
                ours.metrics().toString());
        figures(name, ours, ours);
    }

    private boolean judge(String name, boolean isGood, String what) {
        if (isGood) {
            passed++;
            System.out.println("ok    " + name);
        } else {
            failed++;
            System.out.println("FAIL  " + name + ": " + what);
        }
        return isGood;
    }

    private static void figures(String name, SparkRun.Outcome ours, SparkRun.Outcome sorted) {
        long byRead = ours.counter("bytes.read");
        long remote = byRead + ours.counter("bytes.transport");
        var times = new StringBuilder();
        ours.nanos().forEach((job, nanos) -> times.append(String.format(Locale.ROOT, " %s %.2f", job, nanos / 1e9)));
        System.out.printf(
                Locale.ROOT,
                "      %s: remote bytes %,d%s, fetch wait %d ms, write %d ms, tasks that failed %d; seconds:%s%n",
                name,
                ours.metric("remote.bytes"),
                ours == sorted
                        ? ""
                        : String.format(Locale.ROOT, " (%.1f %% by READ)", remote == 0 ? 0 : 100.0 * byRead / remote),
                ours.metric("fetch.wait.ms"),
                ours.metric("write.ns") / 1_000_000,
                ours.metric("failed.tasks"),
                times);
    }
}
