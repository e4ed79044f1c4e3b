package verbena.transport.rc;

import verbena.transport.QueuePairParameters;

/// Knows how long nothing has come from the peer, and says when to ask whether the peer lives (decision 0021).
/// Engine-confined.
final class KeepAlive {
    /// Deadlines lie on a beat of so many parts of the keep-alive's time, so that many idle connections wake their
    /// processes together, and not one by one.
    private static final int BEATS = 16;

    private final QueuePairParameters p;
    private final RcTimers timers;
    /// When a packet of the peer came last, or RTS was entered.
    private long heardNanos;
    /// A packet of the peer has come.
    private boolean isHeard;

    KeepAlive(QueuePairParameters p, RcTimers timers) {
        this.p = p;
        this.timers = timers;
    }

    /// RTS has been entered, or something has been changed in it.
    void arm(long now) {
        heardNanos = now;
        if (p.keepAliveNanos == 0) {
            timers.cancel(RcTimer.KEEP_ALIVE);
        } else {
            timers.set(RcTimer.KEEP_ALIVE, onTheBeat(now + p.keepAliveNanos));
        }
    }

    /// RESET: the next peer has not been heard.
    void forget() {
        isHeard = false;
    }

    /// The peer lives: any packet of it has come. The deadline stays, and looks at this when it comes.
    void heard(long now) {
        isHeard = true;
        heardNanos = now;
    }

    /// The timer is due: whether nothing has come for as long as a keep-alive waits. It is set again.
    boolean isQuiet(long now) {
        long due = heardNanos + p.keepAliveNanos;
        boolean quiet = due <= now;
        timers.set(RcTimer.KEEP_ALIVE, onTheBeat(quiet ? now + p.keepAliveNanos : due));
        return quiet;
    }

    /// The next beat at this time or later.
    private long onTheBeat(long nanos) {
        long beat = Math.max(1, p.keepAliveNanos / BEATS);
        return Math.ceilDiv(nanos, beat) * beat;
    }

    /// When `peer` was heard last, in words.
    String lastSignOfLife(String peer, long now) {
        return isHeard
                ? "the last packet of " + peer + " came " + (now - heardNanos) / 1_000 + " microseconds ago"
                : "nothing has ever come from " + peer;
    }
}
