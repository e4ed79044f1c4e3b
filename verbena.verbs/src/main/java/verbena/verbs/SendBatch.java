package verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/// Send requests that a program writes into a queue pair's send queue, to post them with one doorbell
/// (ibv_wr_start(3)). Each request begins with the method of its name. The calls up to the next request belong to it:
///
/// ```java
/// try (var batch = qp.sendBatch()) {
///     batch.write(1, remote).sge(region.slice(0, 4096));
///     batch.sendWithImmediate(2, 42).sge(region.slice(4096, 100)).signaled();
///     batch.submit();
/// }
/// ```
///
/// The thread that opened the batch owns the queue pair's send side until [#close()]. Other threads that post wait.
/// Places in memory are values ([LocalMemory], [RemoteMemory]), or numbers for a loop that makes no such object. A
/// batch does not compare the length of a [RemoteMemory] with the entries of its request: the peer's device does.
///
/// A request has a completion when it is [#signaled()], when the queue pair was made with
/// [QueuePairOptions#withSignalAll], and when it fails. By default the others have none.
///
/// Nothing here allocates. After [#close()], and in other threads, all methods but `discard` and `close` throw
/// [InvalidStateException].
///
/// A mistake throws at its request or at the next call, and the message names the request's place in the batch.
/// Earlier requests remain and can be submitted. A method that begins a request throws:
///
/// - [ResourceLimitException] when the send queue is full
/// - [UnsupportedException] when the device does not have the operation
/// - [IllegalArgumentException] when queue pairs of this type do not have it
///
/// @since 0.1
public interface SendBatch extends AutoCloseable {
    /// Begins a SEND, which takes a receive of the peer.
    SendBatch send(long wrId);

    /// Begins a SEND with 32 bits of immediate data.
    SendBatch sendWithImmediate(long wrId, int immediate);

    /// Begins a SEND that invalidates a key of the peer.
    SendBatch sendWithInvalidate(long wrId, int rkey);

    /// Begins an RDMA WRITE to the peer's memory.
    default SendBatch write(long wrId, RemoteMemory to) {
        return write(wrId, to.address(), to.rkey());
    }

    /// Begins as [#write(long, RemoteMemory)], by address and key.
    SendBatch write(long wrId, long remoteAddress, int rkey);

    /// Begins an RDMA WRITE that also takes a receive of the peer and gives it 32 bits.
    default SendBatch writeWithImmediate(long wrId, RemoteMemory to, int immediate) {
        return writeWithImmediate(wrId, to.address(), to.rkey(), immediate);
    }

    /// Begins as [#writeWithImmediate(long, RemoteMemory, int)], by address and key.
    SendBatch writeWithImmediate(long wrId, long remoteAddress, int rkey, int immediate);

    /// Begins an RDMA READ of the peer's memory into the scatter entries.
    default SendBatch read(long wrId, RemoteMemory from) {
        return read(wrId, from.address(), from.rkey());
    }

    /// Begins as [#read(long, RemoteMemory)], by address and key.
    SendBatch read(long wrId, long remoteAddress, int rkey);

    /// Adds to 8 aligned bytes of the peer; the previous value goes to the one scatter entry of 8 bytes.
    default SendBatch fetchAdd(long wrId, RemoteMemory to, long add) {
        return fetchAdd(wrId, to.address(), to.rkey(), add);
    }

    /// Adds as [#fetchAdd(long, RemoteMemory, long)], by address and key.
    SendBatch fetchAdd(long wrId, long remoteAddress, int rkey, long add);

    /// Replaces 8 aligned bytes of the peer by `swap` if they equal `compare`; the previous value goes to the one
    /// scatter entry of 8 bytes.
    default SendBatch compareSwap(long wrId, RemoteMemory to, long compare, long swap) {
        return compareSwap(wrId, to.address(), to.rkey(), compare, swap);
    }

    /// Replaces as [#compareSwap(long, RemoteMemory, long, long)], by address and key.
    SendBatch compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap);

    /// Writes 8 aligned bytes of the peer at once, as they lie in this host's memory (IBTA A19).
    ///
    /// @throws InvalidStateException when the queue pair was not made for it ([QueuePairOptions#withExtensions])
    @Preview
    default SendBatch atomicWrite(long wrId, RemoteMemory to, long value) {
        return atomicWrite(wrId, to.address(), to.rkey(), value);
    }

    /// Writes as [#atomicWrite(long, RemoteMemory, long)], by address and key.
    @Preview
    SendBatch atomicWrite(long wrId, long remoteAddress, int rkey, long value);

    /// Makes earlier writes to the peer's memory reach the targets (IBTA A19).
    ///
    /// @param at less than 2 GiB
    /// @param targets at least one
    /// @throws IllegalArgumentException when `at` is longer, or there are no targets
    /// @throws InvalidStateException when the queue pair was not made for it ([QueuePairOptions#withExtensions])
    @Preview
    default SendBatch flush(long wrId, RemoteMemory at, Set<FlushTarget> targets) {
        if (at.length() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("at: at most " + Integer.MAX_VALUE + " bytes, got " + at);
        }
        return flush(wrId, at.address(), at.rkey(), (int) at.length(), targets);
    }

    /// Flushes as [#flush(long, RemoteMemory, Set)], by address and key.
    ///
    /// @param length bytes, not negative
    @Preview
    SendBatch flush(long wrId, long remoteAddress, int rkey, int length, Set<FlushTarget> targets);

    /// Makes earlier writes to the whole region of this key reach the targets.
    ///
    /// @param targets at least one
    /// @throws InvalidStateException as [#flush(long, RemoteMemory, Set)]
    @Preview
    SendBatch flushRegion(long wrId, int rkey, Set<FlushTarget> targets);

    /// Invalidates a key of this side.
    SendBatch localInvalidate(long wrId, int rkey);

    /// Binds a window to `length` bytes of `region` from `address` on.
    ///
    /// @param rkey its low 8 bits become those of the window's key; the device chooses the other bits. A new key
    ///     ([MemoryWindow#nextRkey()]) excludes peers that know the old one
    /// @param length bytes; 0 unbinds a window of type 1
    /// @param access of `REMOTE_READ`, `REMOTE_WRITE`, `REMOTE_ATOMIC` and `ZERO_BASED`
    /// @throws IllegalArgumentException when window or region are of another device or protection domain, or
    ///     `access` has other rights
    /// @throws InvalidStateException when window or region are closed
    SendBatch bindWindow(
            long wrId,
            MemoryWindow window,
            int rkey,
            MemoryRegion region,
            long address,
            long length,
            Set<Access> access);

    /// Adds memory of this side to the request's data. Throws as [#sge(MemoryRegion, long, long)].
    default SendBatch sge(LocalMemory memory) {
        return sge(memory.region(), memory.offset(), memory.length());
    }

    /// Adds `length` bytes of `region` from `offset` on to the request's data: the form that needs no object for the
    /// range.
    ///
    /// @throws IllegalArgumentException when the region is of another device or protection domain, the request has
    ///     no data or inline data, there are more entries than `maxSendSge`, or they exceed 2^31 bytes
    /// @throws IndexOutOfBoundsException when the range is not inside the region
    /// @throws InvalidStateException when the region is closed
    SendBatch sge(MemoryRegion region, long offset, long length);

    /// Adds memory by key and address, which the device checks when it carries out the request. All entries of a
    /// request have at most 2^31 bytes.
    SendBatch sge(int lkey, long address, long length);

    /// Copies the bytes into the request now; the memory, heap or native, is free again at once.
    ///
    /// @throws IllegalArgumentException when the request carries no data to the peer, or has scatter/gather entries
    /// @throws ResourceLimitException when they are more than the queue pair's `maxInlineBytes`
    SendBatch inline(MemorySegment data);

    /// Asks for a completion.
    SendBatch signaled();

    /// Delays this request until all earlier READs and atomics are done.
    SendBatch fenced();

    /// Marks the message as solicited: it notifies a peer that armed its queue for solicited messages only.
    SendBatch solicited();

    /// Sets the destination of a datagram; every request of a UD queue pair needs it.
    ///
    /// @param qpn 24 bits; 0xFFFFFF for a multicast group
    /// @param qkey of the receiver; a value with the high bit set stands for the own queue pair's Q_Key (IBTA
    ///     10.2.5)
    /// @throws IllegalArgumentException when the queue pair is not UD, or the handle is of another protection
    ///     domain
    /// @throws InvalidStateException when the handle is closed
    SendBatch to(AddressHandle handle, int qpn, int qkey);

    /// Sets the peer's shared receive queue that the request is for; every request of an XRC initiator needs it. A
    /// WRITE, a READ or an atomic reaches memory of that queue's protection domain.
    ///
    /// @param srqNumber the peer's [SharedReceiveQueue#number()], 24 bits
    /// @throws IllegalArgumentException when the queue pair is no XRC initiator
    SendBatch to(int srqNumber);

    /// Posts all requests of the batch with one doorbell. The batch can be filled again afterwards.
    ///
    /// @return number of requests that were posted
    /// @throws InvalidStateException when the queue pair was closed, or is no longer in a state to send
    int submit();

    /// Removes all requests that were not submitted. The batch can be filled again afterwards.
    void discard();

    /// Ends the batch. Requests that were not submitted are dropped; that is an error, unless one of the batch's
    /// methods threw an exception after the last of them began.
    ///
    /// @throws InvalidStateException when requests were neither submitted nor discarded; the batch is closed all
    ///     the same
    @Override
    void close();
}
