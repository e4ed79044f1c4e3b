package verbena.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;

/// `verbena bench messages`: messages, active messages and calls beside those of other libraries.
@Command(
        name = "verbena bench messages",
        sortOptions = false,
        header = "Compare Verbena's messages and calls with those of others, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round, two processes of this host each: tagged messages, active messages and calls"
                    + " of verbena.messages over shm and rocev2, gRPC's calls, Netty's echo, and UCX (ucx_perftest over posix, sysv,"
                    + " cma and TCP) when it is installed. Prints medians, their spread, and whether each goal of"
                    + " docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage.")
public final class MessagesBench implements Callable<Integer> {
    private static final int REPEATS = 3;

    @Mixin
    private final Settings settings = new Settings();

    private MessagesBench() {}

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new MessagesBench(), args));
    }

    @Override
    public Integer call() throws Exception {
        settings.check();
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        var rounds = new Rounds(settings);
        var allocated = new LinkedHashMap<String, List<Double>>();
        var contenders = new ArrayList<Contender>();
        try {
            var pairs = new ArrayList<MessagesPair>();
            for (boolean inMemory : new boolean[] {true, false}) {
                MessagesPair pair = inMemory ? MessagesPair.inMemory() : MessagesPair.overLoopback();
                pairs.add(pair);
                contenders.add(pair);
            }
            contenders.add(Programs.ucxMessages());
            contenders.add(new JavaPair("grpc"));
            contenders.add(new JavaPair("netty"));
            rounds.start(contenders);
            rounds.warmUp();
            rounds.measure();
            for (MessagesPair pair : pairs) {
                allocated.put(pair.name(), new ArrayList<>());
                if (settings.isWanted(pair.name() + MessagesPair.ACTIVE + ", " + Sizes.text(Sizes.SMALL))) {
                    rounds.attempt(pair.name() + ", allocation", () -> measureAllocation(pair, allocated));
                }
            }
        } finally {
            contenders.forEach(Contender::close);
        }
        Goals goals = Goals.ofMessages(rounds.entries, allocated);
        rounds.describe(facts, "two processes on this host", goals.unknown);
        var report = new Report("Messages and calls, side by side", facts, goals.known, rounds.medians());
        settings.show(report, Table.text(report, rounds.entries));
        return 0;
    }

    private static void measureAllocation(MessagesPair pair, Map<String, List<Double>> allocated) throws Exception {
        double _ = pair.allocatedPerMessage(); // unfinished compilation allocates, too
        for (int i = 0; i < REPEATS; i++) {
            allocated.get(pair.name()).add(pair.allocatedPerMessage());
        }
    }
}
