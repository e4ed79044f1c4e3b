package verbena.transport.congestion;

/// How long a packet to a peer and its answer take, smoothed, and how much that varies (RFC 6298, 2 and 3).
/// Engine-confined.
final class RoundTrip {
    /// Smoothed; 0 while nothing is known.
    private long nanos;
    /// Mean deviation.
    private long deviationNanos;

    /// An answer has come so long after what it answers, which was sent once only.
    void sample(long sampleNanos) {
        long sample = Math.max(1, sampleNanos);
        if (nanos == 0) {
            nanos = sample;
            deviationNanos = sample / 2;
        } else {
            deviationNanos += (Math.abs(sample - nanos) - deviationNanos) / 4;
            nanos += (sample - nanos) / 8;
        }
    }

    boolean isKnown() {
        return nanos != 0;
    }

    /// 0 while nothing is known.
    long nanos() {
        return nanos;
    }

    /// An answer that has not come after so long is late.
    long lateNanos() {
        return 2 * nanos + 4 * deviationNanos;
    }
}
