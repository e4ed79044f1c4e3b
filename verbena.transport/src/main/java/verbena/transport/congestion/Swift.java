package verbena.transport.congestion;

/// A window by delay (Kumar et al., SIGCOMM 2020). It grows by some packets in a round trip while round trips are
/// shorter than a target. Longer ones shrink it in proportion to the excess, once for a round trip. The target is
/// larger for a small window, because many senders with small windows share a longer queue.
///
/// A window of less than one packet is a pause between packets: [#bitsPerSecond] gives its length.
public final class Swift implements CongestionControl {
    /// The least window, so that a flow among thousands still asks now and then.
    static final double WINDOW_MIN = 0.01;

    private final SwiftOptions options;
    private final int packetsMax;
    private final int packetBits;
    private double window;
    private long roundTripNanos;
    private long cutNanos = Long.MIN_VALUE;

    /// @param packetsMax  the window is never more, in PSNs; it begins there
    /// @param packetBytes the length of a full packet on the wire
    public Swift(SwiftOptions options, int packetsMax, int packetBytes) {
        this.options = options;
        this.packetsMax = packetsMax;
        this.packetBits = 8 * packetBytes;
        this.window = packetsMax;
    }

    @Override
    public int limit() {
        return Math.max(1, (int) window);
    }

    /// Returns the window in packets, which may be less than one.
    public double window() {
        return window;
    }

    @Override
    public double bitsPerSecond(long now) {
        return window >= 1 || roundTripNanos == 0
                ? Double.POSITIVE_INFINITY
                : window * packetBits * 1e9 / roundTripNanos;
    }

    @Override
    public void roundTrip(long nanos, long now) {
        roundTripNanos = Math.max(1, nanos);
        long target = targetNanos();
        if (roundTripNanos > target && mayCut(now)) {
            double excess = (double) (roundTripNanos - target) / roundTripNanos;
            window *= Math.max(1 - options.beta() * excess, 1 - options.cutMax());
            cutNanos = now;
            bound();
        }
    }

    @Override
    public void answered(int psns, int outstanding) {
        if (roundTripNanos <= targetNanos()) {
            window += psns * options.increase() / Math.max(1, window);
            bound();
        }
    }

    @Override
    public void lost(long now, long ignored) {
        if (mayCut(now)) {
            window *= 1 - options.cutMax();
            cutNanos = now;
            bound();
        }
    }

    private boolean mayCut(long now) {
        return cutNanos == Long.MIN_VALUE || now - cutNanos >= roundTripNanos;
    }

    private long targetNanos() {
        return options.targetNanos() + (long) (options.flowNanos() / Math.sqrt(Math.max(1, window)));
    }

    private void bound() {
        window = Math.min(packetsMax, Math.max(WINDOW_MIN, window));
    }
}
