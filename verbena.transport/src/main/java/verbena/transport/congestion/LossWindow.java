package verbena.transport.congestion;

/// A window that answers open and losses close: what a live device does today.
///
/// The limit doubles with each window that is acknowledged until it is [PeerWindow#PACKETS_MAX] or something gets
/// lost. A loss halves it, once for each round trip. After that it grows by one packet in [#GROWTH_WINDOWS]
/// windows: additive increase, multiplicative decrease (RFC 5681). That is eight times slower than in TCP, because
/// going back N makes a loss eight times as dear.
///
/// With selective repeat a loss costs one packet. [#REPAIRED_SHARE] of them take one packet off the window, which
/// grows by one packet in one window (decision 06). So what is left is twice the packets between two losses: 40
/// where one packet in 20 gets lost by chance. Where a queue overflows and half of a window gets lost, it is a
/// quarter smaller within a round trip.
public final class LossWindow implements CongestionControl {
    /// The least limit, so that a lost packet has some behind it that show the loss.
    static final int PACKETS_MIN = 4;
    /// The window before anything is known of the path to the peer.
    static final int PACKETS_AT_FIRST = 32;
    /// The number of windows that have to be acknowledged, after a loss, for one packet more.
    static final int GROWTH_WINDOWS = 8;
    /// The number of losses, repaired one by one, that make the window smaller by one packet.
    static final int REPAIRED_SHARE = 2;

    private final int packetsMax;
    private int limit;
    /// True while nothing has been lost.
    private boolean doubling = true;
    /// Acknowledged towards the next growth.
    private int credit;
    private long lossNanos = Long.MIN_VALUE;
    private int growthWindows = GROWTH_WINDOWS;
    /// Losses that were repaired since the window became smaller.
    private int repaired;

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
        int price = growthWindows * limit;
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
        growthWindows = GROWTH_WINDOWS;
        credit = 0;
        limit = Math.max(Math.min(PACKETS_MIN, packetsMax), limit / 2);
        assert limit >= 1 && limit <= packetsMax : "the limit is within its bounds";
    }

    @Override
    public void repaired(long now, long roundTripNanos) {
        doubling = false;
        growthWindows = 1;
        if (++repaired == REPAIRED_SHARE) {
            repaired = 0;
            limit = Math.max(Math.min(PACKETS_MIN, packetsMax), limit - 1);
        }
    }
}
