package verbena.tools.perf;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.report.Distribution;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;
import verbena.tools.report.Timeline;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;

/// The measuring itself, once the ends are connected: size by size, and what they say to each other between and at
/// the end. For one thread, once.
final class Measurement {
    private static final int LARGEST_POWER = 23;

    private final Options options;
    private final Verb verb;
    private final Printer printer;
    private final PrintWriter err;
    private final Exchange exchange;
    private final PerfEnd end;
    private final PerfPeer self;
    private final Mtu mtu;
    private final WarmUp warmUp;
    private final List<Result> results = new ArrayList<>();
    /// The course of the last bandwidth, for the report.
    private @Nullable Timeline timeline;
    private boolean interrupted;
    private boolean missed;

    /// @param self what to tell of the first queue pair whenever the ends wait for each other
    /// @param warmUp what comes before
    Measurement(
            PerfEnd end, Exchange exchange, PerfPeer self, Mtu mtu, Printer printer, PrintWriter err, WarmUp warmUp) {
        this.end = end;
        this.warmUp = warmUp;
        this.exchange = exchange;
        this.self = self;
        this.mtu = mtu;
        this.printer = printer;
        this.err = err;
        options = end.options;
        verb = options.verb;
    }

    /// Measures, prints, and takes leave of the peer.
    void run() throws InterruptedException {
        exchange.waitWithoutLimit();
        try {
            if (options.isLatency) {
                latency();
            } else {
                bandwidth();
            }
        } catch (CommandFailed e) {
            if (!interrupted) {
                throw e; // the peer may have been interrupted as well, and have no more words
            }
        }
    }

    /// Returns the results.
    List<Result> results() {
        return results;
    }

    /// Returns whether the thread was interrupted before all was measured.
    boolean isInterrupted() {
        return interrupted;
    }

    /// Returns whether a figure is below what the user has set.
    boolean hasMissed() {
        return missed;
    }

    private List<Integer> sizes() {
        if (!options.all) {
            return List.of(options.size);
        }
        int power = options.type == QpType.UD ? Integer.numberOfTrailingZeros(mtu.bytes()) : LARGEST_POWER;
        return IntStream.rangeClosed(1, power).mapToObj(i -> 1 << i).toList();
    }

    // ---- bandwidth

    private void bandwidth() throws InterruptedException {
        printer.heading();
        if (!verb.takesReceives() && !options.sends()) {
            // The peer does it all, and tells.
            meet();
            Bandwidth theirs = nothing().swap(exchange).toldBy(exchange.peer());
            printer.bandwidth(theirs);
            keep(theirs);
            end();
            printer.line();
            return;
        }
        Bandwidth last = nothing();
        for (int size : sizes()) {
            last = verb.takesReceives() ? messages(size) : remote(size);
            if (interrupted) {
                break;
            }
        }
        printer.line();
        if (interrupted && verb.takesReceives()) {
            return; // the peer waits for messages, not for words
        }
        if (!verb.takesReceives() && !options.bidirectional) {
            meet();
            Bandwidth _ = last.swap(exchange);
        }
        end();
    }

    private static Bandwidth nothing() {
        return new Bandwidth(0, 0, 0, 0, 0);
    }

    // ---- warm-up

    private Progress warmingUp(int size) {
        return new Progress(err, "warming up with " + size + " bytes", 0);
    }

    private double round(BandwidthRun run, int messages) throws InterruptedException {
        long start = System.nanoTime();
        Bandwidth _ = run.run(_ -> {});
        stop(run.isInterrupted());
        return messages * 1e9 / (System.nanoTime() - start);
    }

    private double round(LatencyRun run, int messages) throws InterruptedException {
        long start = System.nanoTime();
        run.run();
        stop(run.isInterrupted());
        long[] times = run.betweenPosts();
        Arrays.sort(times);
        return times.length > 0 ? times[times.length / 2] : (double) (System.nanoTime() - start) / messages;
    }

    // Nothing has been measured yet, so there is nothing to tell.
    private static void stop(boolean interrupted) throws InterruptedException {
        if (interrupted) {
            boolean _ = Thread.interrupted();
            throw new InterruptedException();
        }
    }

    private void warmUpWithWritesOrReads(int size) throws InterruptedException {
        try (var progress = warmingUp(size)) {
            warmUp.alone(
                    size,
                    (messages, _) ->
                            round(new BandwidthRun(end, exchange, size, true, false, progress, messages), messages));
        }
    }

    private void warmUpWithMessages(int size, boolean receives) throws InterruptedException {
        try (var progress = warmingUp(size)) {
            long _ = warmUp.together(size, end.messagesAtOnceMax(), (messages, _) -> {
                var run = new BandwidthRun(end, exchange, size, options.sends(), receives, progress, messages);
                meet();
                end.meet();
                return round(run, messages);
            });
        }
    }

    // How many messages it had that count in the peer's memory.
    private long warmUpLatency(int size) throws InterruptedException {
        try (var progress = warmingUp(size)) {
            if (verb.isAnswered()) {
                warmUp.alone(
                        size,
                        (messages, before) ->
                                round(new LatencyRun(end, exchange, size, progress, before, messages), messages));
                return 0;
            }
            return warmUp.together(size, WarmUp.messagesMax(), (messages, before) -> {
                var run = new LatencyRun(end, exchange, size, progress, before, messages);
                if (verb.takesReceives()) {
                    meet();
                }
                return round(run, messages);
            });
        }
    }

    // WRITE, READ and atomics: the peer's program has no part in it, unless it does the same.
    private Bandwidth remote(int size) throws InterruptedException {
        warmUpWithWritesOrReads(size);
        try (var progress = progress(size)) {
            var run = new BandwidthRun(end, exchange, size, true, false, progress);
            if (options.bidirectional && !options.forEver) {
                meet();
            }
            Bandwidth here = run.run(this::show);
            interrupted(run.isInterrupted());
            timeline = run.timeline();
            if (!options.bidirectional || options.forEver || interrupted) {
                show(here);
                return here;
            }
            if (options.all) {
                meet();
            }
            bothWays(here);
            return here;
        }
    }

    // SEND and WRITE with immediate: the peer's program receives.
    private Bandwidth messages(int size) throws InterruptedException {
        boolean receives = !options.isClient() || options.bidirectional;
        warmUpWithMessages(size, receives);
        try (var progress = progress(size)) {
            var run = new BandwidthRun(end, exchange, size, options.sends(), receives, progress);
            meet();
            end.meet();
            Bandwidth here = run.run(this::show);
            interrupted(run.isInterrupted());
            timeline = run.timeline();
            if (interrupted || !options.bidirectional || options.isDuration()) {
                show(here);
            } else {
                bothWays(here);
            }
            if (options.all && !interrupted) {
                meet();
            }
            return here;
        }
    }

    private Progress progress(int size) {
        long each = options.isLatency || !options.bidirectional || !verb.takesReceives() ? 1 : 2;
        long total = options.isDuration() ? 0 : each * options.iterations * options.queuePairs;
        return new Progress(err, size + " bytes", total);
    }

    private void show(Bandwidth result) {
        printer.bandwidth(result);
        keep(result);
    }

    private void bothWays(Bandwidth here) throws InterruptedException {
        Bandwidth there = here.swap(exchange).toldBy(exchange.peer());
        show(here.plus(there));
        if (options.reportBoth) {
            printer.bothWays(here, there);
            results.add(here.result("local", options.gigabits, null));
            results.add(there.result("remote", options.gigabits, null));
        }
    }

    private void keep(Bandwidth result) {
        missed |= result.average() < options.bandwidthMin || result.messageRate() < options.messageRateMin;
        if (missed) {
            err.println("below the limit of -w or -y");
            err.flush();
        }
        results.add(result.result(null, options.gigabits, options.all ? null : timeline));
    }

    private void interrupted(boolean now) {
        interrupted |= now;
        if (interrupted) {
            boolean _ = Thread.interrupted(); // what is left is to say what has been measured
        }
    }

    // ---- latency

    private void latency() throws InterruptedException {
        if (verb.isAnswered() && !options.isClient()) {
            end();
            printer.line();
            return;
        }
        if (!options.histogram && !options.unsorted) {
            printer.heading();
        }
        for (int size : sizes()) {
            long before = warmUpLatency(size);
            try (var progress = progress(size)) {
                var run = new LatencyRun(end, exchange, size, progress, before);
                if (verb.takesReceives()) {
                    meet();
                }
                run.run();
                interrupted(run.isInterrupted());
                show(size, run);
            }
            if (interrupted) {
                break;
            }
        }
        printer.line();
        if (verb == Verb.WRITE || (interrupted && verb.takesReceives())) {
            exchange.part(false);
        } else {
            end();
        }
    }

    private void show(int size, LatencyRun run) {
        double legs = verb.isAnswered() ? 1 : 2;
        double factor = (options.cycles ? 1 : 1e-3) / legs;
        double[] times = Arrays.stream(run.betweenPosts())
                .mapToDouble(nanos -> nanos * factor)
                .toArray();
        if (times.length == 0) {
            return; // interrupted before there was anything to tell
        }
        var found = new Latencies(times);
        if (options.unsorted || options.histogram) {
            printer.times(options.unsorted ? times : found.sorted());
            printer.heading();
        }
        long messages = run.messages();
        double unit = options.cycles ? 1e-3 : 1;
        double mean = found.average() * unit;
        Double rate = null;
        if (options.isDuration()) {
            double seconds = run.sampleNanos() / 1e9;
            mean = seconds * 1e6 / legs / messages;
            rate = messages / seconds / 1e6;
            printer.averageLatency(size, messages, mean, messages / seconds);
        } else {
            printer.latencies(size, messages, found);
        }
        results.add(new Result(
                null,
                size,
                messages,
                null,
                null,
                rate,
                new Latency(
                        found.min() * unit,
                        found.median() * unit,
                        found.percentile(0.99) * unit,
                        found.percentile(0.999) * unit,
                        found.max() * unit,
                        mean,
                        found.deviation() * unit),
                options.all ? null : Timeline.ofTimes(run.betweenPosts(), 1e-3 / legs),
                options.all
                        ? null
                        : Distribution.of(
                                Arrays.stream(times).map(time -> time * unit).toArray())));
    }

    private void meet() throws InterruptedException {
        PerfPeer _ = exchange.swap(self);
    }

    private void end() throws InterruptedException {
        meet();
        exchange.part(true);
    }
}
