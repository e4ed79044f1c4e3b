package verbena.tools.perf;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.report.RampUp;
import verbena.tools.report.Steady;

/// The warm-up before a measurement: rounds like the run that counts, until their figures stand still. Where the
/// peer's program takes no part in the operations, an end warms up alone. Otherwise both do it together: the client
/// leads, and tells before each round how many messages it has. For one thread.
final class WarmUp {
    /// The greatest number of messages in one round; more is a mistake of the peer.
    private static final int MESSAGES_MAX = 1 << 20;

    private static final long ROUND_NANOS = 50_000_000;
    private static final int FIRST_BYTES = 1 << 20;
    private static final int FIRST_MESSAGES = 16;
    private static final int GROWTH_MAX = 8;
    /// The divisor of the time for each of several sizes after the first, when most of the code is warm already.
    private static final int FURTHER_SIZES = 12;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Options options;
    private final Exchange exchange;
    private final boolean isPeerReady;
    private final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    private String words;
    private @Nullable String fast;
    private boolean isWarm;
    private boolean isFirst = true;

    /// A round, which measures so many messages of each queue pair.
    interface Round {
        /// Runs the round, and returns its figure, a rate or a time.
        ///
        /// @param before how many messages there were of this size already
        double figure(int messages, long before) throws InterruptedException;
    }

    /// @param isPeerReady whether the peer can warm up together with this end
    WarmUp(Options options, Exchange exchange, boolean isPeerReady) {
        this.options = options;
        this.exchange = exchange;
        this.isPeerReady = isPeerReady;
        words = options.warmUpSeconds == 0
                ? "none, measured cold (--warm-up 0)"
                : "none, measured cold: the peer is not ready to warm up (perftest's programs never are)";
    }

    /// Returns the course of the warm-up.
    String words() {
        return words;
    }

    /// Returns the time at which this process was fast, in words; empty when it led no warm-up.
    Optional<String> fast() {
        return Optional.ofNullable(fast);
    }

    /// Returns whether the figures stood still at its end.
    boolean isWarm() {
        return isWarm;
    }

    /// Runs the rounds of an end whose peer has no part in them.
    void alone(int size, Round round) throws InterruptedException {
        if (options.warmUpSeconds > 0) {
            lead(size, options.postList, MESSAGES_MAX, round, false);
        }
    }

    /// Runs the rounds of both ends.
    ///
    /// @param messagesMax in one round, 0 when this end cannot
    /// @return how many messages they had
    long together(int size, int messagesMax, Round round) throws InterruptedException {
        if (!isPeerReady) {
            return 0;
        }
        int step = leastCommonMultiple(options.postList, options.receivePostList);
        ByteBuffer theirs = swap(step, messagesMax);
        int theirStep = theirs.getInt();
        int theirMax = theirs.getInt();
        if (theirStep < 1 || theirStep > MESSAGES_MAX || theirMax < 0) {
            throw nonsense();
        }
        int bothStep = leastCommonMultiple(step, theirStep);
        int bothMax = Math.min(messagesMax, theirMax) / bothStep * bothStep;
        if (bothMax == 0) {
            words = "none, measured cold: its messages could get lost, or find no receive";
            return 0;
        }
        return options.isClient() ? lead(size, bothStep, bothMax, round, true) : follow(round);
    }

    static int messagesMax() {
        return MESSAGES_MAX;
    }

    private long lead(int size, int step, int max, Round round, boolean together) throws InterruptedException {
        double seconds = isFirst ? options.warmUpSeconds : options.warmUpSeconds / FURTHER_SIZES;
        var steady = new Steady(1, (long) (seconds * NANOS_PER_SECOND));
        var rampUp = new RampUp();
        long before = 0;
        long start = System.nanoTime();
        long wanted = Math.clamp(FIRST_BYTES / Math.max(1, size) / options.queuePairs, 1, FIRST_MESSAGES);
        boolean over = false;
        while (!over) {
            int messages = Math.clamp((wanted + step - 1) / step * step, step, max);
            long compiled = together ? swap(messages, 0).getInt(Integer.BYTES) : 0; // milliseconds at the peer
            long began = System.nanoTime();
            double figure = round.figure(messages, before);
            long now = System.nanoTime();
            before += messages;
            rampUp.add(ManagementFactory.getRuntimeMXBean().getUptime(), messages / (double) Math.max(1, now - began));
            compiled = Math.max(compiled, compilers.getTotalCompilationTime());
            over = steady.add(now - start, (long) (compiled * NANOS_PER_MILLI), figure);
            wanted = Math.clamp(messages * ROUND_NANOS / Math.max(1, now - began), 1, (long) messages * GROWTH_MAX);
        }
        if (together) {
            ByteBuffer _ = swap(0, 0);
        }
        if (isFirst) {
            words = steady.words();
            fast = rampUp.words();
            isWarm = steady.isReached();
            isFirst = false;
        }
        return before;
    }

    private long follow(Round round) throws InterruptedException {
        long before = 0;
        while (true) {
            int messages = swap(0, (int) compilers.getTotalCompilationTime()).getInt();
            if (messages == 0) {
                words = "as long as the client wanted";
                isWarm = true;
                return before;
            }
            if (messages < 0 || messages > MESSAGES_MAX) {
                throw nonsense();
            }
            double _ = round.figure(messages, before);
            before += messages;
        }
    }

    // Two numbers there and back.
    private ByteBuffer swap(int first, int second) throws InterruptedException {
        return ByteBuffer.wrap(exchange.swap(
                ByteBuffer.allocate(Long.BYTES).putInt(first).putInt(second).array()));
    }

    private CommandFailed nonsense() {
        return new CommandFailed("what the peer at " + exchange.peer() + " tells of its warm-up cannot be");
    }

    private static int leastCommonMultiple(int a, int b) {
        int x = a;
        for (int y = b; y != 0; ) {
            int rest = x % y;
            x = y;
            y = rest;
        }
        return a / x * b;
    }
}
