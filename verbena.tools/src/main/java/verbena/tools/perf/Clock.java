package verbena.tools.perf;

/// The time of a run of `-D` seconds: what happens in the margins at its start and end does not count.
final class Clock {
    private final long durationNanos;
    private final long marginNanos;
    private final long periodNanos;
    private boolean started;
    private long startNanos;
    private long sampleStart;
    private long sampleEnd;
    private boolean samples;
    private boolean over;
    private long messages;
    private long sampled;

    /// A clock that never ends a run, and all of it counts.
    Clock() {
        durationNanos = Long.MAX_VALUE;
        marginNanos = 0;
        periodNanos = Long.MAX_VALUE;
    }

    /// @param options with a duration; without one this clock never ends a run, and all of it counts
    Clock(Options options) {
        Integer duration = options.durationSeconds;
        Integer margin = options.marginSeconds;
        long nanos = duration == null ? Long.MAX_VALUE : duration * 1_000_000_000L;
        durationNanos = options.forEver ? Long.MAX_VALUE : nanos;
        marginNanos = margin == null || options.forEver ? 0 : margin * 1_000_000_000L;
        periodNanos = options.forEver ? nanos : Long.MAX_VALUE;
    }

    /// Returns the length of one of so many equal parts of the run, or of a period of a run without end; in
    /// nanoseconds.
    long part(int parts) {
        return Math.min(durationNanos, periodNanos) / parts;
    }

    void start(long now) {
        started = true;
        startNanos = now;
        tick(now);
    }

    boolean isStarted() {
        return started;
    }

    /// Takes the present time.
    void tick(long now) {
        if (!started || over) {
            return;
        }
        long passed = now - startNanos;
        if (!samples && sampleEnd == 0 && passed >= marginNanos) {
            samples = true;
            sampleStart = now;
        }
        if (samples && passed >= durationNanos - marginNanos) {
            samples = false;
            sampleEnd = now;
        }
        over = passed >= durationNanos;
    }

    /// Ends the run, perhaps before its time: when that is within the margin at the start, all of it counts.
    void stop(long now) {
        if (sampleEnd == 0) {
            if (!samples) {
                sampleStart = startNanos;
                sampled = messages;
            }
            samples = false;
            sampleEnd = now;
        }
        over = true;
    }

    /// Counts so many more messages.
    void count(long more) {
        messages += more;
        if (samples) {
            sampled += more;
        }
    }

    /// Returns the number of messages that count, and begins to count anew.
    long takeCounted() {
        long counted = sampled;
        sampled = 0;
        return counted;
    }

    /// Returns the length of the period that is over now, and begins the next; 0 when none is over. For
    /// `--run_infinitely`.
    long takePeriod(long now) {
        long passed = now - sampleStart;
        if (!samples || passed < periodNanos) {
            return 0;
        }
        sampleStart = now;
        return passed;
    }

    /// Returns whether messages count now.
    boolean samples() {
        return samples;
    }

    boolean isOver() {
        return over;
    }

    /// Returns the time during which it counted.
    long sampleNanos() {
        return sampleEnd - sampleStart;
    }
}
