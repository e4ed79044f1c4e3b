package verbena.nio;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The use after which a connection that began by TCP goes on by RDMA: it has moved so many bytes, and is so old. The
/// cost of RDMA is then paid by connections that repay it.
///
/// @param bytes both ways; each call that moves some counts [#CALL] more
/// @param nanos since the connection was made, or went back to TCP
/// @param idleNanos after which a connection that moves no byte goes back to TCP; 0 for never
record Pace(long bytes, long nanos, long idleNanos) {
    /// The bytes that a call is worth: many short messages repay RDMA as well as a few long ones.
    static final int CALL = 256;

    private static final long BYTES = 1 << 18;
    private static final Duration AGE = Duration.ofSeconds(5);
    private static final Duration IDLE = Duration.ofMinutes(1);

    /// Returns the pace that the property `verbena.nio.begin` asks for; null where connections begin by RDMA.
    ///
    /// @throws IllegalArgumentException when it has another value than `rdma` or `tcp`
    static @Nullable Pace chosen() {
        String begin = System.getProperty("verbena.nio.begin", "tcp");
        return switch (begin) {
            case "rdma" -> null;
            case "tcp" ->
                ofMillis(
                        Long.getLong("verbena.nio.after", AGE.toMillis()),
                        Long.getLong("verbena.nio.idle", IDLE.toMillis()));
            default -> throw new IllegalArgumentException("verbena.nio.begin: rdma or tcp, got " + begin);
        };
    }

    /// Makes the pace of connections that move at this age; at zero they move as soon as they can.
    ///
    /// @param idle the time after which they go back; 0 for never
    static Pace ofMillis(long millis, long idle) {
        check("verbena.nio.after", millis);
        check("verbena.nio.idle", idle);
        return new Pace(
                millis == 0 ? 1 : BYTES, TimeUnit.MILLISECONDS.toNanos(millis), TimeUnit.MILLISECONDS.toNanos(idle));
    }

    private static void check(String property, long millis) {
        if (millis < 0) {
            throw new IllegalArgumentException(property + ": 0 milliseconds or more, got " + millis);
        }
    }

    /// Returns the pace of a listener, which has to be there before its peers ask.
    Pace ofListener() {
        return new Pace(Math.max(1, bytes / 2), nanos / 2, idleNanos);
    }

    /// Returns whether a listener has to be there from the start.
    boolean isAtOnce() {
        return nanos == 0;
    }

    /// Returns whether a connection goes back to TCP when it is idle.
    boolean goesBack() {
        return idleNanos != 0;
    }
}
