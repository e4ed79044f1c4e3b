package verbena.transport.congestion;

/// The time that a packet to a peer and its answer take, smoothed, and its variation (RFC 6298, 2 and 3).
/// Engine-confined.
final class RoundTrip {
    /// Smoothed; 0 while nothing is known.
    private long nanos;
    /// Mean deviation.
    private long deviationNanos;

    /// Adds a measured round trip: the answer to a packet that was sent only once.
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

    /// Returns the smoothed time; 0 while nothing is known.
    long nanos() {
        return nanos;
    }

    /// Returns the time after which an answer is late.
    long lateNanos() {
        return 2 * nanos + 4 * deviationNanos;
    }
}
