package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;

/// Four hosts send to one. A pause stops a whole way in, so the host that has a way of its own gets more than those
/// that share theirs. With DCQCN all get the same.
final class Unfairness implements Scenario {
    private static final long WARM_NANOS = 60_000_000;
    private static final long NANOS = 40_000_000;

    private final int runs;

    /// @param runs each maps the flows to ways anew
    Unfairness(int runs) {
        this.runs = runs;
    }

    @Override
    public String name() {
        return "pfc-unfairness";
    }

    @Override
    public String title() {
        return "Pauses are unfair to hosts that share a way in; DCQCN shares by sender";
    }

    @Override
    public String source() {
        return "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, figures 3 and 8";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        progress.accept("pauses alone");
        Map<String, double[]> alone = rates(seed, false);
        progress.accept("with DCQCN");
        Map<String, double[]> ruled = rates(seed, true);
        table(outcome, "pauses alone", alone);
        table(outcome, "DCQCN", ruled);
        double others = alone.entrySet().stream()
                .filter(entry -> !entry.getKey().equals("H4"))
                .mapToDouble(entry -> Samples.percentile(entry.getValue(), 0.5))
                .max()
                .orElseThrow();
        double least = ruled.values().stream()
                .mapToDouble(each -> Samples.percentile(each, 0.5))
                .min()
                .orElseThrow();
        double most = ruled.values().stream()
                .mapToDouble(each -> Samples.percentile(each, 0.5))
                .max()
                .orElseThrow();
        double sum = ruled.values().stream().mapToDouble(Samples::mean).sum();
        return outcome.atLeast(
                        "pauses alone: the median of H4, which is alone at its way in, over the best of the others",
                        Samples.percentile(Objects.requireNonNull(alone.get("H4")), 0.5) / others,
                        1.25)
                .atMost("DCQCN: the greatest median of the four over the least", most / least, 1.15)
                .atLeast("DCQCN: all four together, Gbit/s of 36.9 that fit", sum, 32)
                .done();
    }

    private static void table(Outcome.Builder outcome, String rule, Map<String, double[]> rates) {
        rates.forEach((host, values) -> {
            outcome.figure(rule + ", " + host + ", least", Samples.percentile(values, 0), "Gbit/s");
            outcome.figure(rule + ", " + host + ", median", Samples.percentile(values, 0.5), "Gbit/s");
            outcome.figure(rule + ", " + host + ", most", Samples.percentile(values, 1), "Gbit/s");
        });
    }

    /// Returns the goodput of each host in each run.
    private Map<String, double[]> rates(long seed, boolean dcqcn) {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        TransferOptions rule = dcqcn ? Rules.dcqcn() : Rules.none();
        for (int run = 0; run < runs; run++) {
            SwitchOptions options = dcqcn ? Rules.marking(SwitchOptions.LOSSLESS, Clos.RATE) : SwitchOptions.LOSSLESS;
            var clos = new Clos(seed * runs + run, options);
            Host receiver = clos.host("R", 4);
            List<Host> senders =
                    List.of(clos.host("H1", 1), clos.host("H2", 1), clos.host("H3", 1), clos.host("H4", 4));
            clos.network.begin();
            List<Transfer> transfers = senders.stream()
                    .map(sender -> clos.network.transfer(sender, receiver, 1L << 40, 0, rule))
                    .toList();
            clos.network.run(WARM_NANOS);
            long[] before = transfers.stream().mapToLong(Transfer::arrivedBytes).toArray();
            clos.network.run(WARM_NANOS + NANOS);
            for (int i = 0; i < before.length; i++) {
                rates.computeIfAbsent(senders.get(i).name(), _ -> new ArrayList<>())
                        .add((transfers.get(i).arrivedBytes() - before[i]) * 8.0 / NANOS);
            }
        }
        Map<String, double[]> result = new LinkedHashMap<>();
        rates.forEach((name, values) -> result.put(
                name, values.stream().mapToDouble(Double::doubleValue).toArray()));
        return result;
    }
}
