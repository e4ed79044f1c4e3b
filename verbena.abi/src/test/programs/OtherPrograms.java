import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// `verbena test --programs [NAME ...]`: programs that people use, unmodified, over our libraries, between processes on
/// loopback. Prints a line for each run: what it is, whether it did what it should, how long it took. A program that is
/// not installed is a skip with the name of its package.
///
/// Run by the JDK from this one file: `java OtherPrograms.java VERBENA SOURCES [NAME ...]`.
public final class OtherPrograms {
    private static final long PATIENCE_SECONDS = 60;
    private static final String DEVICE = "rocev2_lo";
    private static final String PORT = "PORT";

    /// @param name of the program, by which it is chosen
    /// @param needs programs that have to be there
    /// @param where Debian's packages
    /// @param runs what is tried, in turn
    private record Program(String name, List<String> needs, String where, List<Run> runs) {}

    /// @param what is checked, in a few words
    /// @param environment beside ours
    /// @param server null for a program that needs none
    /// @param client ends with 0 when all is well; PORT stands for a free port
    /// @param says what its output has then
    private record Run(String what, Map<String, String> environment, String server, String client, List<String> says) {}

    private final Path verbena;
    private final Path folder;
    private final Path sources;
    private int passed;
    private int failed;
    private int skipped;

    private OtherPrograms(Path verbena, Path sources) throws IOException {
        this.verbena = verbena;
        this.sources = sources;
        this.folder = Files.createTempDirectory("verbena-programs");
    }

    /// @param arguments the start script, the folder of C programs, names of programs
    public static void main(String[] arguments) throws Exception {
        var all = new OtherPrograms(Path.of(arguments[0]).toAbsolutePath(), Path.of(arguments[1]).toAbsolutePath());
        var programs = all.programs();
        List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
        List<String> known = programs.stream().map(Program::name).toList();
        for (String name : names) {
            if (!known.contains(name)) {
                System.err.println("verbena test --programs: there is no program \"" + name + "\"; there are "
                        + String.join(", ", known));
                System.exit(2);
            }
        }
        try {
            for (Program each : programs) {
                if (names.isEmpty() || names.contains(each.name())) {
                    all.tryOut(each);
                }
            }
        } finally {
            all.removeFolder();
        }
        System.out.println(all.passed + " passed, " + all.failed + " failed, " + all.skipped + " skipped");
        System.exit(all.failed == 0 ? 0 : 1);
    }

    // ---- the programs

    private List<Program> programs() {
        return List.of(
                new Program("ucx-info", List.of("ucx_info"), "ucx-utils", List.of(new Run(
                        "finds rc and ud", Map.of(), null, "ucx_info -d", List.of("rc_verbs", "ud_verbs", DEVICE)))),
                new Program("uct", List.of("ucx_perftest"), "ucx-utils", uct()),
                new Program("ucp", List.of("ucx_perftest"), "ucx-utils", ucp()),
                new Program(
                        "openmpi",
                        List.of("mpirun.openmpi", "mpicc.openmpi"),
                        "openmpi-bin libopenmpi-dev",
                        List.of(openMpi("rc_v", 2), openMpi("ud_v", 2))),
                new Program(
                        "mpich",
                        List.of("mpirun.mpich", "mpicc.mpich"),
                        "mpich libmpich-dev",
                        List.of(mpich("rc_v", 2), mpich("rc_v", 3))),
                new Program("libfabric", List.of("fi_pingpong"), "libfabric-bin", libfabric()),
                new Program("fio", List.of("fio"), "fio", List.of(fio("write"), fio("read"), fio("send"))),
                new Program("qperf", List.of("qperf"), "qperf", List.of(new Run(
                        "rc, connections by rdma_cm",
                        Map.of(),
                        "qperf -lp PORT",
                        "qperf -lp PORT -cm 1 -t 1 127.0.0.1 rc_lat rc_bw rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw"
                                + " quit",
                        List.of("rc_rdma_write_bw", "bw  =")))),
                new Program("ibstatus", List.of("ibstatus"), "infiniband-diags", List.of(new Run(
                        "a script that reads /sys",
                        Map.of(),
                        null,
                        "ibstatus",
                        List.of(DEVICE, "4: ACTIVE", "link_layer:\t Ethernet")))));
    }

    private static List<Run> uct() {
        var runs = new ArrayList<Run>();
        for (String test : List.of("am_lat", "am_bw", "put_lat", "put_bw", "get", "add", "fadd", "cswap")) {
            runs.add(uct("rc_verbs", test));
        }
        runs.add(uct("ud_verbs", "am_lat"));
        runs.add(uct("ud_verbs", "am_bw"));
        return runs;
    }

    private static Run uct(String transport, String test) {
        boolean isAtomicOrGet = List.of("get", "add", "fadd", "cswap").contains(test);
        String layout = test.equals("get") ? " -D zcopy" : isAtomicOrGet ? " -D short" : "";
        return new Run(
                transport + " " + test,
                Map.of(),
                "ucx_perftest -p PORT",
                "ucx_perftest -p PORT 127.0.0.1 -t " + test + layout + " -x " + transport + " -d " + DEVICE + ":1 -n 1000",
                List.of("Final:"));
    }

    private static List<Run> ucp() {
        var runs = new ArrayList<Run>();
        for (String transport : List.of("rc_v", "ud_v")) {
            for (String test : List.of(
                    "tag_lat", "tag_bw", "tag_sync_lat", "ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_add", "ucp_fadd",
                    "ucp_swap", "ucp_cswap", "stream_lat", "stream_bw", "ucp_am_lat", "ucp_am_bw")) {
                runs.add(ucp(transport, test, 8, 1_000));
            }
            runs.add(ucp(transport, "tag_bw", 65_536, 1_000));
            runs.add(ucp(transport, "ucp_put_bw", 65_536, 1_000));
        }
        return runs;
    }

    private static Run ucp(String transport, String test, int bytes, int count) {
        return new Run(
                transport + " " + test + " of " + bytes + " bytes",
                overUcx(transport),
                "ucx_perftest -p PORT",
                "ucx_perftest -p PORT 127.0.0.1 -t " + test + " -s " + bytes + " -n " + count,
                List.of("Final:"));
    }

    private static Map<String, String> overUcx(String transport) {
        return Map.of("UCX_TLS", transport + ",self", "UCX_NET_DEVICES", DEVICE + ":1");
    }

    private Run openMpi(String transport, int processes) {
        return new Run(
                transport + ", " + processes + " processes: messages, collectives, one-sided, every byte checked",
                overUcx(transport),
                null,
                "mpirun.openmpi --allow-run-as-root --oversubscribe -n " + processes
                        + " --mca pml ucx --mca osc ucx --mca btl self " + folder.resolve("mpi.openmpi"),
                List.of(processes + " processes: done"));
    }

    private Run mpich(String transport, int processes) {
        return new Run(
                transport + ", " + processes + " processes: the same",
                overUcx(transport),
                null,
                "mpirun.mpich -n " + processes + " " + folder.resolve("mpi.mpich"),
                List.of(processes + " processes: done"));
    }

    private static List<Run> libfabric() {
        return List.of(
                pingpong("dgram", "verbs"),
                pingpong("rdm", "verbs;ofi_rxd"));
    }

    private static Run pingpong(String endpoint, String provider) {
        String program = "fi_pingpong -p " + provider + " -e " + endpoint + " -I 100 -c -B PORT";
        return new Run(
                endpoint + " of " + provider + ", data checked",
                Map.of(),
                program,
                program.replace("-B PORT", "-P PORT") + " 127.0.0.1",
                List.of("4k      100"));
    }

    private static Run fio(String verb) {
        String common = " --bs=64k --size=8m --iodepth=16";
        String engine = " --ioengine=rdma --port=PORT";
        return new Run(
                "verb " + verb,
                Map.of(),
                "fio --name=server --rw=read" + engine + common,
                "fio --name=client --rw=write" + engine + " --hostname=127.0.0.1 --verb=" + verb + common,
                List.of("err= 0"));
    }

    // ---- running them

    private void tryOut(Program program) throws Exception {
        for (String need : program.needs()) {
            if (!isInstalled(need)) {
                skipped++;
                say(program.name(), "skipped", need + " is not installed (Debian: " + program.where() + ")", 0);
                return;
            }
        }
        if (program.name().equals("openmpi") || program.name().equals("mpich")) {
            String source = sources.resolve("mpi.c").toString();
            String made = folder.resolve("mpi." + program.name()).toString();
            Ended compiled = start(List.of("mpicc." + program.name(), "-O1", "-w", "-o", made, source), Map.of()).await();
            if (compiled.code() != 0) {
                failed++;
                say(program.name(), "FAILED", "does not compile\n" + compiled.said(), 0);
                return;
            }
        }
        for (Run run : program.runs()) {
            tryOut(program.name(), run);
        }
    }

    private void tryOut(String name, Run run) throws Exception {
        long from = System.nanoTime();
        String port = freePort();
        Running server = run.server() == null ? null : startOver(run.server().replace(PORT, port), run.environment());
        Ended client;
        do { // until the server is there
            client = startOver(run.client().replace(PORT, port), run.environment()).await();
        } while (!isGood(client, run)
                && server != null
                && server.process().isAlive()
                && System.nanoTime() - from < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS / 4));
        Ended served = server == null ? null : server.await();
        double seconds = (System.nanoTime() - from) / 1e9;
        if (isGood(client, run) && (served == null || served.code() == 0)) {
            passed++;
            say(name, "ok", run.what(), seconds);
            return;
        }
        failed++;
        say(name, "FAILED", run.what(), seconds);
        System.out.println(indented(client + (served == null ? "" : "\n" + served)));
    }

    private static boolean isGood(Ended ended, Run run) {
        return ended.code() == 0 && run.says().stream().allMatch(ended.said()::contains);
    }

    private static void say(String name, String verdict, String what, double seconds) {
        System.out.printf("%-10s %-8s %5.1f s  %s%n", name, verdict, seconds, what);
    }

    private static String indented(String text) {
        return "    " + text.strip().replace("\n", "\n    ");
    }

    private record Ended(String command, int code, String said) {
        @Override
        public String toString() {
            return command + " ended with " + code + " and said:\n" + said;
        }
    }

    private record Running(String command, Process process, Path output) {
        Ended await() throws Exception {
            boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
            String said = Files.readString(output) + (ended ? "" : "\n(did not end)");
            return new Ended(command, ended ? process.exitValue() : -1, said);
        }
    }

    private Running startOver(String command, Map<String, String> environment) throws IOException {
        var words = new ArrayList<>(List.of(verbena.toString(), "run", "--device", DEVICE, "--"));
        words.addAll(Arrays.asList(command.split(" ")));
        return start(words, environment);
    }

    private Running start(List<String> words, Map<String, String> environment) throws IOException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        var builder = new ProcessBuilder(words)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }));
        return new Running(String.join(" ", words), process, output);
    }

    private static boolean isInstalled(String program) {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }

    private static String freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return Integer.toString(socket.getLocalPort());
        }
    }

    private void removeFolder() throws IOException {
        try (var below = Files.walk(folder)) {
            for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        }
    }
}
