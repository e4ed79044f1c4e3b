package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.sim.ethernet.AllReduce;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.MessageSizes;
import verbena.sim.ethernet.NetworkText;
import verbena.sim.ethernet.Switch;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;
import verbena.sim.ethernet.Workloads;

/// A workload on a network of the user's.
///
/// @param lines    the network ([NetworkText])
/// @param bytes    of each message, or of the vector of an all-reduce; random workloads draw their own
/// @param load     of random workloads: the mean use of each host's link, 0 to 1
/// @param nanos    of random workloads: messages begin until then
/// @param selective whether only what is missing is sent again
public record Trial(
        List<String> lines,
        Workload workload,
        long bytes,
        double load,
        long nanos,
        Control control,
        boolean selective,
        long seed) {
    /// The end in virtual time; messages that are not over by then are counted.
    private static final long END_NANOS = 10_000_000_000L;
    private static final long TIMEOUT_NANOS = 4_000_000;
    private static final long FEW_TIMEOUT_NANOS = 400_000;
    /// The round trip that its window begins with: longer than that of a network in one building.
    private static final long HPCC_NANOS = 13_000;
    /// The window of selective repeat, which has to bound the packets under way.
    private static final int WINDOW = 512;

    /// The traffic of a trial.
    public enum Workload {
        /// All hosts send to the first one.
        INCAST,
        /// Each host sends to one other.
        PERMUTATION,
        /// Each host sends to each other one.
        ALL_TO_ALL,
        /// [AllReduce.Algorithm#RING].
        ALL_REDUCE_RING,
        /// [AllReduce.Algorithm#HALVING_DOUBLING].
        ALL_REDUCE_HALVING,
        /// [AllReduce.Algorithm#TREE].
        ALL_REDUCE_TREE,
        /// [MessageSizes#WEB_SEARCH].
        WEB_SEARCH,
        /// [MessageSizes#HADOOP].
        HADOOP,
        /// [MessageSizes#RPC_AND_STORAGE].
        STORAGE
    }

    /// The rule of senders.
    public enum Control {
        /// Traffic as fast as the line.
        NONE,
        /// [verbena.transport.congestion.Dcqcn]; switches have to mark.
        DCQCN,
        /// [verbena.transport.congestion.Swift].
        SWIFT,
        /// A window by what switches write into packets; a rule of experiments only.
        HPCC
    }

    /// Runs it.
    ///
    /// @throws IllegalArgumentException when the network's text has a mistake, or the workload does not fit it
    public Outcome run(Consumer<String> progress) {
        var network = new EthernetNetwork(seed);
        NetworkText.build(network, lines);
        TransferOptions rule = rule();
        AllReduce reduction = start(network, rule);
        long end = nanos;
        boolean isOver = network.runToEnd(end);
        while (!isOver && end < END_NANOS) {
            progress.accept(String.format(
                    Locale.ROOT,
                    "%.1f ms, %,d of %,d messages over",
                    network.nowNanos() / 1e6,
                    network.endedTransfers(),
                    network.transfers().size()));
            end *= 2;
            isOver = network.runToEnd(Math.min(end, END_NANOS));
        }
        return outcome(network, reduction);
    }

    private TransferOptions rule() {
        TransferOptions rule = switch (control) {
            case NONE -> selective ? TransferOptions.window(WINDOW) : Rules.none();
            case DCQCN -> Rules.dcqcn(selective ? WINDOW : Rules.ALL);
            case SWIFT -> Rules.swift(WINDOW);
            case HPCC -> Rules.none().hpcc(HPCC_NANOS);
        };
        return selective ? rule.selective(TIMEOUT_NANOS, FEW_TIMEOUT_NANOS) : rule.timeout(TIMEOUT_NANOS);
    }

    private @Nullable AllReduce start(EthernetNetwork network, TransferOptions rule) {
        List<Host> hosts = network.hosts();
        switch (workload) {
            case INCAST -> Workloads.incast(network, hosts.subList(1, hosts.size()), hosts.getFirst(), bytes, 0, rule);
            case PERMUTATION -> Workloads.permutation(network, seed, bytes, rule);
            case ALL_TO_ALL -> Workloads.allToAll(network, bytes, rule);
            case ALL_REDUCE_RING -> {
                return AllReduce.start(network, AllReduce.Algorithm.RING, bytes, rule);
            }
            case ALL_REDUCE_HALVING -> {
                return AllReduce.start(network, AllReduce.Algorithm.HALVING_DOUBLING, bytes, rule);
            }
            case ALL_REDUCE_TREE -> {
                return AllReduce.start(network, AllReduce.Algorithm.TREE, bytes, rule);
            }
            case WEB_SEARCH -> Workloads.random(network, seed, MessageSizes.WEB_SEARCH, load, nanos, rule);
            case HADOOP -> Workloads.random(network, seed, MessageSizes.HADOOP, load, nanos, rule);
            case STORAGE -> Workloads.random(network, seed, MessageSizes.RPC_AND_STORAGE, load, nanos, rule);
        }
        return null;
    }

    private static Outcome outcome(EthernetNetwork network, @Nullable AllReduce reduction) {
        var outcome = new Outcome.Builder();
        List<Transfer> over =
                network.transfers().stream().filter(Transfer::isOver).toList();
        double[] micros =
                over.stream().mapToDouble(each -> each.nanos() / 1e3).sorted().toArray();
        double[] slowdowns =
                over.stream().mapToDouble(Transfer::slowdown).sorted().toArray();
        outcome.figure("messages", network.transfers().size(), "")
                .figure("messages that are not over", network.transfers().size() - over.size(), "");
        if (reduction != null) {
            outcome.figure("all-reduce", reduction.nanos() / 1e3, "us");
        }
        if (!over.isEmpty()) {
            outcome.figure("completion, mean", Samples.mean(micros), "us")
                    .figure("completion, median", Samples.percentile(micros, 0.5), "us")
                    .figure("completion, 99th percentile", Samples.percentile(micros, 0.99), "us")
                    .figure("completion, longest", Samples.percentile(micros, 1), "us")
                    .figure("slow-down, mean", Samples.mean(slowdowns), "x")
                    .figure("slow-down, median", Samples.percentile(slowdowns, 0.5), "x")
                    .figure("slow-down, 99th percentile", Samples.percentile(slowdowns, 0.99), "x")
                    .plot(distribution(micros));
        }
        List<Switch> switches = network.switches();
        return outcome.figure(
                        "packets sent again",
                        network.transfers().stream()
                                .mapToLong(Transfer::resentPackets)
                                .sum(),
                        "")
                .figure(
                        "packets dropped",
                        switches.stream().mapToLong(Switch::dropped).sum(),
                        "")
                .figure(
                        "packets marked",
                        switches.stream().mapToLong(Switch::marked).sum(),
                        "")
                .figure(
                        "pauses asked for",
                        switches.stream().mapToLong(Switch::pausesSent).sum(),
                        "")
                .figure(
                        "fullest buffer",
                        switches.stream().mapToLong(Switch::mostUsed).max().orElse(0) / 1e3,
                        "KB")
                .figure("virtual time", network.nowNanos() / 1e6, "ms")
                .figure("events", network.events(), "")
                .done();
    }

    private static Outcome.Plot distribution(double[] sortedMicros) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (int percent = 1; percent <= 100; percent++) {
            x.add((double) percent);
            y.add(Samples.percentile(sortedMicros, percent / 100.0));
        }
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        curves.put("completion", y);
        return new Outcome.Plot("How many messages were over within", "% of messages", "us", x, curves);
    }
}
