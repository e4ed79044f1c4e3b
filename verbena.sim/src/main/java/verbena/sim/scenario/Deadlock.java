package verbena.sim.scenario;

import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.Switch;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.Transfer;

/// Four switches in a ring, and flows over two links each. When all go clockwise, each switch's buffer waits for the
/// next one's: pauses meet in a circle, and nothing moves any more. Ways that never close the circle keep moving. A
/// watchdog breaks the circle, and pays with packets.
final class Deadlock implements Scenario {
    private static final int SWITCHES = 4;
    private static final int HOSTS_EACH = 2;
    private static final long NANOS = 40_000_000;
    private static final long LAST_NANOS = 10_000_000;
    private static final SwitchOptions SMALL =
            SwitchOptions.LOSSLESS.buffer(1_000_000).headroom(60_000);

    @Override
    public String name() {
        return "pfc-deadlock";
    }

    @Override
    public String title() {
        return "Pauses in a circle stop a ring for ever; ways up and down do not; a watchdog breaks the circle";
    }

    @Override
    public String source() {
        return "Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, HotNets 2016";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        progress.accept("clockwise");
        Figures circle = figures(outcome, "clockwise", seed, true, SMALL);
        progress.accept("up and down");
        Figures tree = figures(outcome, "up and down", seed, false, SMALL);
        progress.accept("clockwise with a watchdog");
        Figures watched = figures(outcome, "clockwise, watchdog of 1 ms", seed, true, SMALL.watchdog(1_000_000));
        return outcome.atMost("clockwise: goodput at the end, Gbit/s", circle.goodput, 0)
                .atMost("clockwise: packets dropped", circle.dropped, 0)
                .atLeast("up and down: goodput at the end, Gbit/s", tree.goodput, 50)
                .atMost("up and down: packets dropped", tree.dropped, 0)
                .atLeast("watchdog: goodput at the end, Gbit/s", watched.goodput, 0.1)
                .atLeast("watchdog: packets dropped", watched.dropped, 1)
                .done();
    }

    private record Figures(double goodput, long dropped) {}

    private static Figures figures(
            Outcome.Builder outcome, String name, long seed, boolean clockwise, SwitchOptions options) {
        var network = new EthernetNetwork(seed);
        new Topologies(40e9, 1_000, options).ring(network, SWITCHES, HOSTS_EACH, clockwise);
        for (Host from : network.hosts()) {
            int at = network.hosts().indexOf(from);
            int to = (at + 2 * HOSTS_EACH) % network.hosts().size(); // the same place, two switches on
            network.transfer(from, network.hosts().get(to), 1L << 40, 0, Rules.none());
        }
        var samples = new Samples(network, 500_000);
        long[] last = {0};
        samples.gauge("goodput", () -> {
            long arrived = arrived(network);
            double gigabits = (arrived - last[0]) * 8.0 / 500_000;
            last[0] = arrived;
            return gigabits;
        });
        network.run(NANOS - LAST_NANOS);
        long before = arrived(network);
        network.run(NANOS);
        double goodput = (arrived(network) - before) * 8.0 / LAST_NANOS;
        long dropped = network.switches().stream().mapToLong(Switch::dropped).sum();
        long rescued = network.switches().stream().mapToLong(Switch::rescued).sum();
        outcome.figure(name + ", goodput at the end", goodput, "Gbit/s")
                .figure(name + ", dropped", dropped, "packets")
                .figure(name + ", queues emptied by watchdogs", rescued, "")
                .plot(samples.plot("Goodput of all, " + name, "Gbit/s"));
        return new Figures(goodput, dropped);
    }

    private static long arrived(EthernetNetwork network) {
        return network.transfers().stream().mapToLong(Transfer::arrivedBytes).sum();
    }
}
