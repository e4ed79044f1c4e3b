package verbena.verbs;

/// A rule by which a queue pair of type [QpType#RAW_PACKET] gets frames, as long as it is open (`struct ibv_flow`,
/// ibv_create_flow(3)). Any thread may use it. [QueuePair#attachFlow] makes it; the program closes it before the
/// queue pair.
///
/// It counts the frames that fit (ibv_create_counters(3)), also those that found no receive.
///
/// @since 0.1
@Preview
public interface PacketFlow extends VerbsObject {
    /// Returns the queue pair that gets the frames.
    QueuePair queuePair();

    /// Returns the rule.
    FlowRule rule();

    /// Returns how many frames have come that fit the rule of this flow.
    long packets();

    /// Returns how many bytes these frames had, from the destination's address to the end of the payload.
    long bytes();
}
