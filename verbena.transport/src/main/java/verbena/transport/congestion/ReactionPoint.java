package verbena.transport.congestion;

import org.jspecify.annotations.Nullable;
import verbena.transport.queue.Path;

/// The brake of one reliable connection: its [CongestionControl], and the static rate of its path. It decides how
/// much the connection may have under way, and by its [Pace] when the next packet with data may leave.
/// Engine-confined.
public final class ReactionPoint {
    private final CongestionRule rule;
    private final Pace pace = new Pace();
    /// The control of congestion; null when the window to the peer is all that counts.
    private @Nullable CongestionControl control;

    private boolean wasNotified;
    private long notifiedNanos;

    /// Makes the reaction point of one connection.
    public ReactionPoint(CongestionRule rule) {
        this.rule = rule;
    }

    /// Begins a connection: nothing is known of its path.
    public void start(Path path, int pathMtu) {
        control = rule.make(pathMtu + path.aroundPacketBytes());
        pace.start();
        wasNotified = false;
    }

    // ---- how much, and when

    /// Returns the number of PSNs that the connection may have under way.
    int limit() {
        CongestionControl by = control;
        return by == null ? Integer.MAX_VALUE : by.limit();
    }

    /// Returns the pace at which its packets with data may leave.
    public Pace pace() {
        return pace;
    }

    /// Counts a packet with data that leaves.
    ///
    /// @param bytes from its BTH through its ICRC
    public void sent(Path by, int bytes, long now) {
        int onWire = bytes + by.aroundPacketBytes();
        double rate = controlled(onWire, now);
        if (by.bitsPerSecond() > 0) {
            rate = Math.min(rate, (double) by.bitsPerSecond());
        }
        if (rate == Double.POSITIVE_INFINITY) {
            pace.free();
        } else {
            pace.sent(onWire, rate, now);
        }
    }

    /// Returns the rate that the control of congestion allows; infinite when the link itself is no faster.
    private double controlled(int onWire, long now) {
        CongestionControl by = control;
        if (by == null) {
            return Double.POSITIVE_INFINITY;
        }
        by.sent(onWire, now);
        double rate = by.bitsPerSecond(now);
        return rate >= rule.lineRate() ? Double.POSITIVE_INFINITY : rate;
    }

    // ---- what the network says

    /// Handles a notification of the peer that a packet arrived marked.
    ///
    /// @return false when that changes nothing: only [CongestionRule.Control#DCQCN] heeds it, and at most once in
    ///     [DcqcnOptions#monitorNanos()]
    public boolean notified(long now) {
        CongestionControl by = control;
        if (by == null || rule.control() != CongestionRule.Control.DCQCN) {
            return false;
        }
        if (wasNotified && now - notifiedNanos < rule.dcqcn().monitorNanos()) {
            return false;
        }
        wasNotified = true;
        notifiedNanos = now;
        by.notified(now);
        return true;
    }

    void answered(int psns, int outstanding) {
        if (control != null) {
            control.answered(psns, outstanding);
        }
    }

    void roundTrip(long nanos, long now) {
        if (control != null) {
            control.roundTrip(nanos, now);
        }
    }

    void lost(long now, long roundTripNanos) {
        if (control != null) {
            control.lost(now, roundTripNanos);
        }
    }

    /// Called when a packet got lost that alone is sent again.
    void repaired(long now, long roundTripNanos) {
        if (control != null) {
            control.repaired(now, roundTripNanos);
        }
    }
}
