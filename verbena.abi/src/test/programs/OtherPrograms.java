import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// `verbena test --programs [NAME ...]`: programs that people use, unmodified, over our libraries, between processes
/// on loopback. Prints a line for each run: what it is, whether it did what it should, how long it took. A program
/// that is not installed is a skip with the name of its package.
///
/// They run in a network namespace of their own where the launcher may make one: no port is taken there, and there
/// is an interface beside loopback, which some ask for.
///
/// Run by the JDK from this one file: `java OtherPrograms.java VERBENA SOURCES [NAME ...]`, or with `--share N/M` in place
/// of names.
public final class OtherPrograms {
    private static final long PATIENCE_SECONDS = 300;
    private static final String DEVICE = "rocev2_lo";
    private static final String PORT = "PORT";
    private static final String NUMBERS = "numbers.txt";
    private static final String ANSWER = "answer.http";
    private static final String FOLDER = "FOLDER";
    private static final String MAPPED = "mapped";
    private static final String HUGE = "--use_hugepages";
    private static final Path HUGE_PAGES = Path.of("/proc/sys/vm/nr_hugepages");
    /// Pages of 2 MiB; each of two processes takes some.
    private static final int HUGE_PAGES_WANTED = 8;
    /// Set in the launcher's namespace.
    private static final String INSIDE = "VERBENA_PROGRAMS_INSIDE";
    /// An interface of the namespace, its device, and its address.
    private static final String CABLE = "rocev2_west";

    private static final String ADDRESS = "10.77.0.1";

    /// @param name of the program, by which it is chosen
    /// @param needs programs that have to be there
    /// @param where Debian's packages
    /// @param runs what is tried, in turn
    private record Program(String name, List<String> needs, String where, List<Run> runs) {}

    /// When a server ends: with its client, when it is ended, or when it has what it counts.
    private enum End {
        WITH_CLIENT,
        STAYS,
        COUNTS
    }

    /// @param what is checked, in a few words
    /// @param device that the programs are to see
    /// @param environment beside ours
    /// @param server null for a program that needs none; ` < NAME` gives it that file of FOLDER
    /// @param client ends with 0 when all is well; PORT stands for a free port, FOLDER for a folder of this run of
    ///     tests
    /// @param says what its output has then
    /// @param end of the server
    private record Run(
            String what,
            String device,
            Map<String, String> environment,
            String server,
            String client,
            List<String> says,
            End end) {
        /// On loopback.
        Run(String what, Map<String, String> environment, String server, String client, List<String> says) {
            this(what, DEVICE, environment, server, client, says, End.WITH_CLIENT);
        }

        /// The same through memory that the processes share.
        Run overShm() {
            var ucx = new HashMap<>(environment);
            ucx.computeIfPresent("UCX_NET_DEVICES", (_, _) -> "shm:1");
            return new Run(what, "shm", ucx, server, client, says, end);
        }

        /// At the namespace's interface.
        static Run onCable(
                String what, Map<String, String> environment, String server, String client, List<String> says) {
            return new Run(what, CABLE, environment, server, client, says, End.WITH_CLIENT);
        }

        /// With memory of UCX on demand. Its `UCX_IB_REG_METHODS=odp` takes a key for flags at the end, in 1.13, and
        /// ends by SIGSEGV with half of all keys.
        Run onDemand() {
            var ucx = new HashMap<>(environment);
            ucx.put("UCX_IB_ODP_MAX_SIZE", "inf");
            return new Run(
                    what + ", memory on demand", device, ucx, server, client + " -B", says, end);
        }

        Run whoseServerStays() {
            return new Run(what, device, environment, server, client, says, End.STAYS);
        }

        /// With packets that may be lost: the client runs again until the server has counted enough.
        Run whoseServerCounts() {
            return new Run(what, device, environment, server, client, says, End.COUNTS);
        }
    }

    /// A program of ours for a library of others.
    ///
    /// @param source name in the folder of C programs, or a whole path
    private record Made(String name, String compiler, String source, List<String> options) {}

    private static final String UCX_EXAMPLE = "/usr/share/doc/libucx-dev/examples/ucp_client_server.c";
    private static final List<Made> MADE = List.of(
            new Made("openmpi", "mpicc.openmpi", "mpi.c", List.of()),
            new Made("shm", "mpicc.openmpi", "mpi.c", List.of()),
            new Made("mpich", "mpicc.mpich", "mpi.c", List.of()),
            new Made("rdmacm", "cc", UCX_EXAMPLE, List.of("-lucp", "-lucs")),
            new Made("librpma", "cc", "rpma.c", List.of("-lrpma", "-libverbs")),
            new Made("tgt", "cc", "iscsi.c", List.of("-liscsi")),
            new Made("gloo", "c++", "gloo.cc", List.of("-std=c++17", "-lgloo", "-libverbs", "-lpthread")));

    private final Path verbena;
    private final Path folder;
    private final Path sources;
    /// Every how many runs one is tried, and which.
    private int shares = 1;

    private int share;
    private int seen;
    private int passed;
    private int failed;
    private int skipped;

    private OtherPrograms(Path verbena, Path sources) throws IOException {
        this.verbena = verbena;
        this.sources = sources;
        this.folder = Files.createTempDirectory("verbena-programs");
        Files.writeString(folder.resolve(NUMBERS), numbers());
        Files.writeString(
                folder.resolve(ANSWER), "HTTP/1.0 200 OK\r\nContent-Length: 21\r\n\r\nserved by an rsocket\n");
        Files.createDirectory(folder.resolve("gloo.meeting"));
        Files.write(folder.resolve(MAPPED), new byte[1 << 20]);
        Files.writeString(folder.resolve("dat.conf"), """
                ofa-v2-cma u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "west 0" ""
                ofa-v2-scm u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "%s 1" ""
                """.formatted(CABLE));
    }

    private static String numbers() {
        return IntStream.range(0, 100_000).mapToObj(Integer::toString).collect(Collectors.joining("\n"));
    }

    /// @param arguments the start script, the folder of C programs, names of programs
    public static void main(String[] arguments) throws Exception {
        var all = new OtherPrograms(Path.of(arguments[0]).toAbsolutePath(), Path.of(arguments[1]).toAbsolutePath());
        var programs = all.programs();
        List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
        if (names.size() == 2 && names.getFirst().equals("--share")) {
            String[] share = names.getLast().split("/", -1);
            all.share = Integer.parseInt(share[0]);
            all.shares = Integer.parseInt(share[1]);
            names = List.of();
        }
        List<String> known = programs.stream().map(Program::name).toList();
        for (String name : names) {
            if (!known.contains(name)) {
                System.err.println("verbena test --programs: there is no program \"" + name + "\"; there are "
                        + String.join(", ", known));
                System.exit(2);
            }
        }
        if (System.getenv(INSIDE) == null) {
            System.out.println("(no network namespace can be made here: what needs an interface beside loopback is skipped)");
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
                new Program("perftest", List.of("ib_write_bw"), "perftest", perftest()),
                new Program("uct", List.of("ucx_perftest"), "ucx-utils", uct()),
                new Program("ucp", List.of("ucx_perftest"), "ucx-utils", ucp()),
                new Program(
                        "openmpi",
                        List.of("mpirun.openmpi", "mpicc.openmpi"),
                        "openmpi-bin libopenmpi-dev",
                        List.of(openMpi("openmpi", "rc_v", 2), openMpi("openmpi", "ud_v", 2))),
                new Program(
                        "mpich",
                        List.of("mpirun.mpich", "mpicc.mpich"),
                        "mpich libmpich-dev",
                        List.of(mpich("rc_v", 2), mpich("rc_v", 3))),
                new Program("rdmacm", List.of("cc", UCX_EXAMPLE), "libucx-dev gcc", List.of(
                        ucxByRdmacm("stream"), ucxByRdmacm("tag"), ucxByRdmacm("am"))),
                new Program("libfabric", List.of("fi_pingpong"), "libfabric-bin", libfabric()),
                new Program("librpma", List.of("cc", "/usr/include/librpma.h"), "librpma-dev gcc", List.of(
                        rpma("queue"), rpma("queues"), rpma("shared"))),
                new Program("udapl", List.of("dtest"), "dapl2-utils", List.of(
                        dtest("ofa-v2-cma", ""), dtest("ofa-v2-cma", " -p"), dtest("ofa-v2-scm", ""))),
                new Program("gloo", List.of("c++", "/usr/include/gloo/config.h"), "libgloo-dev g++", List.of(gloo(2))),
                new Program("qemu", List.of("qemu-system-x86_64", "python3"), "qemu-system-x86 python3", List.of(
                        qemu("pages as they are asked for", ""), qemu("all memory registered at once", " pin"))),
                new Program(
                        "tgt",
                        List.of("tgtd", "python3", "cc", "/usr/include/iscsi/iscsi.h"),
                        "tgt python3 gcc libiscsi-dev",
                        List.of(iscsi("writes and reads, every byte checked", FOLDER + "/tgt URL NAME", "iscsi: done"))),
                new Program("libiscsi", List.of("tgtd", "python3", "iscsi-perf"), "tgt python3 libiscsi-bin", List.of(
                        iscsi("what is this disk", "iscsi-inq -i NAME URL", "VIRTUAL-DISK"),
                        iscsi("32 reads at once", "iscsi-perf -i NAME -t 1 URL", "finished."))),
                new Program(
                        "ceph",
                        List.of("ceph-mon", "ceph-mgr", "ceph-osd", "rados", "python3"),
                        "ceph-mon ceph-mgr ceph-osd python3",
                        List.of(ceph("wired up by TCP", "plain"), ceph("wired up by rdma_cm", "cm"))),
                new Program("fio", List.of("fio"), "fio", List.of(fio("write"), fio("read"), fio("send"))),
                new Program("qperf", List.of("qperf"), "qperf", List.of(qperf())),
                new Program("shm", List.of("ucx_perftest", "mpirun.openmpi", "mpicc.openmpi", "fio", "qperf"),
                        "ucx-utils openmpi-bin libopenmpi-dev fio qperf", overShm()),
                new Program("ibstatus", List.of("ibstatus"), "infiniband-diags", List.of(new Run(
                        "a script that reads /sys",
                        Map.of(),
                        null,
                        "ibstatus",
                        List.of(DEVICE, "4: ACTIVE", "link_layer:\t Ethernet")))),
                new Program(
                        "infiniband-diags",
                        List.of("ibnetdiscover", "saquery", "python3"),
                        "infiniband-diags python3",
                        List.of(overFabric("26 programs over a fabric with our manager", "diags"))),
                new Program(
                        "opensm",
                        List.of("opensm", "sminfo", "python3"),
                        "opensm infiniband-diags python3",
                        List.of(overFabric("brings a fabric up that has no manager", "opensm"))),
                new Program("iperf3", List.of("iperf3", librspreload()), "iperf3 librdmacm1", iperf3()),
                new Program("ncat", List.of("ncat", librspreload()), "ncat librdmacm1", List.of(overRsockets(
                        "a file, every byte checked",
                        "ncat -l 127.0.0.1 PORT --send-only < " + NUMBERS,
                        "ncat 127.0.0.1 PORT --recv-only",
                        numbers()))),
                // ncat stays until curl leaves: after a close, the other end of an rsocket cannot send
                new Program("curl", List.of("curl", "ncat", librspreload()), "curl ncat librdmacm1", List.of(overRsockets(
                        "an answer by HTTP",
                        "ncat -l 127.0.0.1 PORT < " + ANSWER,
                        "curl -s http://127.0.0.1:PORT/",
                        "served by an rsocket"))),
                new Program("rstream", List.of("rstream"), "rdmacm-utils", List.of(
                        rsockets("blocking, data checked", "rstream -p PORT -S 70000 -C 20 -T v -T b"),
                        rsockets("asynchronous, data checked", "rstream -p PORT -S 4000 -C 20 -T v -T a"))),
                new Program("udpong", List.of("udpong"), "rdmacm-utils", List.of(
                        udpong("datagrams one way", "-C 1000 -S 1000"),
                        udpong("datagrams there and back", "-C 20 -S 1536 -T e"))));
    }

    private List<Run> overShm() {
        return Stream.of(
                        ucp("rc_v", "tag_lat", 8, 1_000),
                        ucp("rc_v", "ucp_put_lat", 8, 1_000),
                        ucp("rc_v", "ucp_get", 8, 1_000),
                        ucp("rc_v", "ucp_fadd", 8, 1_000),
                        ucp("rc_v", "tag_bw", 65_536, 1_000),
                        ucp("rc_v", "ucp_put_bw", 65_536, 1_000),
                        ucp("ud_v", "tag_lat", 8, 1_000),
                        openMpi("shm", "rc_v", 2),
                        fio("write"),
                        fio("read"),
                        qperf())
                .map(Run::overShm)
                .toList();
    }

    /// Of the options of perftest, those that say where the memory comes from.
    private List<Run> perftest() {
        var runs = new ArrayList<Run>();
        Map<String, String> kinds = new LinkedHashMap<>();
        kinds.put("memory on demand", "--odp");
        kinds.put("a mapped file", "--mmap=" + folder.resolve(MAPPED));
        kinds.put("huge pages", HUGE);
        kinds.forEach((what, option) -> {
            for (String test : List.of("ib_write_bw", "ib_read_bw", "ib_send_bw")) {
                String program = test + " -F -u 20 -n 100 -p PORT " + option;
                runs.add(new Run(
                        test + ", " + what, Map.of(), program, program + " 127.0.0.1", List.of("65536      100")));
            }
        });
        runs.addAll(frames());
        return runs;
    }

    /// Whole Ethernet frames (`IBV_QPT_RAW_PACKET`) and flows.
    private static List<Run> frames() {
        String ours = "02:00:00:00:00:01";
        String theirs = "02:00:00:00:00:02";
        String bandwidth = "raw_ethernet_bw -d " + DEVICE + " -F -s 256 -n 200 ";
        return List.of(
                new Run(
                                "raw_ethernet_bw",
                                Map.of(),
                                bandwidth + "--server -B " + theirs + " -E " + ours,
                                bandwidth + "--client -B " + ours + " -E " + theirs,
                                List.of("256        200"))
                        .whoseServerCounts(),
                new Run(
                        "raw_ethernet_fs_rate",
                        Map.of(),
                        null,
                        "raw_ethernet_fs_rate --server -d " + DEVICE + " -B " + ours + " -n 100",
                        List.of("fs_avg_time")));
    }

    private static List<Run> uct() {
        var runs = new ArrayList<Run>();
        for (String test : List.of("am_lat", "am_bw", "put_lat", "put_bw", "get", "add_lat", "fadd", "cswap")) {
            runs.add(uct("rc_verbs", test));
        }
        runs.add(uct("ud_verbs", "am_lat"));
        runs.add(uct("ud_verbs", "am_bw"));
        return runs;
    }

    private static Run uct(String transport, String test) {
        boolean isAtomicOrGet = List.of("get", "add_lat", "fadd", "cswap").contains(test);
        String layout = test.equals("get") ? " -D zcopy -s 1024" : isAtomicOrGet ? " -D short" : "";
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
        for (String test : List.of("ucp_put_bw", "ucp_get")) {
            runs.add(ucp("rc_v", test, 65_536, 1_000).onDemand());
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

    private Run openMpi(String program, String transport, int processes) {
        return new Run(
                transport + ", " + processes + " processes: messages, collectives, one-sided, every byte checked",
                overUcx(transport),
                null,
                "mpirun.openmpi --allow-run-as-root --oversubscribe -n " + processes
                        + " --mca pml ucx --mca osc ucx --mca btl self " + folder.resolve(program),
                List.of(processes + " processes: done"));
    }

    private Run mpich(String transport, int processes) {
        return new Run(
                transport + ", " + processes + " processes: the same",
                overUcx(transport),
                null,
                "mpirun.mpich -n " + processes + " " + folder.resolve("mpich"),
                List.of(processes + " processes: done"));
    }

    /// UCX's own example; the addresses are rdma_cm's, not UCX's over TCP.
    private static Run ucxByRdmacm(String kind) {
        return Run.onCable(
                        kind + ", wired up by rdma_cm",
                        Map.of("UCX_TLS", "rc_v", "UCX_SOCKADDR_TLS_PRIORITY", "rdmacm"),
                        FOLDER + "/rdmacm -p PORT -i 20 -c " + kind,
                        FOLDER + "/rdmacm -p PORT -i 20 -c " + kind + " -a " + ADDRESS,
                        List.of("iteration #20"))
                .whoseServerStays();
    }

    private static List<Run> libfabric() {
        return List.of(
                pingpong("dgram", "verbs"),
                pingpong("msg", "verbs"),
                pingpong("rdm", "verbs;ofi_rxm"),
                pingpong("rdm", "verbs;ofi_rxd"));
    }

    private static Run pingpong(String endpoint, String provider) {
        String program = "fi_pingpong -p " + provider + " -e " + endpoint + " -I 100 -c -B PORT";
        return Run.onCable(
                endpoint + " of " + provider + ", data checked",
                Map.of(),
                program,
                program.replace("-B PORT", "-P PORT") + " " + ADDRESS,
                List.of(endpoint.equals("dgram") ? "1k      100" : "1m      100"));
    }

    private static Run rpma(String queues) {
        String program = FOLDER + "/librpma " + ADDRESS + " PORT " + queues;
        return Run.onCable(
                "what its examples try, receives: " + queues,
                Map.of(),
                program,
                program + " client",
                List.of("librpma: done"));
    }

    private static Run dtest(String provider, String waiting) {
        String program = "dtest -P " + provider + " -b 65536 -B 10" + waiting;
        return Run.onCable(
                provider + (waiting.isEmpty() ? ", waits for events" : ", polls"),
                Map.of("DAT_OVERRIDE", FOLDER + "/dat.conf"),
                program + " -s",
                program + " -h " + ADDRESS,
                List.of("DAPL Test Complete. PASSED"));
    }

    private static Run gloo(int processes) {
        String program = FOLDER + "/gloo " + CABLE + " " + FOLDER + "/gloo.meeting";
        return Run.onCable(
                processes + " processes: sums and broadcasts, every number checked",
                Map.of(),
                program + " 0 " + processes,
                program + " 1 " + processes,
                List.of("rank 1 of " + processes + ": done"));
    }

    private static Run qemu(String how, String pin) {
        return Run.onCable(
                "a guest of 64 MB moves by rdma:, " + how,
                Map.of(),
                null,
                "python3 SOURCES/../programs/qemu_migration.py FOLDER " + ADDRESS + " PORT" + pin,
                List.of("completed", "runs on"));
    }

    /// On a soft fabric of its own.
    private Run overFabric(String what, String program) {
        return new Run(
                what,
                Map.of(),
                null,
                "python3 SOURCES/../programs/fabric_programs.py " + verbena + " FOLDER " + program,
                List.of("all done"));
    }

    /// A disk of tgtd by iSER.
    private static Run iscsi(String what, String program, String says) {
        return Run.onCable(
                what,
                Map.of(),
                null,
                "python3 SOURCES/../programs/iscsi_disk.py FOLDER " + ADDRESS + " " + program,
                List.of(says));
    }

    private static Run ceph(String what, String how) {
        return new Run(
                "rados bench, and an object compared, " + what,
                Map.of(),
                null,
                "python3 SOURCES/../programs/ceph_cluster.py FOLDER 127.0.0.1 " + DEVICE + " " + how,
                List.of("ceph: the object is the same"));
    }

    private static List<Run> iperf3() {
        var runs = new ArrayList<Run>();
        Map<String, String> ways = new LinkedHashMap<>();
        ways.put("one stream", "");
        ways.put("two streams", " -P 2");
        ways.put("the other way", " -R");
        ways.put("both ways", " --bidir");
        ways.forEach((what, way) -> runs.add(overRsockets(
                what, "iperf3 -s -1 -B 127.0.0.1 -p PORT", "iperf3 -c 127.0.0.1 -p PORT -t 1" + way, "iperf Done.")));
        return runs;
    }

    /// A program of sockets, which rdma-core's library makes rsockets.
    private static Run overRsockets(String what, String server, String client, String says) {
        return new Run(what, Map.of("LD_PRELOAD", librspreload()), server, client, List.of(says));
    }

    /// Debian has it in a folder of the architecture's.
    private static String librspreload() {
        try (var found = Files.find(Path.of("/usr/lib"), 3, (path, _) -> path.endsWith("rsocket/librspreload.so"))) {
            return found.map(Path::toString).findFirst().orElse("/usr/lib/rsocket/librspreload.so");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Run rsockets(String what, String program) {
        return new Run(what, Map.of(), program + " -b 127.0.0.1", program + " -s 127.0.0.1", List.of("Gb/sec"));
    }

    private static Run udpong(String what, String options) {
        return new Run(
                        what,
                        Map.of(),
                        "udpong -b 127.0.0.1 -p PORT",
                        "udpong -s 127.0.0.1 -p PORT " + options,
                        List.of("custom"))
                .whoseServerStays();
    }

    private static Run fio(String verb) {
        String common = " --bs=64k --iodepth=16 --size="
                + (verb.equals("send") ? "1m" : "8m"); // it asks for no RNR retries: no more SENDs than receives
        String engine = " --ioengine=rdma --port=PORT";
        return new Run(
                "verb " + verb,
                Map.of(),
                "fio --name=server --rw=read" + engine + common,
                "fio --name=client --rw=write" + engine + " --hostname=127.0.0.1 --verb=" + verb + common,
                List.of("err= 0", "WRITE: bw="));
    }

    private static Run qperf() {
        return new Run(
                "rc, connections by rdma_cm",
                Map.of(),
                "qperf -lp PORT",
                "qperf -lp PORT -cm 1 -t 1 127.0.0.1 rc_lat rc_bw rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw"
                        + " quit",
                List.of("rc_rdma_write_bw", "bw  ="));
    }

    // ---- running them

    private void tryOut(Program program) throws Exception {
        List<Run> runs =
                program.runs().stream().filter(_ -> seen++ % shares == share).toList();
        if (runs.isEmpty()) {
            return;
        }
        for (String need : program.needs()) {
            if (!isInstalled(need)) {
                skipped++;
                say(program.name(), "skipped", need + " is not installed (Debian: " + program.where() + ")", 0);
                return;
            }
        }
        for (Made made : MADE) {
            if (made.name().equals(program.name()) && !compiles(made)) {
                return;
            }
        }
        for (Run run : runs) {
            tryOut(program.name(), run);
        }
    }

    private boolean compiles(Made made) throws Exception {
        String output = folder.resolve(made.name()).toString();
        String source = sources.resolve(made.source()).toString(); // a whole path stays one
        var words = new ArrayList<>(List.of(made.compiler(), "-O1", "-w", "-o", output, source));
        words.addAll(made.options());
        Ended compiled = start(words, Map.of()).await();
        if (compiled.code() != 0) {
            failed++;
            say(made.name(), "FAILED", "does not compile\n" + compiled.said(), 0);
        }
        return compiled.code() == 0;
    }

    private void tryOut(String name, Run run) throws Exception {
        if (!run.client().contains(HUGE)) {
            tryOutHere(name, run);
            return;
        }
        int before = hugePages();
        try {
            reserve(before + HUGE_PAGES_WANTED);
            if (hugePages() < before + HUGE_PAGES_WANTED) {
                skipped++;
                say(name, "skipped", run.what() + ": none can be reserved here (vm.nr_hugepages, by root)", 0);
                return;
            }
            tryOutHere(name, run);
        } finally {
            reserve(before);
        }
    }

    private static int hugePages() throws IOException {
        return Files.exists(HUGE_PAGES) ? Integer.parseInt(Files.readString(HUGE_PAGES).strip()) : 0;
    }

    /// Asks the kernel for so many huge pages, where it may be asked.
    private static void reserve(int wanted) throws IOException {
        if (Files.isWritable(HUGE_PAGES)) {
            Files.writeString(HUGE_PAGES, Integer.toString(wanted));
        }
    }

    private void tryOutHere(String name, Run run) throws Exception {
        if (run.device().equals(CABLE) && System.getenv(INSIDE) == null) {
            skipped++;
            say(name, "skipped", run.what() + ": needs a network namespace", 0);
            return;
        }
        long from = System.nanoTime();
        String port = freePort();
        Running server = run.server() == null ? null : startOver(run, run.server(), port);
        Ended client;
        do { // until the server is there
            client = startOver(run, run.client(), port).await();
        } while (server != null
                && (run.end() == End.COUNTS ? !server.process().waitFor(1, TimeUnit.SECONDS) : !isGood(client, run))
                && server.process().isAlive()
                && System.nanoTime() - from < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS / 2));
        if (run.end() == End.STAYS) {
            server.process().destroy();
        }
        Ended served = server == null ? null : server.await();
        double seconds = (System.nanoTime() - from) / 1e9;
        if (isGood(client, run) && (served == null || served.code() == 0 || run.end() == End.STAYS)) {
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

    private Running startOver(Run run, String command, String port) throws IOException {
        var words = new ArrayList<>(List.of(verbena.toString(), "run", "--device", run.device(), "--"));
        String[] andInput = command.split(" < ");
        for (String word : andInput[0].split(" ")) {
            words.add(filledIn(word).replace(PORT, port));
        }
        File input = andInput.length > 1 ? folder.resolve(andInput[1]).toFile() : new File("/dev/null");
        var environment = new HashMap<String, String>();
        run.environment().forEach((name, value) -> environment.put(name, filledIn(value)));
        return start(words, environment, input);
    }

    private String filledIn(String text) {
        return text.replace(FOLDER, folder.toString()).replace("SOURCES", sources.toString());
    }

    private Running start(List<String> words, Map<String, String> environment) throws IOException {
        return start(words, environment, new File("/dev/null"));
    }

    private Running start(List<String> words, Map<String, String> environment, File input) throws IOException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        var builder = new ProcessBuilder(words)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(input)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }));
        return new Running(String.join(" ", words), process, output);
    }

    /// @param program by name, or a library by path
    private static boolean isInstalled(String program) {
        return program.startsWith("/")
                ? Files.exists(Path.of(program))
                : Arrays.stream(System.getenv("PATH").split(":"))
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
