package verbena.sim.traffic;

/// The sizes of the slots that requests and receives have in every memory, one each.
final class Slots {
    /// Requests, and receives, that can be outstanding.
    static final int COUNT = 32;
    /// Behind what may be written of a slot.
    static final int CANARY_BYTES = 32;

    private Slots() {}

    /// Returns the length of the longest message.
    static int lengthMax(int mtu) {
        return 3 * mtu + 16;
    }

    /// Returns the bytes of the longest message, its canary, and the padding of the next slot.
    static int bytes(int mtu) {
        return (lengthMax(mtu) + CANARY_BYTES + 7) & ~7;
    }
}
