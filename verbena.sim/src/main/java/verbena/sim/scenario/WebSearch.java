package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.MessageSizes;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Topologies;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;
import verbena.sim.ethernet.Workloads;

/// Web search on a leaf-spine network at half load: how much longer messages take than alone, by their length.
final class WebSearch implements Scenario {
    private static final double RATE = 100e9;
    private static final long LAST_NANOS = 5_000_000;
    private static final long END_NANOS = 500_000_000;
    private static final long[] BOUNDS = {10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 30_000_000};

    @Override
    public String name() {
        return "web-search";
    }

    @Override
    public String title() {
        return "Web search at half load: slow-down by length with pauses alone, DCQCN and Swift";
    }

    @Override
    public String source() {
        return "Alizadeh et al., SIGCOMM 2010 (lengths); Li et al., HPCC, SIGCOMM 2019, section 5.3 (the way to show it)";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        SwitchOptions plain = SwitchOptions.LOSSLESS.buffer(16_000_000);
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        double none = run(outcome, curves, seed, "pauses alone", plain, Rules.none(), progress);
        double dcqcn =
                run(outcome, curves, seed, "DCQCN", plain.marking(100_000, 400_000, 0.2), Rules.dcqcn(), progress);
        double swift = run(outcome, curves, seed, "Swift", plain, Rules.swift(256), progress);
        List<Double> bounds = new ArrayList<>();
        for (long bound : BOUNDS) {
            bounds.add(bound / 1e3);
        }
        return outcome.plot(new Outcome.Plot("99th percentile of slow-downs by length", "KB", "x", bounds, curves))
                .atMost("messages up to 10 KB, 99th percentile: DCQCN over pauses alone", dcqcn / none, 1)
                .atMost("the same: Swift over pauses alone", swift / none, 1)
                .done();
    }

    /// Returns the 99th percentile of the slow-downs of the shortest messages.
    private static double run(
            Outcome.Builder outcome,
            Map<String, List<Double>> curves,
            long seed,
            String name,
            SwitchOptions options,
            TransferOptions rule,
            Consumer<String> progress) {
        progress.accept(name);
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, 1_000, options).leafSpine(network, 4, 4, 8);
        Workloads.random(network, seed, MessageSizes.WEB_SEARCH, 0.5, LAST_NANOS, rule);
        network.runToEnd(END_NANOS);
        List<Double> curve = new ArrayList<>();
        long from = 0;
        for (long to : BOUNDS) {
            long low = from;
            curve.add(Samples.percentile(
                    network.transfers().stream()
                            .filter(transfer -> transfer.isOver() && transfer.bytes() > low && transfer.bytes() <= to)
                            .mapToDouble(Transfer::slowdown)
                            .toArray(),
                    0.99));
            from = to;
        }
        curves.put(name, curve);
        double[] all = network.transfers().stream()
                .filter(Transfer::isOver)
                .mapToDouble(Transfer::slowdown)
                .toArray();
        outcome.figure(name + ", mean slow-down", Samples.mean(all), "x")
                .figure(name + ", 99th percentile", Samples.percentile(all, 0.99), "x")
                .figure(name + ", 99th percentile up to 10 KB", curve.getFirst(), "x")
                .figure(
                        name + ", pauses",
                        network.switches().stream()
                                .mapToLong(each -> each.pausesSent())
                                .sum(),
                        "")
                .figure(
                        name + ", messages that ended",
                        network.endedTransfers(),
                        "of " + network.transfers().size());
        return curve.getFirst();
    }
}
