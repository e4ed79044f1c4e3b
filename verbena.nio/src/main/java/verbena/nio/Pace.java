package verbena.nio;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The use after which a connection that began by TCP goes on by RDMA: it has moved so many bytes, and is so old. The
/// cost of RDMA is then paid by connections that repay it.
///
/// @param bytes both ways; each call that moves some counts [#CALL] more
/// @param nanos since the connection was made
record Pace(long bytes, long nanos) {
    /// The bytes that a call is worth: many short messages repay RDMA as well as a few long ones.
    static final int CALL = 256;

    private static final long BYTES = 1 << 18;
    private static final Duration AGE = Duration.ofSeconds(5);

    /// Returns the pace that the property `verbena.nio.begin` asks for; null where connections begin by RDMA.
    ///
    /// @throws IllegalArgumentException when it has another value than `rdma` or `tcp`
    static @Nullable Pace chosen() {
        String begin = System.getProperty("verbena.nio.begin", "tcp");
        return switch (begin) {
            case "rdma" -> null;
            case "tcp" -> ofMillis(Long.getLong("verbena.nio.after", AGE.toMillis()));
            default -> throw new IllegalArgumentException("verbena.nio.begin: rdma or tcp, got " + begin);
        };
    }

    /// Makes the pace of connections that move at this age; at zero they move as soon as they can.
    static Pace ofMillis(long millis) {
        if (millis < 0) {
            throw new IllegalArgumentException("verbena.nio.after: 0 milliseconds or more, got " + millis);
        }
        return new Pace(millis == 0 ? 1 : BYTES, Duration.ofMillis(millis).toNanos());
    }

    /// Returns the pace of a listener, which has to be there before its peers ask.
    Pace ofListener() {
        return new Pace(Math.max(1, bytes / 2), nanos / 2);
    }

    /// Returns whether a listener has to be there from the start.
    boolean isAtOnce() {
        return nanos == 0;
    }
}
