package verbena.sim.scenario;

import java.util.List;
import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.Switch;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;

/// Sixteen hosts send to one at once. Without a rule the switch's buffer fills and pauses; DCQCN, Swift and HPCC
/// keep the queue short, and the link busy.
final class Incast implements Scenario {
    private static final int SENDERS = 16;
    private static final double RATE = 40e9;
    private static final long NANOS = 100_000_000;
    private static final long SAMPLE_NANOS = 500_000;
    /// Four links of 1 us, a full packet each way out, and an answer.
    private static final long BASE_NANOS = 4_600;
    /// The first readings, while senders slow down from the full rate, do not count.
    private static final int SKIPPED = 100;

    @Override
    public String name() {
        return "incast";
    }

    @Override
    public String title() {
        return "Sixteen hosts send to one: queue, pauses and shares with pauses alone, DCQCN, Swift and HPCC";
    }

    @Override
    public String source() {
        return "Zhu et al., SIGCOMM 2015, section 6; Kumar et al., Swift, SIGCOMM 2020; Li et al., HPCC, SIGCOMM 2019";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        Figures none = figures(outcome, seed, "pauses alone", SwitchOptions.LOSSLESS, Rules.none(), progress);
        Figures dcqcn =
                figures(outcome, seed, "DCQCN", Rules.marking(SwitchOptions.LOSSLESS, RATE), Rules.dcqcn(), progress);
        Figures swift = figures(outcome, seed, "Swift", SwitchOptions.LOSSLESS, Rules.swift(256), progress);
        Figures hpcc = figures(
                outcome, seed, "HPCC", SwitchOptions.LOSSLESS, Rules.none().hpcc(BASE_NANOS), progress);
        return outcome.atLeast("pauses alone: pauses asked for", none.pauses, 100)
                .atMost("HPCC: the same after the beginning", hpcc.pauses, 0)
                .atMost("HPCC: the mean queue over that with DCQCN", hpcc.queue / dcqcn.queue, 0.2)
                .atLeast("HPCC: goodput, Gbit/s of 36.9", hpcc.goodput, 32)
                .atLeast("HPCC: Jain's index of the shares", hpcc.fairness, 0.9)
                .atMost("DCQCN: pauses asked for after the beginning", dcqcn.pauses, 0)
                .atMost("Swift: the same", swift.pauses, 0)
                .atMost("DCQCN: the mean queue over that with pauses alone", dcqcn.queue / none.queue, 0.2)
                .atLeast("DCQCN: goodput, Gbit/s of 36.9", dcqcn.goodput, 32)
                .atLeast("Swift: goodput, Gbit/s of 36.9", swift.goodput, 32)
                .atLeast("DCQCN: Jain's index of the shares", dcqcn.fairness, 0.95)
                .atLeast("Swift: Jain's index of the shares", swift.fairness, 0.9)
                .done();
    }

    private record Figures(double goodput, double queue, double pauses, double fairness) {}

    private static Figures figures(
            Outcome.Builder outcome,
            long seed,
            String name,
            SwitchOptions options,
            TransferOptions rule,
            Consumer<String> progress) {
        progress.accept(name);
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, 1_000, options).star(network, SENDERS + 1);
        Switch middle = network.switches().getFirst();
        Host receiver = network.hosts().getFirst();
        List<Transfer> transfers = network.hosts().stream()
                .skip(1)
                .map(sender -> network.transfer(sender, receiver, 1L << 40, 0, rule))
                .toList();
        var samples = new Samples(network, SAMPLE_NANOS);
        samples.gauge("queue", () -> network.queued(middle, receiver) / 1e3);
        network.run(SKIPPED * SAMPLE_NANOS);
        long pausesBefore = middle.pausesSent();
        long[] before = transfers.stream().mapToLong(Transfer::arrivedBytes).toArray();
        network.run(NANOS);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < before.length; i++) {
            double rate = (transfers.get(i).arrivedBytes() - before[i]) * 8.0 / (NANOS - SKIPPED * SAMPLE_NANOS);
            sum += rate;
            squares += rate * rate;
        }
        double fairness = sum * sum / (before.length * squares);
        double queue = Samples.mean(samples.of("queue", SKIPPED));
        double pauses = middle.pausesSent() - pausesBefore;
        outcome.figure(name + ", goodput", sum, "Gbit/s")
                .figure(name + ", mean queue", queue, "KB")
                .figure(name + ", pauses", pauses, "")
                .figure(name + ", Jain's index", fairness, "")
                .plot(samples.plot("Queue to the receiver, " + name, "KB"));
        return new Figures(sum, queue, pauses, fairness);
    }
}
