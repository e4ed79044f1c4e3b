package verbena.verbs;

import java.time.Duration;

/// Local ACK timeout: the time that a requester waits for an answer before it retransmits (IBTA 9.7.6.1.3).
/// Immutable. On the wire and in libibverbs it is a 5-bit code n, which stands for `4.096 µs × 2^n`. Code 0 waits for
/// ever.
///
/// @param code 0 to 31; the constructor throws [IllegalArgumentException] for any other value
/// @since 0.1
public record AckTimeout(int code) {
    /// Never gives up waiting.
    public static final AckTimeout NEVER = new AckTimeout(0);

    public AckTimeout {
        if (code < 0 || code > 31) {
            throw new IllegalArgumentException("ack timeout code: 0 to 31, got " + code);
        }
    }

    /// Returns the shortest timeout that is not shorter than `duration`; zero gives 8.2 µs, the shortest there is.
    ///
    /// @throws IllegalArgumentException when `duration` is negative or over 8796 s
    public static AckTimeout atLeast(Duration duration) {
        if (!duration.isNegative()) {
            for (int code = 1; code <= 31; code++) {
                var timeout = new AckTimeout(code);
                if (timeout.duration().compareTo(duration) >= 0) {
                    return timeout;
                }
            }
        }
        throw new IllegalArgumentException("ack timeout: 0 to " + Duration.ofNanos(nanos(31)) + ", got " + duration);
    }

    /// Returns the time; zero for [#NEVER].
    public Duration duration() {
        return Duration.ofNanos(nanos(code));
    }

    private static long nanos(int code) {
        return code == 0 ? 0 : 4_096L << code;
    }

    @Override
    public String toString() {
        return code == 0 ? "never (code 0)" : duration() + " (code " + code + ")";
    }
}
