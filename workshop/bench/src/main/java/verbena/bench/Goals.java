package verbena.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Goal;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

/// The goals: ratios of medians in one run, each with the least and the greatest ratio of a round.
final class Goals {
    private static final double OVER_UCX = 1.5;
    private static final double OF_THE_CEILING = 0.5;
    private static final double OF_WRITE = 0.85;
    private static final double IWARP_OVER_UCX = 1;
    private static final double BARE_IWARP_OF_IPERF = 0.7;
    private static final double IWARP_LATENCY = 1.2;
    private static final double MANY_OVER_FEW = 1.3;
    private static final double RATE_MPPS = 2;
    private static final double RATE_ALONE_MPPS = 0.5;
    private static final double OF_TCP = 0.8;
    private static final double IDLE_PERCENT = 1;
    /// Far less than the smallest object, and more than the difference of two runs.
    private static final double ALLOCATED_BYTES = 0.1;

    private static final double XDP_RATE = 2;
    private static final double XDP_LATENCY = 0.6;

    private static final double OF_MEMCPY = 0.8;
    private static final double AWAITED_US = 3;
    private static final double ATOMIC_US = 0.3;
    private static final double CONNECT_US = 100;
    private static final double MEMORY_RATE_MPPS = 10;
    private static final double IDLE_BYTES = 16 << 10;

    private static final double NIO_SMALL_US = 6;
    private static final double NIO_PAGES_US = 15;
    private static final double NIO_STREAM = 1.5;
    /// Less beside others would be a collapse. Their turns make rounds differ by more than a half.
    private static final double NIO_BESIDE_OTHERS = 2.0 / 3;

    private static final double CALL_LATENCY = 0.2;
    private static final double CALL_RATE = 5;
    private static final double MESSAGE_IN_MEMORY = 1.5;
    private static final double MESSAGE_OVER_LOOPBACK = 1.2;

    private static final double PSP_OF_PLAIN = 0.5;
    private static final double PSP_OVER_TLS = 1.2;
    private static final double PSP_LATER_US = 1.5;

    final List<Goal> known = new ArrayList<>();
    final List<String> unknown = new ArrayList<>();
    private final Collection<Entry> entries;

    private Goals(Collection<Entry> entries) {
        this.entries = entries;
    }

    /// Returns the goals of `bench`.
    static Goals overLoopback(Collection<Entry> entries, Costs costs) {
        var goals = new Goals(entries);
        goals.overLoopback();
        goals.costs(costs);
        return goals;
    }

    /// Returns the goals of `bench shm`.
    static Goals inMemory(Collection<Entry> entries, Costs costs) {
        var goals = new Goals(entries);
        goals.inMemory();
        goals.costs(costs);
        goals.values("an idle connection, at its dearer end", "B", IDLE_BYTES, true, costs.bytes());
        return goals;
    }

    /// Returns the goals of `bench ethernet`.
    static Goals overACable(Collection<Entry> entries, List<Double> allocated) {
        var goals = new Goals(entries);
        goals.ratio(
                XDP_RATE,
                false,
                Goals::messageRate,
                goals.find(CablePair.XDP + CablePair.BATCHES, Sizes.SMALL),
                goals.find(CablePair.UDP + CablePair.BATCHES, Sizes.SMALL),
                "8-byte WRITEs in batches, AF_XDP over UDP sockets");
        goals.latency(XDP_LATENCY, CablePair.XDP + CablePair.WRITE, CablePair.UDP + CablePair.WRITE);
        goals.values("allocated for each WRITE over AF_XDP, by both ends", "B", ALLOCATED_BYTES, true, allocated);
        return goals;
    }

    /// Returns the goals of `bench secure`.
    static Goals ofSecurity(Collection<Entry> entries, List<Double> allocated) {
        var goals = new Goals(entries);
        String plain = SecurePair.PLAIN + SecurePair.WRITE;
        String psp = SecurePair.PSP + SecurePair.WRITE;
        goals.atLeast(PSP_OF_PLAIN, psp, Sizes.LARGE, plain, Sizes.LARGE);
        goals.atLeast(PSP_OVER_TLS, psp, Sizes.LARGE, TlsPair.JDK, Sizes.LARGE);
        goals.atLeast(PSP_OVER_TLS, psp, Sizes.LARGE, TlsPair.OPENSSL, Sizes.LARGE);
        List<Double> late = figures(goals.find(psp, Sizes.SMALL), Goals::median);
        List<Double> soon = figures(goals.find(plain, Sizes.SMALL), Goals::median);
        var later = new ArrayList<Double>();
        for (int i = 0; i < Math.min(late.size(), soon.size()); i++) {
            later.add(late.get(i) - soon.get(i));
        }
        goals.values("8-byte WRITE with psp=on, later than without", "us", PSP_LATER_US, true, later);
        goals.values("allocated for each WRITE with psp=on, by both ends", "B", ALLOCATED_BYTES, true, allocated);
        return goals;
    }

    /// Returns the goals of `bench nio`: there and back.
    static Goals underNio(Collection<Entry> entries) {
        var goals = new Goals(entries);
        String echo = NioPair.SHM + NioPair.ECHO;
        goals.thereAndBack(echo, 16, NIO_SMALL_US);
        goals.thereAndBack(echo, 16 << 10, NIO_PAGES_US);
        for (int size : NioPair.SIZES) {
            goals.ratio(
                    1,
                    true,
                    result -> Objects.requireNonNull(result.latencyUs()).p999(),
                    goals.find(echo, size),
                    goals.find(NioPair.JDK + NioPair.ECHO, size),
                    "shm, Netty echo, " + Sizes.text(size) + ", 99.9 %, over the JDK's");
        }
        goals.streamOverTheJdks(NIO_STREAM);
        return goals;
    }

    /// Returns the goals of `bench nio` beside busy threads: the work that is done in the same time.
    static Goals underNioBesideOthers(Collection<Entry> entries) {
        var goals = new Goals(entries);
        for (int size : NioPair.SIZES) {
            goals.ratio(
                    NIO_BESIDE_OTHERS,
                    false,
                    Result::iterations,
                    goals.find(NioPair.SHM + NioPair.ECHO, size),
                    goals.find(NioPair.JDK + NioPair.ECHO, size),
                    "shm, Netty echo, " + Sizes.text(size) + ", round trips, over the JDK's");
        }
        goals.streamOverTheJdks(NIO_BESIDE_OTHERS);
        return goals;
    }

    private void streamOverTheJdks(double limit) {
        ratio(
                limit,
                false,
                Goals::bandwidth,
                find(NioPair.SHM + NioPair.STREAM, Sizes.LARGE),
                find(NioPair.JDK + NioPair.STREAM, Sizes.LARGE),
                "shm, stream, " + Sizes.text(Sizes.LARGE) + ", over the JDK's");
    }

    /// Returns the goals of `bench messages`.
    ///
    /// @param allocated bytes for each short active message, by both ends, over each device
    static Goals ofMessages(Collection<Entry> entries, Map<String, List<Double>> allocated) {
        var goals = new Goals(entries);
        goals.messages(MessagesPair.SHM + MessagesPair.TAGGED, MESSAGE_IN_MEMORY, Programs.TAG);
        goals.messages(MessagesPair.SHM + MessagesPair.ACTIVE, MESSAGE_IN_MEMORY, Programs.ACTIVE);
        goals.messages(MessagesPair.ROCE + MessagesPair.TAGGED, MESSAGE_OVER_LOOPBACK, Programs.TAG_OVER_TCP);
        goals.messages(MessagesPair.ROCE + MessagesPair.ACTIVE, MESSAGE_OVER_LOOPBACK, Programs.ACTIVE_OVER_TCP);
        goals.calls(MessagesPair.SHM);
        goals.calls(MessagesPair.ROCE);
        allocated.forEach((device, values) -> goals.values(
                device.replace("Verbena ", "") + ", allocated for each active message, by both ends",
                "B",
                ALLOCATED_BYTES,
                true,
                values));
        return goals;
    }

    /// Adds the goals of calls beside gRPC, whose figures are also those of calls that are answered at once.
    private void calls(String device) {
        String name = device.replace("Verbena ", "");
        ratio(
                CALL_LATENCY,
                true,
                Goals::median,
                find(device + MessagesPair.PROMPT_CALL, Sizes.SMALL),
                find(JavaPair.GRPC_CALL, Sizes.SMALL),
                name + ", call answered at once, latency over gRPC's");
        ratio(
                CALL_RATE,
                false,
                Goals::messageRate,
                find(device + MessagesPair.PROMPT_CALLS, Sizes.SMALL),
                find(JavaPair.GRPC_CALLS, Sizes.SMALL),
                name + ", calls answered at once, rate over gRPC's");
    }

    /// @param references what the names of UCX's entries begin with; over TCP its fastest size is 64 KiB
    private void messages(String series, double limit, String references) {
        String name = series.replace("Verbena ", "") + ", ";
        Entry fastest = best(references, Sizes.SMALL, Goals::median, true);
        ratio(limit, true, Goals::median, find(series, Sizes.SMALL), fastest, name + "8 B, latency over UCX's");
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            int theirs = references.endsWith("TCP") ? Sizes.LARGE : size;
            Entry most = best(references, theirs, Goals::bandwidth, false);
            ratio(1, false, Goals::bandwidth, find(series, size), most, name + Sizes.text(size) + ", over UCX's");
        }
    }

    private void thereAndBack(String series, int size, double limit) {
        String name = series.replace("Verbena ", "") + ", " + Sizes.text(size) + ", there and back";
        values(name, "us", limit, true, figures(find(series, size), result -> 2 * median(result)));
    }

    private void inMemory() {
        noLaterThan(VerbenaPair.WRITE, Programs.PUT);
        noLaterThan(VerbenaPair.SEND, Programs.TAG);
        time("8-byte SEND, both ends await", AWAITED_US, VerbenaPair.AWAITED_SEND, Sizes.SMALL);
        time("FETCH_ADD, there and back", ATOMIC_US, VerbenaPair.FETCH_ADD, Sizes.SMALL);
        time("a connection made", CONNECT_US, ConnectionsPair.CONNECT, 0);
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            noLessThan(VerbenaPair.WRITE, size, Programs.PUT);
            noLessThan(VerbenaPair.READ, size, Programs.GET);
            atLeast(OF_MEMCPY, VerbenaPair.WRITE, size, Memcpy.NAME, size);
            atLeast(OF_MEMCPY, VerbenaPair.READ, size, Memcpy.NAME, size);
        }
        rate("8-byte WRITEs in batches", MEMORY_RATE_MPPS, VerbenaPair.BATCHES);
        manyOverFew();
    }

    private void overLoopback() {
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            // Other libraries are fastest with 64 KiB.
            atLeast(OVER_UCX, VerbenaPair.WRITE, size, Programs.PUT_OVER_TCP, Sizes.LARGE);
            atLeast(OF_THE_CEILING, VerbenaPair.WRITE, size, JavaPair.CEILING, Sizes.LARGE);
            atLeast(OF_TCP, VerbenaPair.WRITE, size, JavaPair.TCP, size);
            atLeast(OF_WRITE, VerbenaPair.READ, size, VerbenaPair.WRITE, size);
            atLeast(OF_WRITE, VerbenaPair.SEND, size, VerbenaPair.WRITE, size);
        }
        atLeast(1, VerbenaPair.WRITE, Sizes.LARGE, AeronPair.UDP, Sizes.LARGE);
        latency(1, VerbenaPair.WRITE, Programs.TAG_OVER_TCP);
        latency(1, VerbenaPair.WRITE, AeronPair.UDP);
        manyOverFew();
        rate("8-byte WRITEs in batches", RATE_MPPS, VerbenaPair.BATCHES);
        rate("8-byte WRITEs of 10 queue pairs, a doorbell each", RATE_ALONE_MPPS, VerbenaPair.FEW);
        for (int size : new int[] {Sizes.LARGE, Sizes.HUGE}) {
            atLeast(IWARP_OVER_UCX, VerbenaPair.IWARP_WRITE, size, Programs.PUT_OVER_TCP, Sizes.LARGE);
            atLeast(BARE_IWARP_OF_IPERF, VerbenaPair.BARE_IWARP_WRITE, size, Programs.STREAM, Sizes.LARGE);
        }
        latency(IWARP_LATENCY, VerbenaPair.IWARP_WRITE, Programs.TAG_OVER_TCP);
    }

    private void manyOverFew() {
        ratio(
                MANY_OVER_FEW,
                true,
                result -> 1 / messageRate(result),
                find(VerbenaPair.MANY, Sizes.SMALL),
                find(VerbenaPair.FEW, Sizes.SMALL),
                "cost of a message with 1000 queue pairs over that with 10");
    }

    private void costs(Costs costs) {
        values("allocated for each WRITE, by both ends", "B", ALLOCATED_BYTES, true, costs.allocated());
        values(
                "a process with " + ConnectionsPair.IDLE_COUNT + " idle connections",
                "% of a core",
                IDLE_PERCENT,
                true,
                costs.idle());
    }

    private void atLeast(double limit, String series, int size, String reference, int referenceSize) {
        String name = series.replace("Verbena ", "") + ", " + Sizes.text(size) + ", over "
                + reference.replace("Verbena ", "") + (size == referenceSize ? "" : ", " + Sizes.text(referenceSize));
        ratio(limit, false, Goals::bandwidth, find(series, size), find(reference, referenceSize), name);
    }

    /// Adds the goal to be as fast as the fastest of the contenders whose names begin with `references`.
    private void noLessThan(String series, int size, String references) {
        String name = series.replace("Verbena ", "") + ", " + Sizes.text(size) + ", over UCX's best "
                + references.replaceAll("UCX |, ", "");
        ratio(1, false, Goals::bandwidth, find(series, size), best(references, size, Goals::bandwidth, false), name);
    }

    private void noLaterThan(String series, String references) {
        String name = series.replace("Verbena ", "") + ", 8 B, latency over that of UCX's best "
                + references.replaceAll("UCX |, ", "");
        Entry best = best(references, Sizes.SMALL, Goals::median, true);
        ratio(1, true, Goals::median, find(series, Sizes.SMALL), best, name);
    }

    private void latency(double limit, String series, String reference) {
        String name = series.replace("Verbena ", "") + ", 8 B, latency over that of " + reference;
        ratio(limit, true, Goals::median, find(series, Sizes.SMALL), find(reference, Sizes.SMALL), name);
    }

    private static double bandwidth(Result result) {
        return Objects.requireNonNull(result.bandwidthMBps());
    }

    private static double messageRate(Result result) {
        return Objects.requireNonNull(result.messageRateMpps());
    }

    private static double median(Result result) {
        Latency latency = Objects.requireNonNull(result.latencyUs());
        return latency.p50();
    }

    private void rate(String name, double limit, String series) {
        values(name, "million/s", limit, false, figures(find(series, Sizes.SMALL), Goals::messageRate));
    }

    private void time(String name, double limit, String series, int size) {
        values(name, "us", limit, true, figures(find(series, size), Goals::median));
    }

    private static List<Double> figures(@Nullable Entry entry, ToDoubleFunction<Result> figure) {
        return entry == null
                ? List.of()
                : entry.results.stream().mapToDouble(figure).boxed().toList();
    }

    private void ratio(
            double limit,
            boolean atMost,
            ToDoubleFunction<Result> figure,
            @Nullable Entry ours,
            @Nullable Entry theirs,
            String name) {
        if (ours == null || theirs == null) {
            unknown.add(name);
            return;
        }
        double[] above = ours.results.stream().mapToDouble(figure).toArray();
        double[] below = theirs.results.stream().mapToDouble(figure).toArray();
        var rounds = new ArrayList<Double>();
        for (int i = 0; i < Math.min(above.length, below.length); i++) {
            rounds.add(above[i] / below[i]);
        }
        add(name, "x", Medians.of(above) / Medians.of(below), rounds, limit, atMost);
    }

    private void values(String name, String unit, double limit, boolean atMost, List<Double> values) {
        if (values.isEmpty()) {
            unknown.add(name);
        } else {
            add(name, unit, Medians.of(values.stream().mapToDouble(v -> v).toArray()), values, limit, atMost);
        }
    }

    private void add(String name, String unit, double value, List<Double> all, double limit, boolean atMost) {
        double low = all.stream().mapToDouble(v -> v).min().orElse(value);
        double high = all.stream().mapToDouble(v -> v).max().orElse(value);
        known.add(new Goal(name, unit, value, low, high, limit, atMost, atMost ? value <= limit : value >= limit));
    }

    private @Nullable Entry best(String begin, int size, ToDoubleFunction<Result> figure, boolean isLeast) {
        Comparator<Entry> byMedian = Comparator.comparingDouble(
                entry -> Medians.of(entry.results.stream().mapToDouble(figure).toArray()));
        return entries.stream()
                .filter(entry -> entry.series.startsWith(begin) && entry.size == size && !entry.results.isEmpty())
                .min(isLeast ? byMedian : byMedian.reversed())
                .orElse(null);
    }

    private @Nullable Entry find(String series, int size) {
        Function<Entry, Boolean> is = entry -> entry.series.equals(series) && entry.size == size;
        return entries.stream()
                .filter(is::apply)
                .filter(entry -> !entry.results.isEmpty())
                .findFirst()
                .orElse(null);
    }
}
