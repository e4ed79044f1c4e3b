package verbena.verbs;

import java.util.OptionalInt;

/// Receives that several queue pairs take from (ibv_create_srq(3)). Safe for use by any thread.
public interface SharedReceiveQueue extends VerbsObject {
    ProtectionDomain protectionDomain();

    /// Returns the number by which peers name it, 24 bits, unpredictable (ibv_get_srq_num(3)); empty when it is not
    /// of an [XrcDomain].
    default OptionalInt number() {
        return OptionalInt.empty();
    }

    /// Receives that can be outstanding.
    int maxWr();

    /// Returns the number of scatter entries of each receive.
    int maxSge();

    /// Starts a batch of receives; the calling thread owns the queue's posting side until the batch is closed.
    ReceiveBatch receiveBatch();

    /// Posts one receive into `length` bytes of `region` from `offset` on.
    ///
    /// @throws ResourceLimitException when the queue is full
    /// @throws IndexOutOfBoundsException when the range is not inside the region
    default void postReceive(long wrId, MemoryRegion region, long offset, long length) {
        try (ReceiveBatch batch = receiveBatch()) {
            batch.receive(wrId).sge(region, offset, length).submit();
        }
    }

    /// Asks for one [AsyncEvent.SharedReceiveQueueEvent] when fewer than `limit` receives are left; 0 disarms.
    void armLimit(int limit);

    /// Returns the armed limit; 0 after the event.
    int limit();
}
