package verbena.tools.demo;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Costs;
import verbena.tools.report.Spread;
import verbena.tools.report.Steady;

/// Contenders of a figure that take turns, round by round: at first until their figures are stable, then for the
/// rounds that count. For one thread.
final class DemoRounds {
    /// The rounds of each contender that count.
    static final int ROUNDS = 5;

    private static final long WARM_UP_ROUND_NANOS = 30_000_000;
    /// A warm-up takes at most so many times as long as the measurement.
    private static final int WARM_UP_FACTOR = 2;

    private static final int SAMPLES_MAX = 1_000_000;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private final DemoPeerProcess peer;
    private final long peerPid;
    private final long nanos;
    private final long[] samples = new long[SAMPLES_MAX];
    private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();

    /// @param seconds how long each contender is measured
    DemoRounds(DemoPeerProcess peer, long peerPid, double seconds) {
        this.peer = peer;
        this.peerPid = peerPid;
        nanos = (long) (seconds * NANOS_PER_SECOND);
    }

    /// Returns the title of a table of these figures.
    static String title() {
        var load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        int cores = Runtime.getRuntime().availableProcessors();
        return "How fast, in this run, on this host: medians of " + ROUNDS + " rounds in turn, " + cores
                + (cores == 1 ? " core" : " cores")
                + (load < 0 ? "" : ", load " + DemoVerdict.digits(load));
    }

    /// The result of a round.
    ///
    /// @param figure bytes a second, or the median in nanoseconds
    /// @param tail the 99th percentile in nanoseconds; 0 for a throughput
    /// @param messages that went one way
    record Round(double figure, double tail, long messages) {}

    interface Contender {
        Round round(long nanos) throws IOException, InterruptedException;
    }

    /// The rounds of one contender that count.
    final class Tally {
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

    /// Warms up, measures, and tells how the warm-up went.
    String inTurn(Tally... tallies) throws IOException, InterruptedException {
        var steady = new Steady(tallies.length, WARM_UP_FACTOR * nanos * tallies.length);
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

    // Takes the process whose compilers have worked more.
    private long compiledNanos() throws InterruptedException {
        long theirs = Long.parseLong(peer.order("compiled")[0]);
        return (long) (Math.max(theirs, compilers.getTotalCompilationTime()) * NANOS_PER_MILLI);
    }

    // Returns what both processes have used so far; null where the system does not tell.
    private @Nullable Costs costs() {
        try {
            return Costs.of(ProcessHandle.current().pid()).plus(Costs.of(peerPid));
        } catch (IOException _) {
            return null;
        }
    }

    /// Returns the throughput of so many blocks.
    static Round throughput(long blocks, long nanos) {
        return new Round(blocks * DemoLane.BLOCK_BYTES * NANOS_PER_SECOND / nanos, 0, blocks);
    }

    /// Sends as many bytes by a socket as the WRITEs of the round before it.
    static Round stream(DemoTcp tcp, long blocks) throws IOException {
        long start = System.nanoTime();
        tcp.send(blocks * DemoLane.BLOCK_BYTES);
        return throughput(blocks, System.nanoTime() - start);
    }

    /// Sends 8 bytes by a socket there and back.
    Round echo(DemoTcp tcp, long howLong) throws IOException, InterruptedException {
        return latency(howLong, number -> checkEcho(tcp.echo(number), number));
    }

    /// Checks that the number which came back is the number that was sent.
    static void checkEcho(long actual, long expected) {
        if (actual != expected) {
            throw new CommandFailed("8-byte message: " + expected + " came back as " + actual);
        }
    }

    interface RoundTrip {
        void go(long number) throws IOException, InterruptedException;
    }

    /// Measures half of each round trip.
    Round latency(long howLong, RoundTrip roundTrip) throws IOException, InterruptedException {
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
}
