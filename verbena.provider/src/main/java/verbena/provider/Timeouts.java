package verbena.provider;

import java.time.Duration;

/// Durations of callers as nanoseconds.
public final class Timeouts {
    /// No limit, in nanoseconds: small enough to be added to a time.
    public static final long NONE = Long.MAX_VALUE / 4;

    private static final Duration LONGEST = Duration.ofNanos(NONE);

    private Timeouts() {}

    /// Returns the timeout in nanoseconds: never negative, and small enough to be added to a time.
    public static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return timeout.compareTo(LONGEST) >= 0 ? NONE : timeout.toNanos();
    }
}
