package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.Transfer;

/// Flows join one after the other, and each time all of them come to equal shares. The plot shows how soon.
final class Convergence implements Scenario {
    private static final int FLOWS = 4;
    private static final double RATE = 40e9;
    private static final long STAGE_NANOS = 80_000_000;

    @Override
    public String name() {
        return "convergence";
    }

    @Override
    public String title() {
        return "Four flows join one after the other: with DCQCN they come to equal shares";
    }

    @Override
    public String source() {
        return "Zhu et al., SIGCOMM 2015, section 5.2 and figure 13";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, 1_000, Rules.marking(SwitchOptions.LOSSLESS, RATE)).star(network, FLOWS + 1);
        Host receiver = network.hosts().getFirst();
        List<Transfer> flows = new ArrayList<>();
        var samples = new Samples(network, 1_000_000);
        double worst = 1;
        double least = Double.POSITIVE_INFINITY;
        for (int joined = 1; joined <= FLOWS; joined++) {
            progress.accept(joined + (joined == 1 ? " flow" : " flows"));
            long begin = network.nowNanos();
            Transfer flow = network.transfer(network.hosts().get(joined), receiver, 1L << 40, begin, Rules.dcqcn());
            flows.add(flow);
            samples.gauge("flow " + joined, () -> flow.rate() / 1e9);
            network.run(begin + STAGE_NANOS / 2);
            long[] before = flows.stream().mapToLong(Transfer::arrivedBytes).toArray();
            network.run(begin + STAGE_NANOS);
            double sum = 0;
            double squares = 0;
            for (int i = 0; i < before.length; i++) {
                double gigabits = (flows.get(i).arrivedBytes() - before[i]) * 8.0 / (STAGE_NANOS / 2.0);
                outcome.figure(
                        joined + (joined == 1 ? " flow, " : " flows, ") + "number " + (i + 1), gigabits, "Gbit/s");
                sum += gigabits;
                squares += gigabits * gigabits;
            }
            worst = Math.min(worst, sum * sum / (before.length * squares));
            least = Math.min(least, sum);
        }
        return outcome.atLeast("Jain's index of the shares in the second half of each stage, the least", worst, 0.9)
                .atLeast("goodput of all in each stage, the least, Gbit/s of 36.9", least, 31)
                .plot(samples.plot("Rates of the senders", "Gbit/s"))
                .done();
    }
}
