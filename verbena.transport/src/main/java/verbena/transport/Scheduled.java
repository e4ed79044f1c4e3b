package verbena.transport;

import verbena.wire.Frame;

/// A source of work for an engine, which pulls its departures and asks for its timers. Engine-confined.
///
/// Times are nanoseconds of one monotonic clock of the caller's. Nothing here blocks, allocates or throws.
public interface Scheduled {
    /// No deadline.
    long NEVER = Long.MAX_VALUE;

    /// Fills `frame` with the next packet to send, addresses included; false when there is none now. Called until
    /// it returns false after each arrival, doorbell and deadline. Data of streams leaves meanwhile.
    boolean poll(Frame frame, long nowNanos);

    /// Returns the time to call [#onDeadline(long)]; [#NEVER] when there is nothing to wait for. Asking or coming
    /// too early does no harm.
    long deadlineNanos();

    /// Called at the deadline, or when it may have come.
    void onDeadline(long nowNanos);
}
