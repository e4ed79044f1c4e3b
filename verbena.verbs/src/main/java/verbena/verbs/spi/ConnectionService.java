package verbena.verbs.spi;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.Preview;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.UnsupportedException;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;

/// The connection manager of one opened device: the wire's part of [verbena.verbs.cm]. A provider implements it, and
/// its context implements [Owner]. It ends with its device.
///
/// Any thread may call it, and no call waits for the peer. Results come later to a listener, on a thread of the
/// device, which the listener must not block. After the device was closed, methods throw
/// [verbena.verbs.InvalidStateException].
///
/// @since 0.1
@Preview
public interface ConnectionService {
    /// A [Context] whose device has a connection manager.
    @Preview
    interface Owner {
        /// Returns the connection manager.
        ///
        /// @throws UnsupportedException when this device has none after all
        ConnectionService connectionService();
    }

    /// Returns the connection manager of a device.
    ///
    /// @throws UnsupportedException when it has none
    static ConnectionService of(Context context) {
        if (context instanceof Owner owner) {
            return owner.connectionService();
        }
        throw new UnsupportedException(
                "connect", Capability.CONNECTION_MANAGER, context.device().name());
    }

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
    Exchange connect(Route call, OwnSide own, Listener listener);

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
        return joinAtOnce(join, listener);
    }

    /// Joins where the GID of a group alone leads to its members: there is nothing to wait for.
    static Watch joinAtOnce(GroupJoin join, GroupListener listener) {
        listener.onJoined(AddressVector.to(join.group, join.gidIndex), join.qkey);
        return () -> {};
    }

    /// A group to join.
    ///
    /// @param gidIndex index of the port's GID to send from
    /// @param qkey of the group when nothing else gives it one
    /// @param isSendOnly whether its datagrams are not received
    @Preview
    record GroupJoin(Gid group, int gidIndex, int qkey, boolean isSendOnly) {}

    /// A receiver of the result of a join, on any thread, which it must not block.
    @Preview
    interface GroupListener {
        /// Called when datagrams of the group travel.
        ///
        /// @param path to the group
        /// @param qkey that its datagrams have
        void onJoined(AddressVector path, int qkey);

        /// Called when the group cannot be joined, with the reason in words.
        void onRefused(String why);
    }

    /// Calls `onFailure` once when the device fails, or at once when it has failed; on any thread. Closing the
    /// result ends that.
    ///
    /// @param onFailure gets the reason in words, and must not block the calling thread
    Watch watch(Consumer<String> onFailure);

    /// A watch of [#watch], or a membership of [#join]; closing ends it.
    @Preview
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// The way from this side to the peer to ask.
    ///
    /// @param space port space of both ports
    /// @param local one of the device's own addresses
    /// @param localPort of this side, for the peer, 0 to 65,535
    /// @param remote address of the peer
    /// @param remotePort of the peer, 0 to 65,535
    @Preview
    record Route(PortSpace space, Gid local, int localPort, Gid remote, int remotePort) {}

    /// This side of a connection: its queue pair, and what the program asks for.
    ///
    /// @param queuePair that the service moves to ERR when the connection ends; empty when the program moves it
    ///     itself
    /// @param type of the queue pair
    /// @param qpn its number, 24 bits
    /// @param qkey of datagrams; 0 otherwise
    /// @param hasSharedReceiveQueue whether its receives are those of a shared receive queue, which the peer is
    ///     told
    /// @param parameters of the program: depths, retries, private data, secret
    @Preview
    record OwnSide(
            Optional<QueuePair> queuePair,
            QpType type,
            int qpn,
            int qkey,
            boolean hasSharedReceiveQueue,
            ConnectionParameters parameters) {}

    /// A port of an identifier that asks a peer.
    @Preview
    interface CallerPort extends AutoCloseable {
        /// Returns the number of the port, 1 to 65,535.
        int port();

        /// Gives the port back, so that others can take it. The identifier calls this once.
        @Override
        void close();
    }

    /// A port of a listening identifier.
    @Preview
    interface BoundPort extends CallerPort {
        /// Takes requests from now on.
        ///
        /// @param backlog requests that may wait for a decision; a peer beyond these has to wait
        /// @param secret what peers have to prove that they know
        /// @throws verbena.verbs.UnsupportedException when there is a secret, and the device cannot verify it
        void listen(int backlog, Secret secret, Acceptor acceptor);

        /// Takes requests of all peers from now on.
        default void listen(int backlog, Acceptor acceptor) {
            listen(backlog, Secret.NONE, acceptor);
        }
    }

    /// A connection from its first message to its last. Its methods throw [verbena.verbs.InvalidStateException]
    /// when it has not reached that step.
    @Preview
    interface Exchange {
        /// Returns the own address.
        Gid local();

        /// Returns the peer's address.
        Gid remote();

        /// Returns the own port; 0 while there is none: see [#bindCaller].
        int localPort();

        /// Returns the peer's port.
        int remotePort();

        /// Returns the attributes that bring the queue pair to RTR, and then to RTS (rdma_init_qp_attr(3)),
        /// once the peer is known. On the passive side it comes before [#accept(OwnSide)], with the same
        /// `own`.
        QpModification modification(QpState to, OwnSide own);

        /// Returns the path to the peer, for an address handle.
        AddressVector path();

        /// Accepts the request, on the passive side.
        ///
        /// @throws IllegalArgumentException when the private data are too long
        void accept(OwnSide own);

        /// Rejects the request or the acceptance, on either side.
        ///
        /// @throws IllegalArgumentException when the private data are too long
        void reject(PrivateData privateData);

        /// Confirms that the queue pair is ready, on the active side.
        void ready();

        /// Notes that a packet has arrived at the queue pair, on the passive side.
        void communicationEstablished();

        /// Ends the connection, or gives the attempt up.
        void disconnect(PrivateData privateData);
    }

    /// A receiver of requests for connections, on a thread of the device, which it must not block.
    @Preview
    @FunctionalInterface
    interface Acceptor {
        /// Handles a request; returns the receiver of the events that follow.
        ///
        /// @param exchange of this request; [Exchange#accept] or [Exchange#reject] answers it later
        Listener onRequest(Exchange exchange, PeerParameters peer, QpType type);
    }

    /// A receiver of the events of a connection, on a thread of the device, which it must not block.
    @Preview
    @FunctionalInterface
    interface Listener {
        /// Handles an event.
        void onNews(Exchange exchange, News news);
    }

    /// An event of a connection. The last one is [Rejected], [Unreachable] or [Disconnected], or [TimewaitExit]
    /// after that.
    @Preview
    sealed interface News {
        /// Returns the reason why the connection has ended, or was not made; empty when it has not ended.
        default String why() {
            return "";
        }

        /// Active: the peer accepts. The queue pair goes to RTS, and then [Exchange#ready()] follows. Datagrams
        /// need nothing more.
        @Preview
        record Accepted(PeerParameters peer) implements News {}

        /// Passive: the peer is ready too.
        @Preview
        record Established() implements News {}

        /// The peer refuses; `reason` as in [verbena.verbs.cm.ConnectionEvent.Rejected].
        @Preview
        record Rejected(int reason, String why, PrivateData privateData) implements News {}

        /// The peer does not answer.
        @Preview
        record Unreachable(String why) implements News {}

        /// The connection has ended.
        @Preview
        record Disconnected(EndedBy by, String why) implements News {}

        /// Late packets are gone, and the number of the queue pair may be used again.
        @Preview
        record TimewaitExit() implements News {}
    }
}
