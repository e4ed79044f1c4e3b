package verbena.sim.scenario;

import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.MessageSizes;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.TransferOptions;
import verbena.sim.ethernet.Workloads;

/// Go-back-N needs a network that loses nothing. Selective repeat with a bound on what is under way does not, and is
/// faster without pauses than go-back-N with them.
final class LossRecovery implements Scenario {
    private static final double RATE = 40e9;
    private static final long DELAY_NANOS = 2_000;
    private static final long END_NANOS = 1_000_000_000;
    /// The bandwidth-delay product of the longest way in packets of 1,000 bytes, as in the paper.
    private static final int WINDOW = 110;
    /// Twice the bandwidth-delay product for each port of six.
    private static final long BUFFER_BYTES = 6 * 240_000;

    private final long lastNanos;

    /// @param lastNanos messages begin until then, in virtual time
    LossRecovery(long lastNanos) {
        this.lastNanos = lastNanos;
    }

    @Override
    public String name() {
        return "irn";
    }

    @Override
    public String title() {
        return "70 % load on a fat tree: go-back-N with and without pauses against selective repeat";
    }

    @Override
    public String source() {
        return "Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, figures 1 to 3";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        var pauses =
                SwitchOptions.LOSSLESS.buffer(BUFFER_BYTES).headroom(40_000).alpha(1);
        var drops = SwitchOptions.LOSSY.buffer(BUFFER_BYTES);
        progress.accept("go-back-N with pauses");
        Slowdowns roce = slowdowns(outcome, "go-back-N, pauses", seed, pauses, Rules.none());
        progress.accept("go-back-N without pauses");
        Slowdowns lossy =
                slowdowns(outcome, "go-back-N, drops", seed, drops, Rules.none().timeout(320_000));
        progress.accept("selective repeat without pauses");
        Slowdowns irn = slowdowns(
                outcome,
                "selective repeat, drops",
                seed,
                drops,
                TransferOptions.window(WINDOW).selective(320_000, 100_000));
        return outcome.atLeast(
                        "mean slow-down: go-back-N with pauses over selective repeat without", roce.mean / irn.mean, 1)
                .atLeast("mean slow-down: go-back-N without pauses over that with them", lossy.mean / roce.mean, 1)
                .atMost("messages that did not end, of all three", roce.open + lossy.open + irn.open, 0)
                .done();
    }

    private record Slowdowns(double mean, double p99, long open) {}

    private Slowdowns slowdowns(
            Outcome.Builder outcome, String name, long seed, SwitchOptions options, TransferOptions rule) {
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, DELAY_NANOS, options).fatTree(network, 6);
        Workloads.random(network, seed, MessageSizes.RPC_AND_STORAGE, 0.7, lastNanos, rule);
        boolean isOver = network.runToEnd(END_NANOS);
        double[] slowdowns = network.transfers().stream()
                .filter(transfer -> transfer.isOver())
                .mapToDouble(transfer -> transfer.slowdown())
                .toArray();
        double[] times = network.transfers().stream()
                .filter(transfer -> transfer.isOver())
                .mapToDouble(transfer -> transfer.nanos() / 1e3)
                .toArray();
        long open = isOver ? 0 : network.transfers().size() - network.endedTransfers();
        double mean = Samples.mean(slowdowns);
        double p99 = Samples.percentile(times, 0.99);
        outcome.figure(name + ", mean slow-down", mean, "x")
                .figure(name + ", mean completion", Samples.mean(times), "us")
                .figure(name + ", 99th percentile of completions", p99, "us")
                .figure(
                        name + ", dropped",
                        network.switches().stream()
                                .mapToLong(each -> each.dropped())
                                .sum(),
                        "packets");
        return new Slowdowns(mean, p99, open);
    }
}
