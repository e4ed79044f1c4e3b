package verbena.transport.congestion;

/// The control of the packets that a sender may have under way to a peer, and of its rate. The answers of the peer
/// and the network decide. Confined to the thread that sends; all times are nanoseconds of one clock that never goes
/// back.
///
/// A rule uses one signal or several: losses ([LossWindow]), marks of switches ([Dcqcn]), or delay ([Swift]). It
/// ignores the others.
public interface CongestionControl {
    /// Returns the number of PSNs that may be under way, at least one.
    int limit();

    /// Returns the rate at which packets may leave, in bits of the wire per second; infinite when nothing but
    /// [#limit()] counts.
    default double bitsPerSecond(long now) {
        return Double.POSITIVE_INFINITY;
    }

    /// Counts a packet that leaves.
    ///
    /// @param bytes its length on the wire
    default void sent(int bytes, long now) {}

    /// Counts PSNs that were answered without a gap.
    ///
    /// @param outstanding PSNs that were under way
    default void answered(int psns, int outstanding) {}

    /// Measures a round trip: the answer to a packet that was sent only once.
    default void roundTrip(long nanos, long now) {}

    /// Handles a congestion notification packet (CNP, IBTA A17.9.3): a switch marked a packet.
    default void notified(long now) {}

    /// Handles a loss; all losses that are reported within a round trip are one loss.
    default void lost(long now, long roundTripNanos) {}

    /// Handles the loss of one packet, which alone is sent again (selective repeat).
    default void repaired(long now, long roundTripNanos) {
        lost(now, roundTripNanos);
    }
}
