package verbena.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;

/// A command that compares Verbena over one device with other contenders, in one run: all take turns, round by
/// round, so that other load on the machine hits all of them.
abstract class Comparison implements Callable<Integer> {
    private static final int REPEATS = 3;
    private static final int IDLE_REPEATS = 2;
    private static final int IDLE_MEASURED = 1_000;
    /// The keep-alive of connections, so that each window has one.
    private static final double IDLE_SECONDS = 5;

    private final String device;

    @Mixin
    private final Settings settings = new Settings();

    /// @param device the name of Verbena's
    Comparison(String device) {
        this.device = device;
    }

    abstract VerbenaPair verbena() throws Exception;

    /// Returns the contenders that Verbena is compared with.
    abstract List<Contender> others() throws Exception;

    abstract Goals goals(Collection<Entry> entries, Costs costs);

    @Override
    public Integer call() throws Exception {
        settings.check();
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        var rounds = new Rounds(settings);
        var costs = new Costs();
        var contenders = new ArrayList<Contender>();
        try {
            VerbenaPair verbena = verbena();
            contenders.add(verbena);
            contenders.addAll(others());
            rounds.start(contenders);
            rounds.warmUp();
            rounds.measure();
            if (settings.isWanted(VerbenaPair.BATCHES + ", " + Sizes.text(Sizes.SMALL))) {
                Rounds.progress("allocation");
                rounds.attempt("allocation", () -> {
                    double _ = verbena.allocatedPerOperation(); // unfinished compilation allocates, too
                    for (int i = 0; i < REPEATS; i++) {
                        costs.allocated().add(verbena.allocatedPerOperation());
                    }
                });
            }
        } finally {
            contenders.forEach(Contender::close);
        }
        if (settings.isWanted(ConnectionsPair.IDLE)) {
            Rounds.progress(ConnectionsPair.IDLE);
            rounds.attempt(ConnectionsPair.IDLE, () -> idle(costs));
        }
        Rounds.progress("");
        Goals goals = goals(rounds.entries, costs);
        rounds.describe(facts, "two processes on this host", goals.unknown);
        var report = new Report("Side by side", facts, goals.known, rounds.medians());
        settings.show(report, Table.text(report, rounds.entries));
        return 0;
    }

    private void idle(Costs costs) throws Exception {
        try (var pair = new ConnectionsPair(device)) {
            pair.make(ConnectionsPair.IDLE_COUNT, 1);
            pair.settle();
            for (int i = 0; i < IDLE_REPEATS; i++) {
                costs.idle().add(pair.percent(IDLE_SECONDS));
            }
            double _ = pair.bytesOfOne(IDLE_MEASURED); // code is compiled, and heaps grow to their size
            for (int i = 0; i < REPEATS; i++) {
                costs.bytes().add(pair.bytesOfOne(IDLE_MEASURED));
            }
        }
    }
}
