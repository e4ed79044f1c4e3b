package verbena.tools.demo;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Costs;
import verbena.tools.report.Spread;
import verbena.tools.report.Steady;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;

/// The demo's figures: throughput and latency of this run, and those of a plain TCP socket between the same two
/// processes. All contenders of a figure take turns, round by round: at first until their figures stand still, then
/// for the rounds that count.
final class DemoFigures {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int WINDOW = 16;
    private static final int ROUNDS = 5;
    private static final long WARM_UP_ROUND_NANOS = 40_000_000;
    /// A warm-up takes at most so many times as long as the measurement of one contender.
    private static final int WARM_UP_FACTOR = 6;

    private static final int SAMPLES_MAX = 1_000_000;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int DIGITS = 3;

    private final DemoOutput output;
    private final DemoEnd we;
    private final DemoPeerProcess peer;
    private final long peerPid;
    private final RemoteMemory memory;
    private final long nanos;
    private final long[] samples = new long[SAMPLES_MAX];
    private boolean receivePosted;
    private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();

    /// @param peerPid of the second process
    /// @param seconds how long each contender is measured
    DemoFigures(
            DemoOutput output, DemoEnd we, DemoPeerProcess peer, long peerPid, RemoteMemory memory, double seconds) {
        this.output = output;
        this.we = we;
        this.peer = peer;
        this.peerPid = peerPid;
        this.memory = memory;
        nanos = (long) (seconds * NANOS_PER_SECOND);
    }

    /// What was measured: medians, in bytes a second and nanoseconds.
    ///
    /// @param stream of a TCP socket
    /// @param echo of a TCP socket
    record Result(double write, double stream, double polled, double awaited, double echo) {}

    Result run() throws IOException, InterruptedException {
        String[] at = peer.order("tcp");
        var address = new InetSocketAddress(InetAddress.ofLiteral(at[0]), Integer.parseInt(at[1]));
        var load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        int cores = Runtime.getRuntime().availableProcessors();
        output.table(
                "How fast, in this run, on this host: medians of " + ROUNDS + " rounds in turn, " + cores
                        + (cores == 1 ? " core" : " cores")
                        + (load < 0 ? "" : ", load " + DemoVerdict.digits(load)),
                "Verbena",
                "least - most",
                "TCP socket",
                "least - most",
                "ratio");
        try (var tcp = new DemoTcp(address)) {
            var write = new Tally(this::writes);
            var stream = new Tally(n -> stream(tcp, write.last().messages));
            String writesWarm = inTurn(write, stream);
            throughput("WRITE of 64 KiB, " + WINDOW + " under way", write.figure(), stream.figure());

            var polled = new Tally(n -> messages(n, true));
            var awaited = new Tally(n -> messages(n, false));
            var echo = new Tally(n -> latency(n, number -> checkEcho(tcp.echo(number), number)));
            String messagesWarm = inTurn(polled, awaited, echo);
            latency("8 bytes one way, polled", polled.figure(), echo.figure());
            latency("    99th percentile", polled.tail(), echo.tail());
            latency("8 bytes one way, awaited", awaited.figure(), echo.figure());
            latency("    99th percentile", awaited.tail(), echo.tail());
            output.note("Where the ratio is over 1, Verbena is better. WRITEs are awaited, and the TCP socket blocks.");
            output.note("Warm-up of the WRITEs: " + writesWarm + ".");
            output.note("Warm-up of the messages: " + messagesWarm + ".");
            output.note("");
            var verdict = new DemoVerdict(
                    we.context.device().name(),
                    cores,
                    write.figure().median() / stream.figure().median(),
                    write.kernel(),
                    echo.figure().median() / polled.figure().median(),
                    echo.figure().median() / awaited.figure().median(),
                    sleeps(polled, awaited, echo));
            verdict.lines().forEach(output::note);
            return new Result(
                    write.figure().median(),
                    stream.figure().median(),
                    polled.figure().median(),
                    awaited.figure().median(),
                    echo.figure().median());
        } catch (IOException e) {
            throw new CommandFailed("TCP: " + e.getMessage(), e);
        }
    }

    // ---- taking turns

    /// What a round has shown.
    ///
    /// @param figure bytes a second, or the median in nanoseconds
    /// @param tail the 99th percentile in nanoseconds; 0 for a throughput
    /// @param messages that went one way
    private record Round(double figure, double tail, long messages) {}

    private interface Contender {
        Round round(long nanos) throws IOException, InterruptedException;
    }

    /// The rounds of one contender that count.
    private final class Tally {
        private final Contender contender;
        private final List<Round> rounds = new ArrayList<>();
        private Round last = new Round(0, 0, 0);
        private boolean isKnown = true;
        private double user;
        private double system;
        private long sleeps;

        Tally(Contender contender) {
            this.contender = contender;
        }

        double warmUp() throws IOException, InterruptedException {
            last = contender.round(Math.min(WARM_UP_ROUND_NANOS, nanos));
            return last.figure;
        }

        void measure() throws IOException, InterruptedException {
            Costs before = costs();
            last = contender.round(nanos / ROUNDS);
            Costs after = costs();
            rounds.add(last);
            if (before == null || after == null) {
                isKnown = false;
                return;
            }
            Costs since = after.minus(before);
            user += since.user();
            system += since.system();
            sleeps += since.voluntary();
        }

        Round last() {
            return last;
        }

        Spread figure() {
            return Spread.of(rounds.stream().mapToDouble(Round::figure).toArray());
        }

        Spread tail() {
            return Spread.of(rounds.stream().mapToDouble(Round::tail).toArray());
        }

        @Nullable
        Double kernel() {
            return !isKnown || user + system == 0 ? null : system / (user + system);
        }

        @Nullable
        Double sleeps() {
            long messages = rounds.stream().mapToLong(Round::messages).sum();
            return !isKnown || messages == 0 ? null : (double) sleeps / messages;
        }
    }

    // Warms up, measures, and tells how the warm-up went.
    private String inTurn(Tally... tallies) throws IOException, InterruptedException {
        var steady = new Steady(tallies.length, WARM_UP_FACTOR * nanos);
        long start = System.nanoTime();
        var figures = new double[tallies.length];
        do {
            for (int i = 0; i < tallies.length; i++) {
                figures[i] = tallies[i].warmUp();
            }
        } while (!steady.add(System.nanoTime() - start, compiledNanos(), figures));
        for (int round = 0; round < ROUNDS; round++) {
            for (Tally tally : tallies) {
                tally.measure();
            }
        }
        return steady.words();
    }

    // Of the process whose compilers have worked more.
    private long compiledNanos() throws InterruptedException {
        long theirs = Long.parseLong(peer.order("compiled")[0]);
        return (long) (Math.max(theirs, compilers.getTotalCompilationTime()) * NANOS_PER_MILLI);
    }

    // What both processes have used so far; null where the system does not tell.
    private @Nullable Costs costs() {
        try {
            return Costs.of(ProcessHandle.current().pid()).plus(Costs.of(peerPid));
        } catch (IOException _) {
            return null;
        }
    }

    private static DemoVerdict.@Nullable Sleeps sleeps(Tally polled, Tally awaited, Tally echo) {
        Double byPolling = polled.sleeps();
        Double byAwaiting = awaited.sleeps();
        Double byTcp = echo.sleeps();
        return byPolling == null || byAwaiting == null || byTcp == null
                ? null
                : new DemoVerdict.Sleeps(byPolling, byAwaiting, byTcp);
    }

    // ---- throughput

    // Keeps a window of WRITEs under way; counts what has been acknowledged.
    private Round writes(long howLong) throws InterruptedException {
        long start = System.nanoTime();
        long posted = 0;
        long completed = 0;
        while (posted < WINDOW) {
            postWrite(posted++);
        }
        while (completed < posted) {
            we.await("WRITE of 64 KiB", WcOpcode.RDMA_WRITE);
            completed++;
            if (System.nanoTime() - start < howLong) {
                postWrite(posted++);
            }
        }
        we.settle(memory);
        return throughput(completed, System.nanoTime() - start);
    }

    private void postWrite(long number) {
        long offset = number % WINDOW * BLOCK_BYTES;
        we.qp.postWrite(number, we.region, offset, BLOCK_BYTES, memory.address() + offset, memory.rkey());
    }

    // As many bytes as the WRITEs of the round before it.
    private static Round stream(DemoTcp tcp, long blocks) throws IOException {
        long start = System.nanoTime();
        tcp.send(blocks * BLOCK_BYTES);
        return throughput(blocks, System.nanoTime() - start);
    }

    private static Round throughput(long blocks, long nanos) {
        return new Round(blocks * BLOCK_BYTES * NANOS_PER_SECOND / nanos, 0, blocks);
    }

    // ---- latency

    // SEND of 8 bytes there and back: the peer's application answers each.
    private Round messages(long howLong, boolean polls) throws IOException, InterruptedException {
        peer.order("pong", polls ? "poll" : "await");
        if (!receivePosted) {
            receivePosted = true; // and another after each that is taken
            we.qp.postReceive(0, we.messages, 0, Long.BYTES);
        }
        Round round = latency(howLong, number -> messageRoundTrip(number, polls));
        we.send(0, DemoEnd.LAST_BYTES, polls);
        we.takeSends(polls);
        peer.answer("the end of the ping-pong");
        return round;
    }

    private void messageRoundTrip(long number, boolean polls) throws InterruptedException {
        long offset = Long.BYTES;
        we.messages.segment().set(DemoEnd.LONG, offset, number);
        we.send(offset, Long.BYTES, polls);
        we.take("8-byte message", WcOpcode.RECV, polls);
        checkEcho(we.messages.segment().get(DemoEnd.LONG, 0), number);
        we.qp.postReceive(0, we.messages, 0, Long.BYTES);
    }

    private static void checkEcho(long actual, long expected) {
        if (actual != expected) {
            throw new CommandFailed("8-byte message: " + expected + " came back as " + actual);
        }
    }

    private interface RoundTrip {
        void go(long number) throws IOException, InterruptedException;
    }

    // Half of the round trip.
    private Round latency(long howLong, RoundTrip roundTrip) throws IOException, InterruptedException {
        int count = 0;
        long now = System.nanoTime();
        long end = now + howLong;
        while (now - end < 0 && count < SAMPLES_MAX) {
            roundTrip.go(count);
            long after = System.nanoTime();
            samples[count++] = after - now;
            now = after;
        }
        Arrays.sort(samples, 0, count);
        return new Round(samples[count / 2] / 2.0, samples[count * 99 / 100] / 2.0, 2L * count);
    }

    // ---- rows

    private void throughput(String name, Spread verbena, Spread tcp) {
        Unit unit = Unit.of(Math.max(verbena.median(), tcp.median()), BYTES_PER_SECOND);
        row(name, "bytes_per_second", 1, unit, verbena, tcp, verbena.median() / tcp.median());
    }

    private void latency(String name, Spread verbena, Spread tcp) {
        Unit unit = Unit.of(Math.min(verbena.median(), tcp.median()), NANOS);
        row(name, "seconds_1e6", 1e-3, unit, verbena, tcp, tcp.median() / verbena.median());
    }

    private void row(String name, String key, double keyUnit, Unit unit, Spread verbena, Spread tcp, double ratio) {
        var numbers = new LinkedHashMap<String, Double>();
        Map.of("verbena_", verbena, "tcp_", tcp).forEach((who, spread) -> {
            numbers.put(who + key, spread.median() * keyUnit);
            numbers.put(who + key + "_least", spread.least() * keyUnit);
            numbers.put(who + key + "_most", spread.most() * keyUnit);
        });
        numbers.put("ratio", ratio);
        output.row(
                name,
                numbers,
                unit.format(verbena.median()),
                unit.range(verbena),
                unit.format(tcp.median()),
                unit.range(tcp),
                DemoVerdict.digits(ratio) + " x");
    }

    private record Unit(double size, String name) {
        /// The largest that is not larger than the value, else the smallest.
        static Unit of(double value, List<Unit> units) {
            return units.stream().filter(unit -> unit.size <= value).findFirst().orElse(units.getLast());
        }

        String format(double value) {
            return DemoVerdict.significant(value / size, DIGITS) + " " + name;
        }

        String range(Spread spread) {
            return DemoVerdict.significant(spread.least() / size, DIGITS) + " - "
                    + DemoVerdict.significant(spread.most() / size, DIGITS);
        }
    }

    private static final List<Unit> BYTES_PER_SECOND =
            List.of(new Unit(1e9, "GB/s"), new Unit(1e6, "MB/s"), new Unit(1e3, "kB/s"));
    private static final List<Unit> NANOS = List.of(new Unit(1e6, "ms"), new Unit(1e3, "us"));

    static String gigabytes(double bytesPerSecond) {
        return Unit.of(bytesPerSecond, BYTES_PER_SECOND).format(bytesPerSecond);
    }

    static String micros(double nanos) {
        return Unit.of(nanos, NANOS).format(nanos);
    }
}
