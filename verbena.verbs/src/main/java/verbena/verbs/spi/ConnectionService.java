package verbena.verbs.spi;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.Preview;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;

/// The connection manager of one opened device: the wire's part of [verbena.verbs.cm]. A provider implements it, and
/// [verbena.verbs.Context#connectionService()] returns it. It ends with its device.
///
/// Any thread may call it, and no call waits for the peer. Results come later to a listener, on a thread of the
/// device, which the listener must not block. After the device was closed, methods throw
/// [verbena.verbs.InvalidStateException].
///
/// @since 0.1
@Preview
public interface ConnectionService {
    /// Takes a port for an identifier that is to listen.
    ///
    /// @param local one of the device's own addresses
    /// @param port 0 for any that is free
    /// @throws verbena.verbs.ConnectionException when it is taken, by this process or another
    BoundPort bind(PortSpace space, Gid local, int port);

    /// Takes any free port for an identifier that is to ask a peer, as rdma_cm does when it resolves an address. No
    /// other identifier of this process has it.
    ///
    /// @param local one of the device's own addresses
    /// @return empty when connecting determines the port: [Exchange#localPort()] has it once there is a connection
    /// @throws verbena.verbs.ResourceLimitException when no port is free
    default Optional<CallerPort> bindCaller(PortSpace space, Gid local) {
        return Optional.empty();
    }

    /// Asks a peer for a connection, or for the queue pair that takes its datagrams.
    ///
    /// @throws verbena.verbs.ResourceLimitException when there are too many
    /// @throws IllegalArgumentException when the private data are too long
    /// @throws verbena.verbs.UnsupportedException when there is a secret, and this device cannot prove it
    Exchange connect(Call call, End own, Listener listener);

    /// Waits as a thread of the device. The caller does the device's work and sleeps where packets arrive, so no
    /// other thread has to wake it. Returns when `isOver` is true, after `nanos`, or when the device needs its
    /// place. A change that makes `isOver` true and does not come from this device is followed by
    /// [#wakeAttendant()].
    ///
    /// @return false, at once, when the caller has to wait elsewhere
    default boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return false;
    }

    /// Makes a thread in [#attend] check whether its wait is over.
    default void wakeAttendant() {}

    /// Makes the device's port a member of a multicast group for an identifier. Closing the result ends the
    /// membership, also after a refusal.
    ///
    /// @param listener called once, by any thread
    default Watch join(GroupJoin join, GroupListener listener) {
        return join.atOnce(listener);
    }

    /// A group to join.
    ///
    /// @param gidIndex which of the port's GIDs is sent from
    /// @param qkey of the group when nothing else gives it one
    /// @param isSendOnly whether its datagrams are not wanted
    record GroupJoin(Gid group, int gidIndex, int qkey, boolean isSendOnly) {
        /// Joins where the GID of a group alone leads to its members: there is nothing to wait for.
        public Watch atOnce(GroupListener listener) {
            listener.onJoined(AddressVector.to(group, gidIndex), qkey);
            return () -> {};
        }
    }

    /// Hears whether a group was joined, on any thread, which it must not block.
    interface GroupListener {
        /// Called when its datagrams travel.
        ///
        /// @param path to the group
        /// @param qkey that its datagrams have
        void onJoined(AddressVector path, int qkey);

        void onRefused(String why);
    }

    /// Calls `onFailure` once when the device fails, or at once when it has failed; on any thread. Closing the
    /// result ends that.
    ///
    /// @param onFailure gets the reason in words, and must not block the calling thread
    Watch watch(Consumer<String> onFailure);

    /// A watch of [#watch], or a membership of [#join]; closing ends it.
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// The peer to ask, and this side's address.
    ///
    /// @param localPort what the peer is told, 0 to 65535
    record Call(PortSpace space, Gid local, int localPort, Gid remote, int remotePort) {}

    /// This side of a connection.
    ///
    /// @param queuePair broken down when the connection ends; empty when the program does that itself
    record End(
            Optional<QueuePair> queuePair,
            QpType type,
            int qpn,
            int qkey,
            boolean sharedReceiveQueue,
            ConnectionParameters parameters) {}

    /// A port of an identifier that asks a peer.
    interface CallerPort extends AutoCloseable {
        int port();

        /// Gives the port back; called once.
        @Override
        void close();
    }

    /// A port of a listening identifier.
    interface BoundPort extends CallerPort {
        /// Takes requests from now on.
        ///
        /// @param backlog requests that may wait for a decision; who asks when there are so many is to wait
        /// @param secret what peers have to prove that they know
        /// @throws verbena.verbs.UnsupportedException when they cannot, and there is a secret
        void listen(int backlog, Secret secret, Acceptor acceptor);

        /// Listens for all peers.
        default void listen(int backlog, Acceptor acceptor) {
            listen(backlog, Secret.NONE, acceptor);
        }
    }

    /// A connection from its first message to its last. Its methods throw [verbena.verbs.InvalidStateException]
    /// when it has not reached that step.
    interface Exchange {
        Gid local();

        Gid remote();

        /// Returns the own port; 0 while there is none: see [#bindCaller].
        int localPort();

        int remotePort();

        /// Returns the attributes that bring the queue pair to RTR, and then to RTS (rdma_init_qp_attr(3)),
        /// once the peer is known. On the passive side after `own` was told: before [#accept(End)].
        QpModification modification(QpState to, End own);

        /// Returns the way to the peer, for an address handle.
        AddressVector path();

        /// Accepts, on the passive side.
        void accept(End own);

        /// Rejects, on either side.
        void reject(PrivateData privateData);

        /// Confirms that the queue pair is ready, on the active side.
        void ready();

        /// Notes that something has arrived through the queue pair, on the passive side.
        void communicationEstablished();

        /// Ends the connection, or gives the attempt up.
        void disconnect(PrivateData privateData);
    }

    /// Receives requests for connections, on a thread of the device, which it must not block.
    @FunctionalInterface
    interface Acceptor {
        /// Sets the receiver of the events that follow.
        ///
        /// @param exchange of this request; [Exchange#accept(End)] or [Exchange#reject(PrivateData)] later, on
        ///     any thread
        Listener onRequest(Exchange exchange, PeerParameters peer, QpType type);
    }

    /// Receives the events of a connection, on a thread of the device, which it must not block.
    @FunctionalInterface
    interface Listener {
        void onNews(Exchange exchange, News news);
    }

    /// News of a connection. It ends with exactly one of [Rejected], [Unreachable] and [Disconnected].
    sealed interface News {
        /// Returns why the connection has ended, or has not come about; empty when it has not ended.
        default String why() {
            return "";
        }

        /// The peer says yes: bring the queue pair to RTS, then [Exchange#ready()]. Datagrams need nothing
        /// more.
        record Accepted(PeerParameters peer) implements News {}

        /// Passive: the peer is ready too.
        record Established() implements News {}

        record Rejected(int reason, String why, PrivateData privateData) implements News {}

        record Unreachable(String why) implements News {}

        record Disconnected(EndedBy by, String why) implements News {}

        record TimewaitExit() implements News {}
    }
}
