package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Send requests being written in place into a queue pair's send queue, to be handed over with one doorbell
/// (ibv_wr_start(3)). Each request begins with the method of its name; what follows, up to the next, belongs to it:
///
/// ```java
/// try (var batch = qp.sendBatch()) {
///     batch.write(1, remote.address(), remote.rkey()).sge(region, 0, 4096);
///     batch.sendWithImmediate(2, 42).sge(region, 4096, 100).signaled();
///     batch.submit();
/// }
/// ```
///
/// The thread that began the batch owns the queue pair's posting side until [#close()]. Nothing here allocates. A
/// mistake throws at its request, and the message names the request's place in the batch; the requests before it
/// remain and can be submitted.
public interface SendBatch extends AutoCloseable {
    /// Begins a SEND, which goes into a receive of the peer.
    SendBatch send(long wrId);

    /// Begins a SEND with 32 bits of immediate data.
    SendBatch sendWithImmediate(long wrId, int immediate);

    /// Begins a SEND that withdraws a key of the peer.
    SendBatch sendWithInvalidate(long wrId, int rkey);

    /// Begins an RDMA WRITE to the peer's memory.
    SendBatch write(long wrId, long remoteAddress, int rkey);

    /// Begins an RDMA WRITE that also takes a receive of the peer and hands it 32 bits.
    SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate);

    /// Begins an RDMA READ of the peer's memory into the scatter entries.
    SendBatch read(long wrId, long remoteAddress, int rkey);

    /// Adds to 8 aligned bytes of the peer; the value before goes to the one scatter entry of 8 bytes.
    SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add);

    /// Replaces 8 aligned bytes of the peer by `swap` if they equal `compare`; the value before goes to the one
    /// scatter entry of 8 bytes.
    SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap);

    /// Writes 8 aligned bytes at once, as they lie in this host's memory (IBTA A19).
    ///
    /// @throws InvalidStateException when the queue pair was not made for it ([QueuePairOptions#withExtensions])
    @Preview
    SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value);

    /// Carries earlier writes to `length` bytes from `remoteAddress` on as far as the targets say (IBTA A19).
    ///
    /// @param targets at least one
    /// @throws InvalidStateException when the queue pair was not made for it ([QueuePairOptions#withExtensions])
    @Preview
    SendBatch flush(long wrId, long remoteAddress, int rkey, int length, Set<FlushTarget> targets);

    /// Carries earlier writes to the whole region that has this key as far as the targets say.
    ///
    /// @param targets at least one
    /// @throws InvalidStateException as [#flush]
    @Preview
    SendBatch flushRegion(long wrId, int rkey, Set<FlushTarget> targets);

    /// Withdraws a key of this side.
    SendBatch localInvalidate(long wrId, int rkey);

    /// Binds a window to `length` bytes of `region` from `address` on.
    ///
    /// @param rkey whose low 8 bits the window's key gets; its other bits do not count, because those of the
    ///     window are the device's. Another key than before ([MemoryWindow#nextRkey()]) keeps out peers that
    ///     know the old one
    /// @param length bytes; 0 unbinds a window of type 1
    SendBatch bindWindow(
            long wrId,
            MemoryWindow window,
            int rkey,
            MemoryRegion region,
            long address,
            long length,
            Set<Access> access);

    /// Adds `length` bytes of `region` from `offset` on to the request's data.
    ///
    /// @throws IndexOutOfBoundsException when the range is not inside the region
    SendBatch sge(MemoryRegion region, long offset, long length);

    /// Adds memory by key and address; checked when the request is carried out. All entries have 2^31 bytes at
    /// most.
    SendBatch sge(int lkey, long address, long length);

    /// Copies the bytes into the request now; the memory, heap or native, is free again at once.
    ///
    /// @throws ResourceLimitException when they are more than the queue pair's `maxInlineBytes`
    SendBatch inline(MemorySegment data);

    /// Asks for a completion.
    SendBatch signaled();

    /// Waits for all earlier READs and atomics before this request starts.
    SendBatch fenced();

    /// Wakes a peer that waits for solicited messages only.
    SendBatch solicited();

    /// Names the destination of a datagram (UD); every request on such a queue pair needs it.
    ///
    /// @param qpn 0xFFFFFF for a multicast group
    /// @param qkey of the receiver; with its high bit set the own queue pair's is sent instead (IBTA 10.2.5)
    SendBatch to(AddressHandle handle, int qpn, int qkey);

    /// Names the shared receive queue of the peer that the request is for (XRC); every request on an initiator
    /// needs it. A WRITE, a READ or an atomic reaches memory of that queue's protection domain.
    ///
    /// @param srqNumber the peer's [SharedReceiveQueue#number()]
    SendBatch to(int srqNumber);

    /// Hands all requests over with one doorbell. The batch can be filled again afterwards.
    ///
    /// @return how many were handed over
    int submit();

    /// Takes all requests back that were not submitted. The batch can be filled again afterwards.
    void discard();

    /// Ends the batch. Requests that were not submitted are dropped; that is an error, unless one of the batch's
    /// methods threw an exception after the last of them began.
    ///
    /// @throws InvalidStateException when requests were neither submitted nor discarded; the batch is closed all
    ///     the same
    @Override
    void close();
}
