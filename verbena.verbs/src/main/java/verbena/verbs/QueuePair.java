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
    /// Returns the protection domain that the queue pair was made in.
    ProtectionDomain protectionDomain();

    /// Returns the number by which peers address the queue pair, 24 bits. It is unpredictable on Verbena's own
    /// devices.
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

    /// Returns the options that the queue pair was made with, with the queues in which its requests complete.
    default QueuePairOptions options() {
        return query().options();
    }

    /// Returns the attributes that the queue pair was made with and set to (ibv_query_qp(3)).
    QueuePairAttributes query();

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

    /// Brings a connected queue pair from RESET or INIT to RTS with [EndpointOptions#defaults()].
    ///
    /// @param remote the result of the peer's [#endpoint()]
    default void connect(Endpoint remote) {
        connect(remote, EndpointOptions.defaults());
    }

    /// Brings a connected queue pair from RESET or INIT to RTS. It uses the GID of the last [#endpoint(int)], or
    /// one that suits the peer's.
    ///
    /// @throws InvalidAttributesException when the two ends do not fit: another encapsulation, another address
    ///     family, or an MTU that one of them does not have
    /// @throws InvalidStateException when it is in another state, or of type UD
    /// @throws UnsupportedException when only the connection manager connects this device ([Capability#ENDPOINTS])
    void connect(Endpoint remote, EndpointOptions options);

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

    /// Posts one signalled SEND. Fails as [#sendBatch()] and [SendBatch] do, and so do the other methods of this
    /// kind.
    ///
    /// They take the source before the destination. The length of the source is the number of bytes, and the
    /// destination is at least as long; otherwise they throw [IndexOutOfBoundsException] and post nothing.
    ///
    /// @throws ResourceLimitException when the send queue is full
    default void postSend(long wrId, LocalMemory data) {
        try (SendBatch batch = sendBatch()) {
            batch.send(wrId).sge(data).signaled().submit();
        }
    }

    /// Posts one signalled SEND with immediate.
    default void postSendWithImmediate(long wrId, LocalMemory data, int immediate) {
        try (SendBatch batch = sendBatch()) {
            batch.sendWithImmediate(wrId, immediate).sge(data).signaled().submit();
        }
    }

    /// Posts one signalled WRITE to the peer's memory.
    default void postWrite(long wrId, LocalMemory from, RemoteMemory to) {
        requireRoom(from.length(), to.length());
        try (SendBatch batch = sendBatch()) {
            batch.write(wrId, to).sge(from).signaled().submit();
        }
    }

    /// Posts one signalled WRITE with immediate.
    default void postWriteWithImmediate(long wrId, LocalMemory from, RemoteMemory to, int immediate) {
        requireRoom(from.length(), to.length());
        try (SendBatch batch = sendBatch()) {
            batch.writeWithImmediate(wrId, to, immediate).sge(from).signaled().submit();
        }
    }

    /// Posts one signalled READ of all of `from`.
    default void postRead(long wrId, RemoteMemory from, LocalMemory into) {
        requireRoom(from.length(), into.length());
        try (SendBatch batch = sendBatch()) {
            batch.read(wrId, from)
                    .sge(into.region(), into.offset(), from.length())
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled FETCH_ADD to the first 8 bytes of `to`; the previous value goes to the first 8 of
    /// `previous`.
    default void postFetchAdd(long wrId, RemoteMemory to, long add, LocalMemory previous) {
        requireRoom(Long.BYTES, Math.min(to.length(), previous.length()));
        try (SendBatch batch = sendBatch()) {
            batch.fetchAdd(wrId, to, add)
                    .sge(previous.region(), previous.offset(), Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled CMP_SWAP of the first 8 bytes of `to`; the previous value goes to the first 8 of
    /// `previous`.
    default void postCompareSwap(long wrId, RemoteMemory to, long compare, long swap, LocalMemory previous) {
        requireRoom(Long.BYTES, Math.min(to.length(), previous.length()));
        try (SendBatch batch = sendBatch()) {
            batch.compareSwap(wrId, to, compare, swap)
                    .sge(previous.region(), previous.offset(), Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    private static void requireRoom(long bytes, long room) {
        if (bytes > room) {
            throw new IndexOutOfBoundsException(bytes + " bytes, and the destination has " + room);
        }
    }

    /// Posts one receive.
    ///
    /// @throws ResourceLimitException when the receive queue is full
    default void postReceive(long wrId, LocalMemory into) {
        try (ReceiveBatch batch = receiveBatch()) {
            batch.receive(wrId).sge(into).submit();
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
