package verbena.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;

/// `verbena bench nio`: unmodified programs over the JDK's channels, and over Verbena's by the agent.
@Command(
        name = "verbena bench nio",
        sortOptions = false,
        header = "Compare Verbena under java.nio with the JDK's own channels, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round, two processes of this host each: Netty's echo and a stream between two"
                    + " blocking socket channels, over the JDK's TCP, and with the agent over shm, rocev2 and iwarp."
                    + " The programs are the same; only the options of their virtual machines differ. The echo runs"
                    + " over the transport of verbena.netty too. Prints"
                    + " medians, and whether each goal of docs/performance.md is reached. Nothing else should run."
                    + " With --busy, busy threads run during the rounds, but not while all warm up.",
            "",
            "VERBENA_HADRONIO names the class path of hadroNIO, if it is to take part: docs/performance.md.",
            ""
        },
        footer = "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage.")
public final class NioBench implements Callable<Integer> {

    /// The options with which all measured bytes go by RDMA, however busy the machine is.
    private static final List<String> BY_RDMA = List.of("-Dverbena.nio.begin=rdma", "-Dverbena.nio.wait=5000");

    private static final int BUSY_MAX = 64;

    @Mixin
    private final Settings settings = new Settings();

    @Option(
            names = "--busy",
            paramLabel = "N",
            description =
                    "Beside so many threads that want a processor all the time (default 0). Other goals hold then.")
    private int busy;

    @Parameters(hidden = true, paramLabel = "AGENT", description = "The agent's jar.")
    private String agent;

    private NioBench() {}

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new NioBench(), args));
    }

    private NioPair over(String kind) {
        return NioPair.unmodified(
                "Verbena " + kind, byRdma("-javaagent:" + agent, "-Dverbena.nio.device=" + kind + "@127.0.0.1"));
    }

    private static List<String> byRdma(String... options) {
        return Stream.concat(BY_RDMA.stream(), Stream.of(options)).toList();
    }

    @Override
    public Integer call() throws Exception {
        settings.check();
        settings.require(busy >= 0 && busy <= BUSY_MAX, "--busy: 0 to " + BUSY_MAX + ", got " + busy);
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        var rounds = new Rounds(settings);
        var pairs = new ArrayList<NioPair>();
        try (Neighbours neighbours = Neighbours.start(busy)) {
            pairs.add(NioPair.unmodified(NioPair.JDK, List.of("-Dio.netty.transport.noNative=true")));
            pairs.add(NioPair.unmodified(NioPair.SHM, byRdma("-javaagent:" + agent)));
            pairs.add(over("rocev2"));
            pairs.add(over("iwarp"));
            String hadroNio = System.getenv("VERBENA_HADRONIO");
            if (hadroNio != null) {
                pairs.add(NioPair.ofHadroNio(hadroNio));
            }
            pairs.add(NioPair.ofTransport("verbena.netty shm", List.of()));
            pairs.add(NioPair.ofTransport(
                    "verbena.netty shm, registered",
                    List.of(
                            "-D" + NettyTransport.DEVICE + "=shm@127.0.0.1",
                            "-D" + NettyTransport.REGISTERED + "=true")));
            pairs.add(NioPair.ofTransport(
                    "verbena.netty rocev2", List.of("-D" + NettyTransport.DEVICE + "=rocev2@127.0.0.1")));
            rounds.start(pairs);
            rounds.warmUp();
            neighbours.go();
            rounds.measure();
        } finally {
            pairs.forEach(NioPair::close);
        }
        Goals goals = busy == 0 ? Goals.underNio(rounds.entries) : Goals.underNioBesideOthers(rounds.entries);
        String what = "two processes on this host" + (busy == 0 ? "" : ", beside " + busy + " busy threads");
        rounds.describe(facts, what, goals.unknown);
        var report = new Report("Under java.nio, side by side", facts, goals.known, rounds.medians());
        settings.show(report, Table.echoes(report, rounds.entries, NioPair.SIZES));
        return 0;
    }
}
