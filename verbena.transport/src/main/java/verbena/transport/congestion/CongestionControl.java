package verbena.transport.congestion;

/// How much a sender may have under way to a peer, and how fast it may send. What the peer and the network answer
/// decides. Confined to the thread that sends; all times are nanoseconds of one clock that never goes back.
///
/// A rule uses one signal or several: losses ([LossWindow]), marks of switches ([Dcqcn]), or delay ([Swift]). It
/// ignores the others.
public interface CongestionControl {
    /// How many PSNs may be under way, at least one.
    int limit();

    /// How fast packets may leave, in bits of the wire per second; infinite when nothing but [#limit()] counts.
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

    /// The peer has told by a congestion notification packet (CNP, IBTA A17.9.3) that a switch marked a packet.
    default void notified(long now) {}

    /// Something got lost; what is told within a round trip is one loss.
    default void lost(long now, long roundTripNanos) {}

    /// One packet got lost, and it alone is sent again (selective repeat).
    default void repaired(long now, long roundTripNanos) {
        lost(now, roundTripNanos);
    }
}
