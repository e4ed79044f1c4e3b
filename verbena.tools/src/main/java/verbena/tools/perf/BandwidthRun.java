package verbena.tools.perf;

import java.util.Arrays;
import java.util.function.Consumer;
import verbena.tools.report.Timeline;

/// The loop that measures bandwidth: keeps the send queues full, or the receive queues, or both. For one thread,
/// once for each size.
final class BandwidthRun {
    private static final int POLL_BATCH = 16;
    private static final int SAMPLES_MAX = 2 * Timeline.POINTS;

    private final PerfEnd end;
    private final Options options;
    private final boolean isDuration;
    private final Progress progress;
    private final boolean sends;
    private final boolean receives;
    private final int queuePairs;
    private final int size;
    /// Messages of each queue pair; no end when there is a duration.
    private final long limit;
    private final long total;
    private final Clock clock;
    private final StallWatch stalls;

    private final long[] sent;
    private final long[] completed;
    private final long[] received;
    private final long[] receivesPosted;
    private final int[] receivesFree;
    private long allSent;
    private long allCompleted;
    private long allReceived;
    private boolean interrupted;

    // For the peak: when each message was posted and completed. Otherwise the first and the last of all.
    private final boolean peak;
    private final long[] postedAt;
    private final long[] completedAt;
    // For the timeline: what was through at some times. Taken every so many messages, or every so many nanoseconds.
    private final long[] sampleNanos = new long[SAMPLES_MAX];
    private final long[] sampleMessages = new long[SAMPLES_MAX];
    private int samples;
    private long nextSample;

    private long firstNanos;
    private long lastNanos;

    /// @param sends whether messages go out from here
    /// @param receives whether messages are to be received here
    BandwidthRun(PerfEnd end, Exchange exchange, int size, boolean sends, boolean receives, Progress progress) {
        this(end, exchange, size, sends, receives, progress, 0);
    }

    /// A round of the warm-up.
    ///
    /// @param messages of each queue pair; 0 for the run that counts, whose number the options tell
    BandwidthRun(
            PerfEnd end,
            Exchange exchange,
            int size,
            boolean sends,
            boolean receives,
            Progress progress,
            int messages) {
        this.end = end;
        this.size = size;
        this.sends = sends;
        this.receives = receives;
        this.progress = progress;
        options = end.options;
        queuePairs = options.queuePairs;
        boolean isWarmUp = messages > 0;
        isDuration = options.isDuration() && !isWarmUp;
        limit = isWarmUp ? messages : isDuration ? Long.MAX_VALUE : options.iterations;
        total = isDuration ? Long.MAX_VALUE : limit * queuePairs;
        clock = isWarmUp ? new Clock() : new Clock(options);
        stalls = new StallWatch(end, exchange, clock, this::soFar);
        sent = new long[queuePairs];
        completed = new long[queuePairs];
        received = new long[queuePairs];
        receivesPosted = new long[queuePairs];
        receivesFree = new int[queuePairs];
        peak = !options.noPeak && sends && !isWarmUp;
        postedAt = new long[peak ? (int) total : 0];
        completedAt = new long[peak ? (int) total : 0];
        end.requests.begin(size);
        if (receives) {
            postReceives();
        }
    }

    private void postReceives() {
        int each = (int) Math.min(limit, options.receiveDepth / (options.sharedReceiveQueue ? queuePairs : 1));
        int lists = each / options.receivePostList;
        for (int i = 0; i < queuePairs; i++) {
            for (int j = 0; j < lists; j++) {
                end.requests.postReceives(i, options.receivePostList);
            }
            receivesPosted[i] = (long) lists * options.receivePostList;
        }
    }

    /// Runs to the end, or until the thread is interrupted.
    ///
    /// @param eachPeriod with `--run_infinitely`, is told the figures of each period
    Bandwidth run(Consumer<Bandwidth> eachPeriod) {
        boolean maySend = sends && !(receives && !options.isClient()); // a server follows its client
        if (maySend || !receives) {
            start();
        }
        while (isUnfinished()) {
            boolean idle = true;
            if (maySend && post()) {
                idle = false;
            }
            if (sends && takeSent()) {
                idle = false;
            }
            if (receives && !sends) {
                end.pollCredits();
            }
            if (receives && takeReceived()) {
                if (!clock.isStarted()) {
                    start();
                }
                maySend = sends;
                idle = false;
            }
            if (isDuration) {
                tick(eachPeriod);
            }
            if (idle) {
                if (isGivenUp()) {
                    break;
                }
            } else {
                stalls.progress();
                progress.at(allCompleted + allReceived);
                if (!isDuration && allCompleted + allReceived >= nextSample) {
                    nextSample = allCompleted + allReceived + Math.max(1, total / Timeline.POINTS);
                    sample(System.nanoTime());
                }
            }
        }
        lastNanos = System.nanoTime();
        clock.stop(lastNanos);
        if (isDuration && sends && !receives) {
            drain();
        }
        return result();
    }

    private boolean isUnfinished() {
        return isDuration ? !clock.isOver() : (sends && allCompleted < total) || (receives && allReceived < total);
    }

    private void start() {
        firstNanos = System.nanoTime();
        clock.start(firstNanos);
        sample(firstNanos);
        nextSample = isDuration ? firstNanos + clock.part(Timeline.POINTS) : Math.max(1, total / Timeline.POINTS);
    }

    private boolean post() {
        int list = options.postList;
        boolean some = false;
        for (int i = 0; i < queuePairs; i++) {
            while (sent[i] < limit
                    && sent[i] - completed[i] + list <= options.sendDepth
                    && end.mayPost(i, sent[i] + list)) {
                if (peak) {
                    postedAt[(int) allSent] = System.nanoTime();
                }
                end.requests.post(i, sent[i], list, limit);
                sent[i] += list;
                allSent += list;
                some = true;
            }
        }
        return some;
    }

    private boolean takeSent() {
        for (int n = 0; n < POLL_BATCH; n++) {
            int i = end.pollSend();
            if (i < 0) {
                return n > 0;
            }
            long stands = Math.min(options.moderation, sent[i] - completed[i]);
            completed[i] += stands;
            allCompleted += stands;
            if (peak) {
                completedAt[(int) allCompleted - 1] = System.nanoTime();
            }
            clock.count(stands);
        }
        return true;
    }

    private boolean takeReceived() {
        for (int n = 0; n < POLL_BATCH; n++) {
            int i = end.pollReceive();
            if (i < 0) {
                return n > 0;
            }
            received[i]++;
            allReceived++;
            receivesFree[i]++;
            clock.count(1);
            if (receivesFree[i] >= options.receivePostList && receivesPosted[i] + options.receivePostList <= limit) {
                end.requests.postReceives(i, options.receivePostList);
                receivesFree[i] -= options.receivePostList;
                receivesPosted[i] += options.receivePostList;
            }
            end.received(i, received[i]);
        }
        return true;
    }

    private void tick(Consumer<Bandwidth> eachPeriod) {
        long now = System.nanoTime();
        clock.tick(now);
        if (clock.isStarted() && now >= nextSample) {
            nextSample = now + clock.part(Timeline.POINTS);
            sample(now);
        }
        long period = clock.takePeriod(now);
        if (period > 0) {
            eachPeriod.accept(Bandwidth.of(size, clock.takeCounted(), period, 0, options.gigabits));
        }
    }

    private void sample(long now) {
        if (samples < SAMPLES_MAX) {
            sampleNanos[samples] = now;
            sampleMessages[samples++] = allCompleted + allReceived;
        }
    }

    /// Returns the course of the bandwidth through the run.
    Timeline timeline() {
        long[] bytes = Arrays.stream(sampleMessages, 0, samples)
                .map(messages -> messages * size)
                .toArray();
        return Timeline.ofBytes(Arrays.copyOf(sampleNanos, samples), bytes);
    }

    private boolean isGivenUp() {
        interrupted |= stalls.isInterrupted();
        return interrupted;
    }

    private String soFar() {
        return allSent + " messages sent, " + allReceived + " received, of " + (isDuration ? "any number" : total);
    }

    // What is still on its way belongs to no figures, but is to arrive before the queue pairs go.
    private void drain() {
        for (int i = 0; i < queuePairs; i++) {
            while (completed[i] + options.moderation <= sent[i] && !isGivenUp()) {
                if (takeSent()) {
                    stalls.progress();
                }
            }
        }
    }

    /// Returns whether it was ended before its time.
    boolean isInterrupted() {
        return interrupted;
    }

    private Bandwidth result() {
        if (isDuration) {
            return Bandwidth.of(size, clock.takeCounted(), clock.sampleNanos(), 0, options.gigabits);
        }
        long messages = interrupted ? (sends ? allCompleted : allReceived) : total;
        if (peak && messages > 0) {
            double peakNanos =
                    Bandwidth.peakNanos(postedAt, completedAt, (int) messages, options.postList, options.moderation);
            long nanos = completedAt[(int) messages - 1] - postedAt[0];
            return Bandwidth.of(size, messages, nanos, peakNanos, options.gigabits);
        }
        return Bandwidth.of(size, messages, lastNanos - firstNanos, 0, options.gigabits);
    }
}
