package verbena.sim;

import verbena.verbs.Preview;

/// The faults of a network, which strike packets, and of the world, which strike devices. Shares are probabilities, 0
/// to 1, drawn for each packet by itself. Immutable; the constructor throws [IllegalArgumentException] for a value
/// out of range.
///
/// @param loss share of packets that get lost
/// @param duplicate share of packets that arrive a second time
/// @param corrupt share of packets that arrive with one bit flipped, after the ICRC was written
/// @param mark share of ECN-capable packets that are marked as by a congested switch (ECN, RFC 3168)
/// @param reorder share of packets that are overtaken
/// @param reorderPackets number of later packets of its sender that overtake such a packet, at most
///     [#REORDER_PACKETS_MAX]
/// @param jitterNanos longest additional time of a packet
/// @param blackHoles outages that lose everything that one device sends
/// @param pauses outages during which one device is not driven
/// @param mutes outages that lose every answer of one device, and not its own requests
/// @since 0.1
@Preview
public record NetworkFaults(
        double loss,
        double duplicate,
        double corrupt,
        double mark,
        double reorder,
        int reorderPackets,
        long jitterNanos,
        Outages blackHoles,
        Outages pauses,
        Outages mutes) {
    /// The most packets that can overtake one.
    public static final int REORDER_PACKETS_MAX = 256;

    /// A network without faults.
    public static final NetworkFaults NONE =
            new NetworkFaults(0, 0, 0, 0, 0, 0, 0, Outages.NONE, Outages.NONE, Outages.NONE);

    /// Outages of random start and length. Immutable.
    ///
    /// @param perSecond mean number in a second
    /// @param nanosMax each lasts between nothing and this
    @Preview
    public record Outages(double perSecond, long nanosMax) {
        public static final Outages NONE = new Outages(0, 0);
    }

    public NetworkFaults {
        share("loss", loss);
        share("duplicate", duplicate);
        share("corrupt", corrupt);
        share("mark", mark);
        share("reorder", reorder);
        if (reorderPackets < 0 || reorderPackets > REORDER_PACKETS_MAX || (reorder > 0 && reorderPackets == 0)) {
            throw new IllegalArgumentException(
                    "reorderPackets: 1 to " + REORDER_PACKETS_MAX + ", got " + reorderPackets);
        }
    }

    /// Returns faults with these shares; packets keep their order, and nothing else happens.
    public static NetworkFaults of(double loss, double duplicate, double corrupt) {
        return new NetworkFaults(loss, duplicate, corrupt, 0, 0, 0, 0, Outages.NONE, Outages.NONE, Outages.NONE);
    }

    public NetworkFaults withMarks(double share) {
        return new NetworkFaults(
                loss, duplicate, corrupt, share, reorder, reorderPackets, jitterNanos, blackHoles, pauses, mutes);
    }

    public NetworkFaults withReorder(double share, int packets) {
        return new NetworkFaults(
                loss, duplicate, corrupt, mark, share, packets, jitterNanos, blackHoles, pauses, mutes);
    }

    public NetworkFaults withJitter(long nanos) {
        return new NetworkFaults(
                loss, duplicate, corrupt, mark, reorder, reorderPackets, nanos, blackHoles, pauses, mutes);
    }

    public NetworkFaults withBlackHoles(Outages outages) {
        return new NetworkFaults(
                loss, duplicate, corrupt, mark, reorder, reorderPackets, jitterNanos, outages, pauses, mutes);
    }

    public NetworkFaults withPauses(Outages outages) {
        return new NetworkFaults(
                loss, duplicate, corrupt, mark, reorder, reorderPackets, jitterNanos, blackHoles, outages, mutes);
    }

    public NetworkFaults withMutes(Outages outages) {
        return new NetworkFaults(
                loss, duplicate, corrupt, mark, reorder, reorderPackets, jitterNanos, blackHoles, pauses, outages);
    }

    private static void share(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + ": 0 to 1, got " + value);
        }
    }
}
