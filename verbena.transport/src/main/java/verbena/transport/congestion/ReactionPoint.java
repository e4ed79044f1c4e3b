package verbena.transport.congestion;

import org.jspecify.annotations.Nullable;

/// What a [CongestionControl] makes one reliable connection do: how much it has under way, and when its next packet
/// with data may leave. Engine-confined.
///
/// No timer fires for each packet. A connection that may not send yet says when it may ([#dueNanos()]), and its
/// engine sleeps until then. A thread that wakes late sends what was missed, up to [#CATCH_UP_NANOS], so that the rate
/// is right although sleeping is not exact.
public final class ReactionPoint {
    /// So much of the past is made up for.
    static final long CATCH_UP_NANOS = 50_000;

    /// What is around a packet on the wire: Ethernet with its checksum, IPv4 and UDP.
    private static final int AROUND_PACKET_BYTES = 18 + 20 + 8;

    /// A packet that takes so long at the rate asks for an ACK: others of the connection are far behind it.
    private static final long SLOW_NANOS = 100_000;

    /// No pause is longer. A sender that never asks does not learn that the way is free again.
    private static final long PAUSE_NANOS_MAX = 100_000_000;

    private static final long NEVER = Long.MAX_VALUE;

    private final CongestionRule rule;
    private @Nullable CongestionControl control;

    /// When the packets that have left are on the wire, at the rate that they left with.
    private long freeNanos = Long.MIN_VALUE;
    /// How long the last packet took at that rate.
    private long packetNanos;
    /// Whether a packet waits for that time.
    private boolean isWaiting;

    private boolean wasNotified;
    private long notifiedNanos;

    private ReactionPoint(CongestionRule rule) {
        this.rule = rule;
    }

    /// The reaction point of one connection; null when the window to its peer is all that counts.
    public static @Nullable ReactionPoint of(CongestionRule rule) {
        return rule.control() == CongestionRule.Control.WINDOW ? null : new ReactionPoint(rule);
    }

    /// A connection begins: nothing is known of its way.
    public void start(int pathMtu) {
        control = rule.make(pathMtu + AROUND_PACKET_BYTES);
        freeNanos = Long.MIN_VALUE;
        packetNanos = 0;
        isWaiting = false;
        wasNotified = false;
    }

    // ---- how much, and when

    /// How many PSNs the connection may have under way.
    int limit() {
        CongestionControl by = control;
        return by == null ? PeerWindow.PACKETS_MAX : by.limit();
    }

    /// Whether a packet with data may leave now. If not, it waits until [#dueNanos()].
    public boolean mayLeave(long now) {
        isWaiting = freeNanos > now;
        return !isWaiting;
    }

    /// When the next packet with data may leave, if not now.
    long leavesNanos(long now) {
        return Math.max(now, freeNanos);
    }

    /// When the packet that waits may leave; the largest number when none waits.
    public long dueNanos() {
        return isWaiting ? freeNanos : NEVER;
    }

    /// That time may have come.
    public void onDue(long now) {
        isWaiting &= freeNanos > now;
    }

    /// Nothing is sent any more.
    public void stop() {
        isWaiting = false;
    }

    /// A packet with data leaves.
    ///
    /// @param bytes from its BTH through its ICRC
    public void sent(int bytes, long now) {
        CongestionControl by = control;
        if (by == null) {
            return;
        }
        int onWire = bytes + AROUND_PACKET_BYTES;
        by.sent(onWire, now);
        double rate = by.bitsPerSecond(now);
        if (rate >= rule.lineRate()) {
            freeNanos = Long.MIN_VALUE; // the link itself is no faster
            packetNanos = 0;
            return;
        }
        packetNanos = Math.min(PAUSE_NANOS_MAX, (long) (Byte.SIZE * onWire * 1e9 / rate));
        freeNanos = Math.max(freeNanos, now - CATCH_UP_NANOS) + packetNanos;
    }

    /// Whether packets are so far apart that each asks for an ACK.
    boolean isSlow() {
        return packetNanos > SLOW_NANOS;
    }

    // ---- what the network says

    /// The peer has told that a packet arrived marked.
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
}
