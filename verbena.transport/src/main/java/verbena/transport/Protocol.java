package verbena.transport;

import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// What the engine, the simulator and a test know of a queue pair's protocol: four verbs. Engine-confined.
///
/// Arrivals are pushed, departures are pulled, timers are asked for. Times are nanoseconds of one monotonic clock of
/// the caller's. Nothing here blocks, allocates or throws, whatever arrives.
public interface Protocol {
    /// No deadline.
    long NEVER = Long.MAX_VALUE;

    /// A packet has arrived for this queue pair; its lengths and ICRC have been checked, and `opcode` is that of its
    /// BTH. The frame is free again when this returns.
    PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos);

    /// Fills `frame` with the next packet to send, addresses included; false when there is none now. Called until it
    /// says false after each arrival, doorbell and deadline.
    boolean poll(Frame frame, long nowNanos);

    /// When to call [#onDeadline(long)]; [#NEVER] when there is nothing to wait for. Asking or coming too early does
    /// no harm.
    long deadlineNanos();

    /// That time has come, perhaps.
    void onDeadline(long nowNanos);
}
