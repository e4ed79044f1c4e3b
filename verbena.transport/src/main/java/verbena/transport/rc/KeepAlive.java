package verbena.transport.rc;

import verbena.transport.QueuePairParameters;

/// The clock that measures how long nothing has come from the peer, and decides when to ask whether the peer lives
/// (decision 08). Engine-confined.
final class KeepAlive {
    /// Deadlines lie on a beat of so many parts of the keep-alive's time, so that many idle connections wake their
    /// processes together, and not one by one.
    private static final int BEATS = 16;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final QueuePairParameters p;
    private final RcTimers timers;
    /// The time when a packet of the peer came last, or RTS was entered.
    private long heardNanos;
    /// Whether a packet of the peer has come.
    private boolean isHeard;

    KeepAlive(QueuePairParameters p, RcTimers timers) {
        this.p = p;
        this.timers = timers;
    }

    /// Sets the timer: RTS has been entered, or something has been changed in it.
    void arm(long now) {
        heardNanos = now;
        if (p.keepAliveNanos == 0) {
            timers.cancel(RcTimer.KEEP_ALIVE);
        } else {
            timers.set(RcTimer.KEEP_ALIVE, onTheBeat(now + p.keepAliveNanos));
        }
    }

    /// Forgets the peer (RESET): nothing has come from the next peer.
    void forget() {
        isHeard = false;
    }

    /// Notes that the peer lives: some packet of it has come. The deadline stays, and looks at this when it comes.
    void heard(long now) {
        isHeard = true;
        heardNanos = now;
    }

    /// Returns whether nothing has come for as long as a keep-alive waits; called when the timer is due. Sets the
    /// timer again.
    boolean isQuiet(long now) {
        long due = heardNanos + p.keepAliveNanos;
        boolean quiet = due <= now;
        timers.set(RcTimer.KEEP_ALIVE, onTheBeat(quiet ? now + p.keepAliveNanos : due));
        return quiet;
    }

    /// Returns the next beat at this time or later.
    private long onTheBeat(long nanos) {
        long beat = Math.max(1, p.keepAliveNanos / BEATS);
        return Math.ceilDiv(nanos, beat) * beat;
    }

    /// Returns the time of the last packet of `peer`, in words.
    String lastSignOfLife(String peer, long now) {
        return isHeard
                ? "the last packet of " + peer + " came " + words(now - heardNanos) + " ago"
                : "nothing has ever come from " + peer;
    }

    /// Returns a time in words, rounded: in milliseconds, or in microseconds where it is shorter than ten.
    static String words(long nanos) {
        return nanos < 10 * NANOS_PER_MILLI
                ? (nanos + 500) / 1_000 + " microseconds"
                : (nanos + NANOS_PER_MILLI / 2) / NANOS_PER_MILLI + " ms";
    }
}
