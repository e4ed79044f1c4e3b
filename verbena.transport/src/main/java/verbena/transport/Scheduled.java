package verbena.transport;

import verbena.wire.Frame;

/// What an engine schedules: departures are pulled, timers are asked for. Engine-confined.
///
/// Times are nanoseconds of one monotonic clock of the caller's. Nothing here blocks, allocates or throws.
public interface Scheduled {
    /// No deadline.
    long NEVER = Long.MAX_VALUE;

    /// Fills `frame` with the next packet to send, addresses included; false when there is none now. Called until it
    /// says false after each arrival, doorbell and deadline. What travels in streams leaves meanwhile.
    boolean poll(Frame frame, long nowNanos);

    /// When to call [#onDeadline(long)]; [#NEVER] when there is nothing to wait for. Asking or coming too early does
    /// no harm.
    long deadlineNanos();

    /// Called at the deadline, or when it may have come.
    void onDeadline(long nowNanos);
}
