package verbena.verbs;

/// Receive requests that a program writes into a receive queue, to post them together (ibv_post_recv(3)).
///
/// The thread that opened the batch owns the queue's receive side until [#close()]. Other threads that post to it
/// wait. Nothing here allocates. A mistake throws at its receive, and the message names the receive's place in the
/// batch. Earlier receives remain and can be submitted. After [#close()], and in other threads, all methods but
/// `discard` and `close` throw [InvalidStateException].
///
/// @since 0.1
public interface ReceiveBatch extends AutoCloseable {
    /// Begins a receive.
    ///
    /// @throws ResourceLimitException when the queue is full; the message names the receive's place in the batch
    ReceiveBatch receive(long wrId);

    /// Adds memory of this side. Throws as [#sge(MemoryRegion, long, long)].
    default ReceiveBatch sge(LocalMemory into) {
        return sge(into.region(), into.offset(), into.length());
    }

    /// Adds `length` bytes of `region` from `offset` on: the form that needs no object for the range.
    ///
    /// @throws IllegalArgumentException when the region is of another device or protection domain, there are more
    ///     entries than the queue's `maxSge`, or the entries exceed 2^31 bytes
    /// @throws IndexOutOfBoundsException when the range is not inside the region
    /// @throws InvalidStateException when the region is closed
    ReceiveBatch sge(MemoryRegion region, long offset, long length);

    /// Adds memory by key and address, which the device checks when a message arrives.
    ReceiveBatch sge(int lkey, long address, long length);

    /// Posts all receives of the batch. The batch can be filled again afterwards.
    ///
    /// @return number of receives that were posted
    int submit();

    /// Removes all receives that were not submitted. The batch can be filled again afterwards.
    void discard();

    /// Ends the batch. Receives that were not submitted are dropped. That is an error, as in [SendBatch#close()].
    ///
    /// @throws InvalidStateException when receives were neither submitted nor discarded; the batch is closed all
    ///     the same
    @Override
    void close();
}
