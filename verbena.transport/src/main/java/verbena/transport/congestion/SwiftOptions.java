package verbena.transport.congestion;

/// The options of [Swift], after Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
/// Datacenter", SIGCOMM 2020.
///
/// @param targetNanos the round trip that is right for a window of many packets
/// @param flowNanos   how much more it may be for a window of one packet; it falls with the root of the window
/// @param increase    packets by which the window grows in a round trip
/// @param beta        how strongly a delay above the target cuts the window, 0 to 1
/// @param cutMax      no cut takes more than this share of the window, 0 to 1
public record SwiftOptions(long targetNanos, long flowNanos, double increase, double beta, double cutMax) {
    /// The options for a network whose round trip is some 10 us when its queues are empty.
    public static final SwiftOptions USUAL = new SwiftOptions(20_000, 10_000, 1, 0.8, 0.5);

    public SwiftOptions {
        if (targetNanos <= 0 || flowNanos < 0) {
            throw new IllegalArgumentException("targetNanos, flowNanos: " + targetNanos + " and " + flowNanos
                    + "; the first has to be more than 0, the second no less");
        }
        if (!(increase > 0) || !(beta > 0 && beta <= 1) || !(cutMax > 0 && cutMax < 1)) {
            throw new IllegalArgumentException("increase, beta, cutMax: " + increase + ", " + beta + " and " + cutMax
                    + "; increase has to be more than 0, beta at most 1, cutMax less than 1");
        }
    }
}
