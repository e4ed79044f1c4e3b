package verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.stream.LongStream;

/// The loop that measures latency: one message at a time, there and back. For one thread, once for each size.
final class LatencyRun {
    private static final int TIMES_MAX = 1 << 22;
    /// A look at the clock costs half as much as a poll of memory, and what it costs is part of a latency.
    private static final int POLLS_FOR_A_LOOK = 64;

    private static final int POLLS_FOR_A_QUESTION = 8;
    /// The number of looks at the memory for each poll, which takes ten times as long.
    private static final int LOOKS_FOR_A_POLL = 8;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final PerfEnd end;
    private final Options options;
    private final boolean isDuration;
    private final boolean isWarmUp;
    private final Progress progress;
    private final int size;
    private final long limit;
    private final Clock clock;
    private final StallWatch stalls;
    /// Times from one post to the next, the last so many.
    private final long[] between;
    /// Messages of this size before this run: those of the warm-up.
    private final long before;
    private long times;
    private long postedAt;
    private long sent;
    private long completed;
    private long received;
    private boolean interrupted;
    private int vainPolls;
    /// Whether a receive was taken that is not posted again.
    private boolean isReceiveTaken;

    /// @param before how many messages of this size both ends have exchanged already, to warm up
    LatencyRun(PerfEnd end, Exchange exchange, int size, Progress progress, long before) {
        this(end, exchange, size, progress, before, 0);
    }

    /// A round of the warm-up.
    ///
    /// @param messages in this round; 0 for the run that counts, which has as many as the options say
    LatencyRun(PerfEnd end, Exchange exchange, int size, Progress progress, long before, int messages) {
        this.end = end;
        this.size = size;
        this.progress = progress;
        this.before = before;
        options = end.options;
        isWarmUp = messages > 0;
        isDuration = options.isDuration() && !isWarmUp;
        limit = isWarmUp ? messages : isDuration ? Long.MAX_VALUE : options.iterations;
        clock = isWarmUp ? new Clock() : new Clock(options);
        stalls = new StallWatch(end, exchange, clock, this::soFar);
        between = new long[(int) Math.min(limit, TIMES_MAX)];
        end.requests.begin(size);
        if (options.verb.takesReceives()) {
            end.requests.postReceives(0, receiveDepth());
        }
    }

    private int receiveDepth() {
        return (int) Math.min(options.receiveDepth, limit);
    }

    /// Runs to the end, or until the thread is interrupted.
    void run() {
        switch (options.verb) {
            case WRITE -> writes();
            case SEND, WRITE_IMM -> pingPong();
            case READ, ATOMIC -> questions();
        }
        clock.stop(System.nanoTime());
    }

    // A ping-pong of WRITEs: each end waits until the last byte in its memory has the next number. The server begins.
    private void writes() {
        MemorySegment memory = end.region.segment();
        long last = size - 1L;
        long theirs = end.layout.remoteOffset(0) + last;
        clock.start(System.nanoTime());
        while (sent < limit || received < limit) {
            if (received < limit && !(sent == 0 && !options.isClient())) {
                byte next = (byte) (before + ++received);
                while (!isThere(memory, theirs, next)) {
                    if (end.pollSend() >= 0) {
                        completed++;
                    }
                    if (isOver()) {
                        return;
                    }
                }
                stalls.progress();
            }
            if (sent < limit) {
                pause();
                memory.set(ValueLayout.JAVA_BYTE, last, (byte) (before + sent + 1));
                end.requests.postOne(true);
                stamp();
                while (completed < sent) {
                    if (end.pollSend() >= 0) {
                        completed++;
                        count();
                    } else if (isOver()) {
                        return;
                    }
                }
            }
        }
    }

    private static boolean isThere(MemorySegment memory, long at, byte value) {
        for (int i = 0; i < LOOKS_FOR_A_POLL; i++) {
            if ((byte) BYTE.getAcquire(memory, at) == value) {
                return true;
            }
        }
        return false;
    }

    // A ping-pong of messages that take receives. The client begins.
    private void pingPong() {
        if (options.isClient()) {
            clock.start(System.nanoTime());
        }
        while (sent < limit || received < limit) {
            if (received < limit && !(sent == 0 && options.isClient())) {
                while (end.pollReceive() < 0) {
                    if (isOver()) {
                        return;
                    }
                }
                if (!clock.isStarted()) {
                    clock.start(System.nanoTime());
                }
                received++;
                count();
                isReceiveTaken = received + receiveDepth() <= limit;
            }
            if (sent < limit) {
                pause();
                end.requests.postOne(true);
                stamp();
                if (isReceiveTaken) {
                    isReceiveTaken = false;
                    end.requests.postReceives(0, 1); // not before the answer, which would have to wait for it
                }
                while (end.pollSend() < 0) {
                    if (isOver()) {
                        return;
                    }
                }
                stalls.progress();
            }
        }
    }

    // READs and atomics: the completion is the answer.
    private void questions() {
        clock.start(System.nanoTime());
        while (sent < limit) {
            pause();
            end.requests.postOne(true);
            stamp();
            while (end.pollSend() < 0) {
                if (isOver()) {
                    return;
                }
            }
            count();
        }
    }

    private void pause() {
        if (options.gapMicros > 0 && !isWarmUp) {
            long until = System.nanoTime() + options.gapMicros * 1_000L;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
    }

    /// Takes the time after a request was posted. The work before a post is part of a latency, and the look at the
    /// clock is not.
    private void stamp() {
        long now = System.nanoTime();
        if (sent > 0 && (!isDuration || clock.samples())) {
            between[(int) (times++ % between.length)] = now - postedAt;
        }
        postedAt = now;
        sent++;
    }

    private void count() {
        stalls.progress();
        progress.at(sent);
        if (isDuration) {
            clock.tick(postedAt);
            clock.count(1);
        }
    }

    // Nothing has come: whether to stop. Most polls do not ask, because the question takes time, too.
    private boolean isOver() {
        if (++vainPolls % POLLS_FOR_A_QUESTION != 0) {
            return false;
        }
        if (isDuration) {
            if (vainPolls % POLLS_FOR_A_LOOK == 0) {
                clock.tick(System.nanoTime());
            }
            if (clock.isOver()) {
                return true;
            }
        }
        interrupted |= stalls.isInterrupted();
        return interrupted;
    }

    private String soFar() {
        return sent + " messages sent, " + received + " received, of " + (isDuration ? "any number" : limit);
    }

    /// Returns whether it was ended before its time.
    boolean isInterrupted() {
        return interrupted;
    }

    /// Returns the number of messages that were counted.
    long messages() {
        return isDuration ? clock.takeCounted() : sent;
    }

    /// Returns the times between two posts that count, in nanoseconds; the last four million, for there may be
    /// many.
    long[] betweenPosts() {
        long first = Math.max(0, times - between.length);
        return LongStream.range(first, times)
                .map(i -> between[(int) (i % between.length)])
                .toArray();
    }

    /// Returns the time that was counted, for a run with a duration.
    long sampleNanos() {
        return clock.sampleNanos();
    }
}
