package verbena.transport.congestion;

/// A window that answers open and losses close: what a live device does today.
///
/// The limit doubles with each window that is acknowledged until it is [PeerWindow#PACKETS_MAX] or something gets
/// lost. A loss halves it, once for each round trip. After that it grows by one packet in [#GROWTH_WINDOWS]
/// windows: additive increase, multiplicative decrease (RFC 5681). That is eight times slower than in TCP, because
/// going back N makes a loss eight times as dear.
public final class LossWindow implements CongestionControl {
    /// Never less, so that a lost packet has some behind it that tell of it.
    static final int PACKETS_MIN = 4;
    /// The window before anything is known of the way to the peer.
    static final int PACKETS_AT_FIRST = 32;
    /// After a loss, windows that have to be acknowledged for one packet more.
    static final int GROWTH_WINDOWS = 8;

    private final int packetsMax;
    private int limit;
    /// Nothing has been lost yet.
    private boolean doubling = true;
    /// Acknowledged towards the next growth.
    private int credit;
    private long lossNanos = Long.MIN_VALUE;

    /// @param packetsMax the limit is never more, in PSNs
    public LossWindow(int packetsMax) {
        this.packetsMax = packetsMax;
        this.limit = Math.min(packetsMax, PACKETS_AT_FIRST);
    }

    @Override
    public int limit() {
        return limit;
    }

    @Override
    public void answered(int psns, int outstanding) {
        if (limit >= packetsMax || 2 * outstanding < limit) { // a window that is not used says nothing
            return;
        }
        if (doubling) {
            limit = Math.min(packetsMax, limit + psns);
            return;
        }
        credit += psns;
        int price = GROWTH_WINDOWS * limit;
        if (credit >= price) {
            credit -= price;
            limit++;
        }
    }

    @Override
    public void lost(long now, long roundTripNanos) {
        if (lossNanos != Long.MIN_VALUE && now - lossNanos < roundTripNanos) {
            return;
        }
        lossNanos = now;
        doubling = false;
        credit = 0;
        limit = Math.max(Math.min(PACKETS_MIN, packetsMax), limit / 2);
        assert limit >= 1 && limit <= packetsMax : "the limit is within its bounds";
    }
}
