package verbena.transport.congestion;

/// The notification point of a connection (IBTA A17.9.3): a peer whose packets arrive marked gets a notification,
/// and not more often than once in a given time. Engine-confined.
public final class NotificationPoint {
    private final long intervalNanos;
    private boolean hasNotified;
    private long notifiedNanos;
    private boolean owes;

    public NotificationPoint(CongestionRule rule) {
        this.intervalNanos = rule.dcqcn().cnpNanos();
    }

    /// Returns whether a switch has marked the packet with this traffic class.
    public static boolean isMarked(int trafficClass) {
        return (trafficClass & CongestionRule.MARKED) == CongestionRule.MARKED;
    }

    /// Notes that a packet with data has arrived marked.
    public void marked(long now) {
        if (!hasNotified || now - notifiedNanos >= intervalNanos) {
            hasNotified = true;
            notifiedNanos = now;
            owes = true;
        }
    }

    /// Returns whether a notification is due, and takes it.
    public boolean take() {
        boolean due = owes;
        owes = false;
        return due;
    }

    /// Forgets everything: the connection begins anew.
    public void reset() {
        hasNotified = false;
        owes = false;
    }
}
