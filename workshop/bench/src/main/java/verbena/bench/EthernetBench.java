package verbena.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;

/// `verbena bench ethernet`: the links of `rocev2` over a pair of virtual interfaces.
@Command(
        name = "verbena bench ethernet",
        sortOptions = false,
        header = "Compare UDP sockets, packet sockets and AF_XDP, side by side in one run.",
        description = {
            "",
            "Measures rocev2 in turn, round by round, between network namespaces that pairs of virtual interfaces join:"
                    + " over UDP sockets, over packet sockets (link=raw) and over AF_XDP (link=xdp). Prints medians, their"
                    + " spread, and whether each goal of docs/performance.md is reached. Needs root. Nothing else"
                    + " should run.",
            ""
        },
        footer = "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage.")
public final class EthernetBench implements Callable<Integer> {
    private static final int REPEATS = 3;

    @Mixin
    private final Settings settings = new Settings();

    private EthernetBench() {}

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new EthernetBench(), args));
    }

    @Override
    public Integer call() throws Exception {
        settings.check();
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        var rounds = new Rounds(settings);
        var allocated = new ArrayList<Double>();
        var pairs = new ArrayList<CablePair>();
        try {
            pairs.add(new CablePair(CablePair.UDP, "", 1));
            pairs.add(new CablePair(CablePair.PACKET, ",link=raw", 2));
            CablePair xdp = new CablePair(CablePair.XDP, ",link=xdp", 3);
            pairs.add(xdp);
            rounds.start(pairs);
            rounds.warmUp();
            rounds.measure();
            if (settings.isWanted(CablePair.XDP)) {
                rounds.attempt("allocation", () -> {
                    double _ = xdp.allocatedPerOperation(); // unfinished compilation allocates, too
                    for (int i = 0; i < REPEATS; i++) {
                        allocated.add(xdp.allocatedPerOperation());
                    }
                });
            }
        } finally {
            pairs.forEach(CablePair::close);
        }
        Goals goals = Goals.overACable(rounds.entries, List.copyOf(allocated));
        rounds.describe(facts, "two processes, a pair of virtual interfaces of 9000 bytes between them", goals.unknown);
        var report = new Report("Ethernet, side by side", facts, goals.known, rounds.medians());
        settings.show(report, Table.text(report, rounds.entries));
        return 0;
    }
}
