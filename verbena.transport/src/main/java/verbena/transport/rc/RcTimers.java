package verbena.transport.rc;

import java.util.Arrays;
import verbena.transport.Protocol;

/// The deadlines of all [RcTimer]s. Engine-confined.
final class RcTimers {
    private final long[] deadlines = new long[RcTimer.values().length];

    RcTimers() {
        cancelAll();
    }

    void set(RcTimer timer, long deadlineNanos) {
        deadlines[timer.ordinal()] = deadlineNanos;
    }

    void cancel(RcTimer timer) {
        deadlines[timer.ordinal()] = Protocol.NEVER;
    }

    void cancelAll() {
        Arrays.fill(deadlines, Protocol.NEVER);
    }

    boolean isSet(RcTimer timer) {
        return deadlines[timer.ordinal()] != Protocol.NEVER;
    }

    /// Returns whether the timer is due. If so, it is not set any more.
    boolean expire(RcTimer timer, long now) {
        if (deadlines[timer.ordinal()] > now) {
            return false;
        }
        cancel(timer);
        return true;
    }

    /// Returns the first deadline of all; [Protocol#NEVER] when no timer is set.
    long earliest() {
        long earliest = Protocol.NEVER;
        for (long deadline : deadlines) {
            earliest = Math.min(earliest, deadline);
        }
        return earliest;
    }
}
