package verbena.verbs.cm;

import java.util.Optional;
import verbena.verbs.AddressVector;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Gid;

/// An event of a connection (`enum rdma_cm_event_type`, rdma_get_cm_event(3)). Immutable.
///
/// [EventChannel#poll()] and [EventChannel#await()] take events, each once. Taking an event acknowledges it.
///
/// @since 0.1
public sealed interface ConnectionEvent {
    /// Returns the identifier of the event; for [ConnectRequest] the new one.
    ConnectionId id();

    /// Returns why the connection failed or ended with this event, as a [Connection] gives it; empty when it
    /// goes on.
    default Optional<Reason> failure() {
        return Optional.ofNullable(
                switch (this) {
                    case AddressError _, RouteError _ -> Reason.ADDRESS;
                    case ConnectError _, DeviceRemoval _, MulticastError _ -> Reason.FAILED;
                    case Unreachable _ -> Reason.UNREACHABLE;
                    case Rejected no -> no.reason() == Rejected.CONSUMER_DEFINED ? Reason.REJECTED : Reason.REFUSED;
                    case Disconnected end ->
                        switch (end.by()) {
                            case PEER -> Reason.DISCONNECTED;
                            case FAILURE -> Reason.FAILED;
                            case THIS_SIDE -> Reason.CLOSED;
                        };
                    case AddressResolved _,
                            RouteResolved _,
                            ConnectRequest _,
                            ConnectResponse _,
                            Established _,
                            DatagramEstablished _,
                            MulticastJoined _,
                            TimewaitExit _ -> null;
                });
    }

    /// Returns what happened, in words; empty for an event that is no failure.
    default String why() {
        return "";
    }

    /// The address and its device are found. [ConnectionId#resolveRoute] comes next.
    record AddressResolved(ConnectionId id) implements ConnectionEvent {}

    /// No device of this host reaches the address.
    record AddressError(ConnectionId id, String why) implements ConnectionEvent {}

    /// The route is found. The program makes a queue pair, and [ConnectionId#connect] comes next.
    record RouteResolved(ConnectionId id) implements ConnectionEvent {}

    /// No route leads to the peer.
    record RouteError(ConnectionId id, String why) implements ConnectionEvent {}

    /// A peer asks for a connection, or for the queue pair to send datagrams to. [ConnectionId#accept] or
    /// [ConnectionId#reject] answers it.
    ///
    /// @param id a new one, of the listener's channel; the program closes it
    /// @param listener that received the request
    record ConnectRequest(ConnectionId id, ConnectionId listener, PeerParameters peer) implements ConnectionEvent {}

    /// The peer has accepted, and the queue pair is the program's own. The program brings it to RTS with
    /// [ConnectionId#modification], then calls [ConnectionId#establish].
    record ConnectResponse(ConnectionId id, PeerParameters peer) implements ConnectionEvent {}

    /// This side gave up after [ConnectionId#connect]: its queue pair or device failed, or the program no longer
    /// wants the connection. An answer of the peer, or its silence, is [Rejected] or [Unreachable].
    record ConnectError(ConnectionId id, String why) implements ConnectionEvent {}

    /// The peer does not answer.
    record Unreachable(ConnectionId id, String why) implements ConnectionEvent {}

    /// The peer refuses.
    ///
    /// @param reason as on the wire (IBTA 12.6.7.2): 28 when the application refused, 8 when no program listens.
    ///     For datagrams it is the status of the answer (IBTA 12.11.2)
    /// @param why the reason in words
    record Rejected(ConnectionId id, int reason, String why, PrivateData privateData) implements ConnectionEvent {
        /// The application refused; its private data may say why.
        public static final int CONSUMER_DEFINED = 28;
        /// No program listens at this port.
        public static final int INVALID_SERVICE_ID = 8;
    }

    /// Both sides are ready; the queue pair is in RTS.
    ///
    /// @param peer the parameters that it sent when it accepted, or when it asked
    record Established(ConnectionId id, PeerParameters peer) implements ConnectionEvent {}

    /// The peer's queue pair for datagrams is known.
    ///
    /// @param path to it, for an address handle
    record DatagramEstablished(ConnectionId id, AddressVector path, PeerParameters peer) implements ConnectionEvent {}

    /// The connection has ended. Its queue pair is in ERR and what was posted ends with `WR_FLUSH_ERR`.
    ///
    /// @param why in words
    record Disconnected(ConnectionId id, EndedBy by, String why) implements ConnectionEvent {}

    /// The device has failed or is gone, as rdma_cm's event of this name says. The program can only close the
    /// identifier. Listeners get this event too.
    record DeviceRemoval(ConnectionId id, String why) implements ConnectionEvent {}

    /// The group is joined, and the queue pair attached to it.
    ///
    /// @param path to the group, for an address handle
    /// @param qpn to send to: 0xFFFFFF
    /// @param qkey to send with
    record MulticastJoined(ConnectionId id, Gid group, AddressVector path, int qpn, int qkey)
            implements ConnectionEvent {}

    /// The group could not be joined.
    record MulticastError(ConnectionId id, Gid group, String why) implements ConnectionEvent {}

    /// The time after a disconnection has ended (IBTA 12.9.8): late packets are gone, and the number of the queue
    /// pair may be used again.
    record TimewaitExit(ConnectionId id) implements ConnectionEvent {}
}
