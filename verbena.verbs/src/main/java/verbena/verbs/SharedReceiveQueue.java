package verbena.verbs;

import java.util.OptionalInt;

/// A queue of receives that several queue pairs share (ibv_create_srq(3)).
///
/// Any thread may post. [ProtectionDomain#createSharedReceiveQueue] makes it, or
/// [XrcDomain#createSharedReceiveQueue]. The program closes it after the queue pairs that use it; [InUseException]
/// names those still open. Closing discards the receives that are left, without completions. All verbs then throw
/// [InvalidStateException].
///
/// @since 0.1
public interface SharedReceiveQueue extends VerbsObject {
    /// Returns the protection domain to which the memory of the queue's receives belongs.
    ProtectionDomain protectionDomain();

    /// Returns the number by which peers name the queue, 24 bits, unpredictable on Verbena's own devices
    /// (ibv_get_srq_num(3)). Empty for a queue that is not of an [XrcDomain].
    default OptionalInt number() {
        return OptionalInt.empty();
    }

    /// Returns the number of receives that can be outstanding.
    int maxWr();

    /// Returns the number of scatter entries of each receive.
    int maxSge();

    /// Starts a batch of receives, in this thread. Waits while another thread has one open.
    ///
    /// @throws InvalidStateException when the queue is closed, or this thread has a batch open
    ReceiveBatch receiveBatch();

    /// Posts one receive.
    ///
    /// @throws ResourceLimitException when the queue is full
    default void postReceive(long wrId, LocalMemory into) {
        try (ReceiveBatch batch = receiveBatch()) {
            batch.receive(wrId).sge(into).submit();
        }
    }

    /// Asks for one [AsyncEvent.SharedReceiveQueueEvent] when fewer than `limit` receives are left; 0 disarms.
    ///
    /// @throws IllegalArgumentException when `limit` is not 0 to [#maxWr()]
    void armLimit(int limit);

    /// Returns the armed limit; 0 after the event.
    int limit();
}
