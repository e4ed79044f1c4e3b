package verbena.sim.scenario;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.Switch;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;
import verbena.transport.congestion.Dcqcn;
import verbena.transport.congestion.DcqcnOptions;

/// The same messages on the same network with the same parameters as in another simulator, HPCC's ns-3, whose
/// figures are in `another-simulator.txt`: do the two agree?
///
/// Each pair of hosts has one way, because two simulators choose among equal ways by different hashes.
final class AnotherSimulator implements Scenario {
    private static final double RATE = 100e9;
    private static final long DELAY_NANOS = 1_000;
    private static final int SWITCHES = 4;
    private static final int HOSTS_EACH = 5;
    private static final long END_NANOS = 1_000_000_000;
    /// The other's buffers: 8 MiB; for each port 37.5 KB of headroom and 4 KiB for itself.
    private static final SwitchOptions SWITCH = SwitchOptions.LOSSLESS
            .buffer(8 << 20)
            .headroom(37_500 + 4_096)
            .marking(100_000, 400_000, 0.2)
            .markingLeaving();
    /// The longest round trip as the other reckons it: six links and three full packets without headers.
    private static final long BASE_NANOS = 6_240;
    /// Each notification within 4 us counts, `alpha` goes by the same time, and bytes raise no rate.
    private static final DcqcnOptions DCQCN = new DcqcnOptions(
            1.0 / 256, 1, 4_000, 300_000, 1_000_000_000_000L, 5, 40e6, 40e6, 100e6, 0.5, 4_000, false, 4_000);

    /// A message, and the time that it took there by each rule, in nanoseconds.
    private record Message(int from, int to, long bytes, long startNanos, List<Long> nanos) {}

    /// A rule, how many pauses the other's switches asked for in all its runs, and the columns of the table that
    /// have these runs: several where marks make it a matter of chance.
    private record Rule(String name, TransferOptions options, long pauses, List<Integer> columns) {}

    /// One message in one run: how many times as long as alone it took here and there.
    private record Slowdown(long bytes, double here, double there) {}

    private static final TransferOptions EACH_ANSWERED = Rules.none().answeringEach();
    private static final TransferOptions PLAIN = EACH_ANSWERED.payload(1_053).headers(48, 60);
    private static final List<Rule> RULES = List.of(
            new Rule("pauses alone", PLAIN, 8_527, List.of(0)),
            new Rule(
                    "DCQCN",
                    PLAIN.control(DCQCN.cnpNanos(), line -> new Dcqcn(DCQCN, line, Rules.ALL)),
                    0,
                    List.of(1, 2, 3)),
            new Rule("HPCC", EACH_ANSWERED.payload(1_011).headers(90, 88).hpcc(BASE_NANOS), 0, List.of(4)));

    @Override
    public String name() {
        return "another-simulator";
    }

    @Override
    public String title() {
        return "The same messages as in HPCC's ns-3: slow-downs with pauses alone, DCQCN and HPCC";
    }

    @Override
    public String source() {
        return "Li et al., HPCC, SIGCOMM 2019: its simulator, run once with these messages (web search, 50 % load)";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        List<Message> messages = messages();
        var outcome = new Outcome.Builder();
        for (Rule rule : RULES) {
            List<Slowdown> slowdowns = new ArrayList<>();
            long pauses = 0;
            for (int i = 0; i < rule.columns.size(); i++) {
                progress.accept(rule.name);
                pauses += run(seed + i, messages, rule, rule.columns.get(i), slowdowns);
            }
            outcome.figure(rule.name + ", pauses", pauses, "")
                    .atLeast(rule.name + ", pauses: 10 % fewer than ns-3", (double) pauses, 0.9 * rule.pauses)
                    .atMost(rule.name + ", pauses: 10 % more than ns-3", (double) pauses, 1.1 * rule.pauses);
            for (Lengths lengths : Lengths.values()) {
                List<Slowdown> some = slowdowns.stream()
                        .filter(each -> each.bytes > lengths.above && each.bytes <= lengths.upTo)
                        .toList();
                compare(outcome, rule.name + ", " + lengths.words + ", median", some, 50, 10);
                compare(outcome, rule.name + ", " + lengths.words + ", 99th percentile", some, 99, lengths.tolerance);
            }
            outcome.plot(distribution(rule.name, slowdowns));
        }
        return outcome.done();
    }

    /// Adds a run's slow-downs, and returns how many pauses its switches asked for.
    private static long run(long seed, List<Message> messages, Rule rule, int column, List<Slowdown> slowdowns) {
        var network = mesh(seed);
        for (Message each : messages) {
            Host from = network.hosts().get(each.from);
            network.transfer(from, network.hosts().get(each.to), each.bytes, each.startNanos, rule.options);
        }
        network.runToEnd(END_NANOS);
        for (int i = 0; i < messages.size(); i++) {
            Transfer transfer = network.transfers().get(i);
            double alone = transfer.nanos() / transfer.slowdown();
            slowdowns.add(new Slowdown(
                    transfer.bytes(), transfer.slowdown(), messages.get(i).nanos.get(column) / alone));
        }
        return network.switches().stream().mapToLong(Switch::pausesSent).sum();
    }

    private static void compare(
            Outcome.Builder outcome, String what, List<Slowdown> slowdowns, double percent, double tolerance) {
        double here = percentiles(slowdowns, Slowdown::here, List.of(percent)).getFirst();
        double there = percentiles(slowdowns, Slowdown::there, List.of(percent)).getFirst();
        outcome.figure(what, here, "x")
                .figure(what + ", ns-3", there, "x")
                .atMost(what + ": percent off ns-3", 100 * Math.abs(here / there - 1), tolerance);
    }

    private static Outcome.Plot distribution(String name, List<Slowdown> slowdowns) {
        List<Double> percents =
                IntStream.range(1, 100).mapToObj(Double::valueOf).toList();
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        curves.put("here", percentiles(slowdowns, Slowdown::here, percents));
        curves.put("ns-3", percentiles(slowdowns, Slowdown::there, percents));
        return new Outcome.Plot("Slow-down that so many percent do not exceed, " + name, "%", "x", percents, curves);
    }

    private static List<Double> percentiles(
            List<Slowdown> slowdowns, ToDoubleFunction<Slowdown> of, List<Double> percents) {
        double[] values = slowdowns.stream().mapToDouble(of).toArray();
        return percents.stream()
                .map(percent -> Samples.percentile(values, percent / 100))
                .toList();
    }

    private enum Lengths {
        ALL("all messages", 0, Long.MAX_VALUE, 10),
        /// Messages of up to 30 KB, where the third slowest of 227 decides: with marks, runs of ns-3 alone are
        /// 18 % apart.
        SHORT("up to 30 KB", 0, 30_000, 20),
        MIDDLE("30 KB to 1 MB", 30_000, 1_000_000, 10),
        LONG("above 1 MB", 1_000_000, Long.MAX_VALUE, 10);

        final String words;
        final long above;
        final long upTo;
        /// The tolerance of the 99th percentile, in percent.
        final double tolerance;

        Lengths(String words, long above, long upTo, double tolerance) {
            this.words = words;
            this.above = above;
            this.upTo = upTo;
            this.tolerance = tolerance;
        }
    }

    /// Builds four switches, each with a link to each other one, and five hosts at each.
    private static EthernetNetwork mesh(long seed) {
        var network = new EthernetNetwork(seed);
        List<Switch> switches = new ArrayList<>();
        for (int i = 0; i < SWITCHES; i++) {
            Switch made = network.addSwitch("s" + i, SWITCH);
            switches.forEach(other -> network.link(made, other, RATE, DELAY_NANOS));
            switches.add(made);
            for (int j = 0; j < HOSTS_EACH; j++) {
                Host host = network.addHost("h" + network.hosts().size());
                network.link(host, made, RATE, DELAY_NANOS);
            }
        }
        network.begin();
        return network;
    }

    private static List<Message> messages() {
        try (InputStream in = AnotherSimulator.class.getResourceAsStream("another-simulator.txt")) {
            String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> message(Arrays.stream(line.split(" ", -1))
                            .map(Long::valueOf)
                            .toList()))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Message message(List<Long> row) {
        return new Message(
                row.get(0).intValue(), row.get(1).intValue(), row.get(2), row.get(3), row.subList(4, row.size()));
    }
}
