package verbena.verbs.cm;

import java.time.Duration;

/// Time limits as numbers and in words.
final class TimeLimits {
    private TimeLimits() {}

    /// Returns a time limit in nanoseconds. One that does not fit is for ever.
    static long nanos(Duration timeout) {
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /// Returns a time limit in words: `10 s`, `250 ms`.
    static String text(Duration limit) {
        long millis = limit.toMillis();
        return limit.equals(Duration.ofSeconds(limit.toSeconds()))
                ? limit.toSeconds() + " s"
                : limit.equals(Duration.ofMillis(millis)) ? millis + " ms" : nanos(limit) / 1_000 + " us";
    }
}
