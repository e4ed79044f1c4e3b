package verbena.verbs.waiting;

import java.time.Duration;

/// Time limits as numbers and in words.
public final class TimeLimits {
    /// No limit, in nanoseconds.
    public static final long FOREVER = Long.MAX_VALUE;

    private TimeLimits() {}

    /// Returns a time limit in nanoseconds. One that does not fit is for ever, or 0 when it is negative.
    public static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return timeout.isNegative() ? 0 : FOREVER;
        }
    }

    /// Returns the rest of a time limit, at least 0.
    ///
    /// @param nanos the whole limit
    /// @param start when it began, by [System#nanoTime()]
    public static long left(long nanos, long start) {
        return nanos == FOREVER ? FOREVER : Math.max(0, nanos - (System.nanoTime() - start));
    }

    /// Returns a time limit in words: `10 s`, `250 ms`.
    public static String text(Duration limit) {
        long millis = limit.toMillis();
        return limit.equals(Duration.ofSeconds(limit.toSeconds()))
                ? limit.toSeconds() + " s"
                : limit.equals(Duration.ofMillis(millis)) ? millis + " ms" : nanos(limit) / 1_000 + " us";
    }
}
