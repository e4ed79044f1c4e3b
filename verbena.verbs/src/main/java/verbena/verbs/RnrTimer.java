package verbena.verbs;

import java.time.Duration;

/// Minimum RNR NAK timer: the time that a responder without a posted receive asks its peer to wait (IBTA 9.7.5.2.8).
/// Immutable. On the wire it is a 5-bit code of a table, from 0.01 ms to 655.36 ms. Code 0 is the *longest*.
///
/// @param code 0 to 31; the constructor throws [IllegalArgumentException] for any other value
/// @since 0.1
public record RnrTimer(int code) {
    /// The times in hundredths of a millisecond, by code.
    private static final int[] TABLE = {
        65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048, 3_072,
        4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
    };

    public RnrTimer {
        if (code < 0 || code > 31) {
            throw new IllegalArgumentException("rnr timer code: 0 to 31, got " + code);
        }
    }

    /// Returns the shortest timer that is not shorter than `duration`.
    ///
    /// @throws IllegalArgumentException when `duration` is negative or over 655.36 ms
    public static RnrTimer atLeast(Duration duration) {
        if (!duration.isNegative()) {
            for (int i = 1; i <= 32; i++) {
                var timer = new RnrTimer(i & 31); // code 0 comes last
                if (timer.duration().compareTo(duration) >= 0) {
                    return timer;
                }
            }
        }
        throw new IllegalArgumentException("rnr timer: 0 to 655.36 ms, got " + duration);
    }

    /// Returns the time.
    public Duration duration() {
        return Duration.ofNanos(nanos(code));
    }

    /// Returns the time in nanoseconds.
    public long nanos() {
        return nanos(code);
    }

    private static long nanos(int code) {
        return TABLE[code & 31] * 10_000L;
    }

    @Override
    public String toString() {
        return duration() + " (code " + code + ")";
    }
}
