package verbena.nic.engine;

/// Whether one who waits should look again and again before it sleeps in the kernel: only when its waits have been
/// short of late, so that who waits for long costs no CPU, and only while nobody else wants the processor: who has
/// slept gets it back at once when it is woken, who has spun has to wait for its turn. A guess: threads may
/// overwrite each other's.
public final class Patience {
    /// How long to look before sleeping: some round trips on loopback.
    private static final long SPIN_NANOS = 50_000;
    /// How long waits have to be, on the average, for that to be worth while.
    private static final long WORTHWHILE_NANOS = 2 * SPIN_NANOS;
    /// A single wait counts for no more, so that one long one is soon forgotten.
    private static final long WAIT_NANOS_MAX = 1_000_000;
    /// When so much time passes between two looks, the processor was taken away; no spinning for a while then.
    private static final long TAKEN_NANOS = 500_000;

    private static final long RESPECT_NANOS = 100_000_000;

    private long averageNanos;
    private long respectUntil = Long.MIN_VALUE;

    /// Whether to look once more; else to sleep.
    ///
    /// @param start when the wait began
    /// @param last when the look before was
    public boolean looksAgain(long start, long last, long now) {
        if (now - last > TAKEN_NANOS) {
            respectUntil = now + RESPECT_NANOS;
        }
        return now - start < SPIN_NANOS && averageNanos < WORTHWHILE_NANOS && now >= respectUntil;
    }

    /// A wait has ended.
    public void waited(long nanos) {
        averageNanos += (Math.min(nanos, WAIT_NANOS_MAX) - averageNanos) / 8;
    }
}
