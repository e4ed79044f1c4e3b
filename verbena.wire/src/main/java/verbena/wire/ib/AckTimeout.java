package verbena.wire.ib;

import java.time.Duration;

/// Local ACK timeout: 5 bits for `4.096 µs * 2^code`; code 0 stands for no timeout at all (IBTA 9.7.6.1.3). A CM's
/// response timeout and packet life time count the same way.
public final class AckTimeout {
    /// The largest code: 4.096 µs * 2^31, about 2 h 27 min.
    public static final int CODE_MAX = 31;

    private static final long UNIT_NANOS = 4_096;

    private AckTimeout() {}

    /// The time in nanoseconds that `code`, `0..31`, stands for; 0 for code 0, which means never.
    public static long nanos(int code) {
        if (code < 0 || code > CODE_MAX) {
            throw new IllegalArgumentException("ack timeout: code 0 to 31, not " + code);
        }
        return code == 0 ? 0 : UNIT_NANOS << code;
    }

    /// The code of the shortest time that is not shorter than `duration`; 0, never, for a zero duration.
    ///
    /// @throws IllegalArgumentException when `duration` is negative or longer than code 31 can say
    public static int encode(Duration duration) {
        if (duration.isNegative() || duration.compareTo(Duration.ofNanos(nanos(CODE_MAX))) > 0) {
            throw new IllegalArgumentException("ack timeout: 0 to 8796 s can be said, not " + duration);
        }
        int code = 0;
        while (nanos(code) < duration.toNanos()) {
            code++;
        }
        return code;
    }
}
