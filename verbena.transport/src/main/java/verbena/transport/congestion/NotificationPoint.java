package verbena.transport.congestion;

/// The notification point of a connection (IBTA A17.9.3): a peer whose packets arrive marked is told so, and not more
/// often than once in a given time. Engine-confined.
public final class NotificationPoint {
    private final long intervalNanos;
    private boolean hasNotified;
    private long notifiedNanos;
    private boolean owes;

    public NotificationPoint(CongestionRule rule) {
        this.intervalNanos = rule.dcqcn().cnpNanos();
    }

    /// Whether a switch has marked the packet with this traffic class.
    public static boolean isMarked(int trafficClass) {
        return (trafficClass & CongestionRule.MARKED) == CongestionRule.MARKED;
    }

    /// A packet with data has arrived marked.
    public void marked(long now) {
        if (!hasNotified || now - notifiedNanos >= intervalNanos) {
            hasNotified = true;
            notifiedNanos = now;
            owes = true;
        }
    }

    /// Whether a notification is due; it is none any more.
    public boolean take() {
        boolean due = owes;
        owes = false;
        return due;
    }

    /// The connection begins anew.
    public void reset() {
        hasNotified = false;
        owes = false;
    }
}
