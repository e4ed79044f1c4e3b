package verbena.wire.ib;

import java.time.Duration;

/// How long an RNR NAK asks the requester to wait: 5 bits for 31 steps from 10 µs to 491.52 ms, and code 0 for the
/// longest, 655.36 ms (IBTA 9.7.5.2.8, table 46).
public final class RnrTimer {
    private static final int[] MICROSECONDS = {
        655_360, 10, 20, 30, 40, 60, 80, 120,
        160, 240, 320, 480, 640, 960, 1_280, 1_920,
        2_560, 3_840, 5_120, 7_680, 10_240, 15_360, 20_480, 30_720,
        40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520
    };

    private RnrTimer() {}

    /// The wait in nanoseconds that `code`, `0..31`, stands for.
    public static long nanos(int code) {
        return MICROSECONDS[code] * 1_000L;
    }

    /// The code of the shortest wait that is not shorter than `duration`.
    ///
    /// @throws IllegalArgumentException when `duration` is negative or longer than 655.36 ms
    public static int encode(Duration duration) {
        if (duration.isNegative() || duration.compareTo(Duration.ofNanos(nanos(0))) > 0) {
            throw new IllegalArgumentException("RNR timer: 0 to 655.36 ms can be said, not " + duration);
        }
        for (int code = 1; code < MICROSECONDS.length; code++) {
            if (nanos(code) >= duration.toNanos()) {
                return code;
            }
        }
        return 0;
    }
}
