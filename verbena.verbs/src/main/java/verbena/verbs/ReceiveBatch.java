package verbena.verbs;

/// Receive requests being written in place, to be handed over at once; see [SendBatch] for the rules.
public interface ReceiveBatch extends AutoCloseable {
    /// Begins a receive.
    ///
    /// @throws ResourceLimitException when the queue is full; names the receive's place in the batch
    ReceiveBatch receive(long wrId);

    /// Adds `length` bytes of `region` from `offset` on.
    ///
    /// @throws IndexOutOfBoundsException when the range is not inside the region
    ReceiveBatch sge(MemoryRegion region, long offset, long length);

    /// Adds memory by key and address; checked when a message arrives.
    ReceiveBatch sge(int lkey, long address, long length);

    /// Hands all receives over; the batch can be filled again afterwards.
    ///
    /// @return how many were handed over
    int submit();

    /// Takes all receives back that were not submitted. The batch can be filled again afterwards.
    void discard();

    /// Ends the batch; an error when receives in it were forgotten, as in [SendBatch#close()].
    ///
    /// @throws InvalidStateException when receives were neither submitted nor discarded; the batch is closed all
    ///     the same
    @Override
    void close();
}
