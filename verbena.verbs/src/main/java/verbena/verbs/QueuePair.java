package verbena.verbs;

import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One end of a connection or a source of datagrams: a send queue and a receive queue (ibv_create_qp(3)).
///
/// Any thread may post; threads that post to the same queue take turns. Requests are carried out in the order in
/// which they were posted.
public interface QueuePair extends VerbsObject {
    ProtectionDomain protectionDomain();

    /// Returns the number that peers address it by, 24 bits; unpredictable.
    int qpn();

    QpType type();

    QpState state();

    /// Returns what this queue pair has counted since it was made, by the names of [Context#counters()]; names of
    /// what happens to no single queue pair stay at 0. Empty when the device does not count by queue pair.
    default SortedMap<String, Long> counters() {
        return new TreeMap<>();
    }

    /// Keeps an object of the program's, in place of the one before. The device does not look at it.
    ///
    /// @param attachment null for none
    void attach(@Nullable Object attachment);

    /// Returns what was attached last; null when nothing was.
    @Nullable
    Object attachment();

    /// Returns the attributes that it was made with and set to.
    QpAttributes query();

    /// Takes a step; the attributes that it requires are the transition's parameters.
    ///
    /// @throws InvalidStateException when there is no such step from the present state
    /// @throws InvalidAttributesException when a value is out of range
    default void modify(Transition transition) {
        modify(transition.modification());
    }

    /// Changes any set of attributes, as ibv_modify_qp(3) with a mask. All or nothing.
    ///
    /// @throws InvalidStateException when there is no such step from the present state
    /// @throws InvalidAttributesException when one is missing, not allowed in this step, or out of range
    void modify(QpModification modification);

    /// Returns what the peer has to know to connect to this queue pair through GID `gidIndex` of port 1. The first
    /// PSN in it is drawn at random once per life of the queue pair.
    Endpoint endpoint(int gidIndex);

    /// Returns what the peer has to know to connect through the first GID of port 1.
    default Endpoint endpoint() {
        return endpoint(protectionDomain().context().gids(1).getFirst().index());
    }

    /// Brings a connected queue pair from RESET or INIT to RTS with safe defaults.
    ///
    /// @param remote what the peer's [#endpoint()] gave
    default void connect(Endpoint remote) {
        connect(remote, ConnectOptions.defaults());
    }

    /// Brings a connected queue pair from RESET or INIT to RTS. The own GID is chosen to suit the peer's.
    ///
    /// @throws InvalidAttributesException when the two ends do not fit: another encapsulation, another address
    ///     family, an MTU that one of them does not have
    void connect(Endpoint remote, ConnectOptions options);

    /// Starts a batch of send requests.
    ///
    /// @throws InvalidStateException before RTS, when the queue pair is closed, or is an XRC target
    SendBatch sendBatch();

    /// Starts a batch of receives.
    ///
    /// @throws InvalidStateException before INIT, when the queue pair is closed, has a shared receive queue or
    ///     is of XRC
    ReceiveBatch receiveBatch();

    /// Posts one signalled SEND of `length` bytes of `region` from `offset` on.
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

    /// Posts one signalled FETCH_ADD; the value before goes to 8 bytes of `region` at `offset`.
    default void postFetchAdd(long wrId, long remoteAddress, int rkey, long add, MemoryRegion region, long offset) {
        try (SendBatch batch = sendBatch()) {
            batch.fetchAdd(wrId, remoteAddress, rkey, add)
                    .sge(region, offset, Long.BYTES)
                    .signaled()
                    .submit();
        }
    }

    /// Posts one signalled CMP_SWAP; the value before goes to 8 bytes of `region` at `offset`.
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

    /// Joins a multicast group (ibv_attach_mcast(3)): datagrams to it arrive here too, those that this queue pair
    /// sends itself included. Joining again changes nothing. UD only.
    ///
    /// @param group an IPv4 or IPv6 multicast address
    /// @throws IllegalArgumentException when it is none
    /// @throws InvalidStateException when the queue pair is closed, or not of type UD
    /// @throws ResourceLimitException when the device is a member of too many groups
    /// @throws DeviceException when the network does not let it join
    void attachMulticast(Gid group);

    /// Leaves a multicast group (ibv_detach_mcast(3)). Closing the queue pair leaves all.
    ///
    /// @throws InvalidStateException when it is not attached
    void detachMulticast(Gid group);

    /// Ends the queue pair: outstanding requests are discarded without completions, and the peer gets no more
    /// answers.
    @Override
    void close();
}
