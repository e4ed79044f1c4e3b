package verbena.transport.congestion;

import verbena.transport.queue.Path;

/// The clock of a sender that may not be as fast as its link: it decides when its next packet with data may leave.
/// Engine-confined.
///
/// No timer fires for each packet. A sender that may not send yet gives the time when it may ([#dueNanos()]), and
/// its engine sleeps until then. A thread that wakes late sends what was missed, up to [#CATCH_UP_NANOS], so that
/// the rate is right although sleeping is not exact.
public final class Pace {
    /// The part of the past that is made up for.
    static final long CATCH_UP_NANOS = 50_000;

    /// The time from which on a packet at the rate asks for an ACK: others of the connection are far behind it.
    private static final long SLOW_NANOS = 100_000;

    /// The longest pause. A sender that never asks does not learn that the path is free again.
    private static final long PAUSE_NANOS_MAX = 100_000_000;

    private static final long NEVER = Long.MAX_VALUE;

    /// The time when the packets that have left are on the wire, at the rate that they left with.
    private long freeNanos = Long.MIN_VALUE;
    /// The time that the last packet took at that rate.
    private long packetNanos;
    /// Whether a packet waits for that time.
    private boolean isWaiting;

    /// Begins the clock of one sender, for which nothing waits.
    public Pace() {}

    /// Starts the clock: nothing has been sent yet.
    public void start() {
        free();
        isWaiting = false;
    }

    /// Stops the clock: nothing is sent any more.
    public void stop() {
        isWaiting = false;
    }

    /// Returns whether a packet with data may leave now. If not, it waits until [#dueNanos()].
    public boolean mayLeave(long now) {
        isWaiting = freeNanos > now;
        return !isWaiting;
    }

    /// Returns the time when the next packet with data may leave, if not now.
    long leavesNanos(long now) {
        return Math.max(now, freeNanos);
    }

    /// Returns the time when the packet that waits may leave; the largest number when none waits.
    public long dueNanos() {
        return isWaiting ? freeNanos : NEVER;
    }

    /// Stops the wait, if its time has come.
    public void onDue(long now) {
        isWaiting &= freeNanos > now;
    }

    /// Frees the clock: a packet leaves as fast as the link takes it.
    void free() {
        freeNanos = Long.MIN_VALUE;
        packetNanos = 0;
    }

    /// Counts a packet that leaves at a rate.
    ///
    /// @param onWire its bytes there
    void sent(int onWire, double bitsPerSecond, long now) {
        packetNanos = Math.min(PAUSE_NANOS_MAX, (long) (Byte.SIZE * onWire * 1e9 / bitsPerSecond));
        freeNanos = Math.max(freeNanos, now - CATCH_UP_NANOS) + packetNanos;
    }

    /// Counts a packet that leaves by a path. When the path is as fast as the link, the clock stays as it is.
    ///
    /// @param bytes from its BTH through its ICRC
    public void sent(Path by, int bytes, long now) {
        if (by.bitsPerSecond() > 0) {
            sent(bytes + by.aroundPacketBytes(), (double) by.bitsPerSecond(), now);
        }
    }

    /// Returns whether packets are so far apart that each asks for an ACK.
    boolean isSlow() {
        return packetNanos > SLOW_NANOS;
    }
}
