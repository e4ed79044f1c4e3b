package verbena.verbs;

import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One end of a connection, or a source and sink of datagrams: a send queue and a receive queue (ibv_create_qp(3)).
///
/// Any thread may post; threads that post to the same queue take turns. The device carries out requests in the order
/// in which they were posted. A request that fails is a completion with an error status, never an exception.
///
/// [ProtectionDomain#createQueuePair] makes it, or [verbena.verbs.cm.ConnectionId#createQueuePair] for the connection
/// manager. The program closes it before its completion queues, shared receive queue and protection domain. Closing
/// discards outstanding requests without completions. All verbs then throw [InvalidStateException].
///
/// @since 0.1
public interface QueuePair extends VerbsObject {
    /// Returns the protection domain that it was made in.
    ProtectionDomain protectionDomain();

    /// Returns the number by which peers address it, 24 bits. It is unpredictable on Verbena's own devices.
    int qpn();

    /// Returns the kind of service.
    QpType type();

    /// Returns the present state. A failure may change it at any moment.
    QpState state();

    /// Returns the counters of this queue pair since it was made, by the names of [Context#counters()]. Counters of
    /// events that belong to no single queue pair stay at 0. Empty when the device does not count by queue pair.
    default SortedMap<String, Long> counters() {
        return new TreeMap<>();
    }

    /// Stores an object of the program's in place of the one before. The device does not use it.
    ///
    /// @param attachment null for none
    void attach(@Nullable Object attachment);

    /// Returns what was attached last; null when nothing was.
    @Nullable
    Object attachment();

    /// Returns the attributes that it was made with and set to (ibv_query_qp(3)).
    QpAttributes query();

    /// Takes a step; the attributes that it requires are the transition's parameters.
    ///
    /// @throws InvalidStateException when there is no such step from the present state
    /// @throws InvalidAttributesException when a value is out of range
    default void modify(Transition transition) {
        modify(transition.modification());
    }

    /// Changes any set of attributes, as ibv_modify_qp(3) with a mask. On an exception nothing was changed. Going
    /// to RESET discards the posted requests, and waits until no other thread has a batch open.
    ///
    /// @throws InvalidStateException when there is no such step from the present state, or it goes to RESET while
    ///     this thread has a batch of it open
    /// @throws InvalidAttributesException when one is missing, not allowed in this step, or out of range
    /// @throws UnsupportedException when the device does not have this step, such as SQD ([Capability#SQ_DRAIN])
    void modify(QpModification modification);

    /// Returns the address that the peer needs to connect to this queue pair through GID `gidIndex` of port 1. Its
    /// first PSN is random, and is drawn anew after each RESET.
    ///
    /// @throws IllegalArgumentException when there is no such GID
    /// @throws UnsupportedException when only the connection manager connects this device ([Capability#ENDPOINTS])
    Endpoint endpoint(int gidIndex);

    /// Returns the address that the peer needs to connect through the first GID of port 1.
    default Endpoint endpoint() {
        return endpoint(protectionDomain().context().gids(1).getFirst().index());
    }

    /// Brings a connected queue pair from RESET or INIT to RTS with [ConnectOptions#defaults()].
    ///
    /// @param remote the result of the peer's [#endpoint()]
    default void connect(Endpoint remote) {
        connect(remote, ConnectOptions.defaults());
    }

    /// Brings a connected queue pair from RESET or INIT to RTS. It uses the GID of the last [#endpoint(int)], or
    /// one that suits the peer's.
    ///
    /// @throws InvalidAttributesException when the two ends do not fit: another encapsulation, another address
    ///     family, or an MTU that one of them does not have
    /// @throws InvalidStateException when it is in another state, or of type UD
    /// @throws UnsupportedException when only the connection manager connects this device ([Capability#ENDPOINTS])
    void connect(Endpoint remote, ConnectOptions options);

    /// Lets frames that fit a rule come to this queue pair of type [QpType#RAW_PACKET], until the result is
    /// closed (ibv_create_flow(3)). A frame takes a receive, which holds it from its first byte on. Without a
    /// flow no frame comes.
    ///
    /// On a card a frame goes to one queue pair. A software device gives it to every queue pair that it fits,
    /// and to the system as before.
    ///
    /// @throws InvalidStateException when it is of another type
    /// @throws DeviceException when the interface cannot deliver
    @Preview
    default PacketFlow attachFlow(FlowRule rule) {
        throw new UnsupportedException(
                "attachFlow",
                Capability.RAW_PACKET,
                protectionDomain().context().device().name());
    }

    /// Starts a batch of send requests, in this thread. Waits while another thread has one open.
    ///
    /// @throws InvalidStateException before RTS, when the queue pair is closed or is an XRC target, or when this
    ///     thread has a batch open
    SendBatch sendBatch();

    /// Starts a batch of receives, in this thread. Waits while another thread has one open.
    ///
    /// @throws InvalidStateException before INIT, when the queue pair is closed, has a shared receive queue or is
    ///     of XRC, or when this thread has a batch open
    ReceiveBatch receiveBatch();

    /// Posts one signalled SEND of `length` bytes of `region` from `offset` on. Fails as [#sendBatch()] and
    /// [SendBatch] do, and so do the other methods of this kind.
    ///
    /// @throws ResourceLimitException when the send queue is full
    default void postSend(long wrId, MemoryRegion region, long offset, long length) {
        try (SendBatch batch = sendBatch()) {
            batch.send(wrId).sge(region, offset, length).signaled().submit();
        }
    }

    /// Posts one signalled WRITE of `length` bytes of `region` from `offset` on to `remoteAddress`.
    default void postWrite(long wrId, MemoryRegion region, long offset, long length, long remoteAddress, int rkey) {
        try (SendBatch batch = sendBatch()) {
            batch.write(wrId, remoteAddress, rkey)
                    .sge(region, offset, length)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled WRITE with immediate.
    default void postWriteWithImmediate(
            long wrId, MemoryRegion region, long offset, long length, long remoteAddress, int rkey, int immediate) {
        try (SendBatch batch = sendBatch()) {
            batch.writeWithImmediate(wrId, remoteAddress, rkey, immediate)
                    .sge(region, offset, length)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled READ of `length` bytes from `remoteAddress` into `region` from `offset` on.
    default void postRead(long wrId, long remoteAddress, int rkey, MemoryRegion region, long offset, long length) {
        try (SendBatch batch = sendBatch()) {
            batch.read(wrId, remoteAddress, rkey)
                    .sge(region, offset, length)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled FETCH_ADD; the previous value goes to 8 bytes of `region` at `offset`.
    default void postFetchAdd(long wrId, long remoteAddress, int rkey, long add, MemoryRegion region, long offset) {
        try (SendBatch batch = sendBatch()) {
            batch.fetchAdd(wrId, remoteAddress, rkey, add)
                    .sge(region, offset, Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled CMP_SWAP; the previous value goes to 8 bytes of `region` at `offset`.
    default void postCompareSwap(
            long wrId, long remoteAddress, int rkey, long compare, long swap, MemoryRegion region, long offset) {
        try (SendBatch batch = sendBatch()) {
            batch.compareSwap(wrId, remoteAddress, rkey, compare, swap)
                    .sge(region, offset, Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one receive into `length` bytes of `region` from `offset` on.
    ///
    /// @throws ResourceLimitException when the receive queue is full
    default void postReceive(long wrId, MemoryRegion region, long offset, long length) {
        try (ReceiveBatch batch = receiveBatch()) {
            batch.receive(wrId).sge(region, offset, length).submit();
        }
    }

    /// Joins a multicast group (ibv_attach_mcast(3)). Datagrams to the group arrive here too, its own included.
    /// Joining again changes nothing. UD only.
    ///
    /// @param group an IPv4 or IPv6 multicast address
    /// @throws IllegalArgumentException when it is none
    /// @throws InvalidStateException when the queue pair is closed, or not of type UD
    /// @throws ResourceLimitException when the device is a member of too many groups
    /// @throws UnsupportedException when the device has no multicast ([Capability#MULTICAST])
    /// @throws DeviceException when the network does not let it join
    void attachMulticast(Gid group);

    /// Leaves a multicast group (ibv_detach_mcast(3)). Closing the queue pair leaves all.
    ///
    /// @throws InvalidStateException when it is not attached
    void detachMulticast(Gid group);

    /// Ends the queue pair (ibv_destroy_qp(3)). Outstanding requests are discarded without completions, and the
    /// peer gets no more answers. Completions that are in a completion queue stay there.
    @Override
    void close();
}
