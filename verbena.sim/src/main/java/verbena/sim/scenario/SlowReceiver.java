package verbena.sim.scenario;

import java.util.List;
import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;

/// One host takes in less than its link brings. It pauses its switch, the switch pauses the senders, and their
/// messages to other hosts wait too. A rule that slows the senders to that host down leaves the others alone.
final class SlowReceiver implements Scenario {
    private static final double RATE = 40e9;
    private static final double SLOW = 5e9;
    private static final long ROOM_BYTES = 200_000;
    private static final int SENDERS = 4;
    private static final long WARM_NANOS = 60_000_000;
    private static final long NANOS = 40_000_000;

    @Override
    public String name() {
        return "slow-receiver";
    }

    @Override
    public String title() {
        return "One slow host pauses its senders, and with them what they send to others";
    }

    @Override
    public String source() {
        return "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.4";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        progress.accept("all hosts fast");
        double fast = others(outcome, "all hosts fast", seed, false, SwitchOptions.LOSSLESS, Rules.none());
        progress.accept("one slow, pauses alone");
        double slow = others(outcome, "one slow, pauses alone", seed, true, SwitchOptions.LOSSLESS, Rules.none());
        progress.accept("one slow, DCQCN");
        double ruled = others(
                outcome, "one slow, DCQCN", seed, true, Rules.marking(SwitchOptions.LOSSLESS, RATE), Rules.dcqcn());
        return outcome.atMost("pauses alone: goodput to the fast host, one slow over all fast", slow / fast, 0.5)
                .atLeast("one slow host: goodput to the fast one, DCQCN over pauses alone", ruled / slow, 2)
                .done();
    }

    /// Returns the goodput of all messages to the host that is never slow, in Gbit/s.
    private static double others(
            Outcome.Builder outcome,
            String name,
            long seed,
            boolean isSlow,
            SwitchOptions options,
            TransferOptions rule) {
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, 1_000, options).star(network, SENDERS + 2);
        Host slow = network.hosts().get(SENDERS);
        Host fast = network.hosts().get(SENDERS + 1);
        if (isSlow) {
            slow.slowDown(SLOW, ROOM_BYTES);
        }
        for (Host sender : network.hosts().subList(0, SENDERS)) {
            network.transfer(sender, slow, 1L << 40, 0, rule);
        }
        List<Transfer> others = network.hosts().subList(0, SENDERS).stream()
                .map(sender -> network.transfer(sender, fast, 1L << 40, 0, rule))
                .toList();
        network.run(WARM_NANOS);
        long before = arrived(others);
        long pausesBefore = network.switches().getFirst().pausesSent();
        network.run(WARM_NANOS + NANOS);
        double gigabits = (arrived(others) - before) * 8.0 / NANOS;
        outcome.figure(name + ": goodput to the fast host", gigabits, "Gbit/s")
                .figure(
                        name + ": pauses of senders",
                        network.switches().getFirst().pausesSent() - pausesBefore,
                        "");
        return gigabits;
    }

    private static long arrived(List<Transfer> transfers) {
        return transfers.stream().mapToLong(Transfer::arrivedBytes).sum();
    }
}
