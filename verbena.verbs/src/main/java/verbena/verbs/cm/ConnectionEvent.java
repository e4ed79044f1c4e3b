package verbena.verbs.cm;

import verbena.verbs.AddressVector;
import verbena.verbs.Gid;

/// An event of a connection (`enum rdma_cm_event_type`, rdma_get_cm_event(3)). Taking an event acknowledges it.
public sealed interface ConnectionEvent {
    /// Returns the identifier that it is about; for [ConnectRequest] the new one.
    ConnectionId id();

    /// The address is found, and with it the device: [ConnectionId#resolveRoute].
    record AddressResolved(ConnectionId id) implements ConnectionEvent {}

    /// No device of this host reaches the address.
    record AddressError(ConnectionId id, String why) implements ConnectionEvent {}

    /// The way is found: make a queue pair and [ConnectionId#connect].
    record RouteResolved(ConnectionId id) implements ConnectionEvent {}

    record RouteError(ConnectionId id, String why) implements ConnectionEvent {}

    /// A peer asks for a connection, or for the queue pair to send datagrams to: [ConnectionId#accept] or
    /// [ConnectionId#reject].
    ///
    /// @param id a new one, of the listener's channel
    /// @param listener where it was asked
    record ConnectRequest(ConnectionId id, ConnectionId listener, PeerParameters peer) implements ConnectionEvent {}

    /// The peer has accepted, and the queue pair is the program's own: bring it to RTS with
    /// [ConnectionId#modification], then [ConnectionId#establish].
    record ConnectResponse(ConnectionId id, PeerParameters peer) implements ConnectionEvent {}

    /// This side could not connect.
    record ConnectError(ConnectionId id, String why) implements ConnectionEvent {}

    /// The peer does not answer.
    record Unreachable(ConnectionId id, String why) implements ConnectionEvent {}

    /// The peer refuses.
    ///
    /// @param reason as on the wire (IBTA 12.6.7.2): 28 when the application refused, 8 when no program listens; of
    ///     datagrams, the status of the answer (IBTA 12.11.2)
    /// @param why the reason in words
    record Rejected(ConnectionId id, int reason, String why, PrivateData privateData) implements ConnectionEvent {
        /// The application refused; its private data may say why.
        public static final int CONSUMER_DEFINED = 28;
        /// No program listens at this port.
        public static final int INVALID_SERVICE_ID = 8;
    }

    /// Both sides are ready; the queue pair is in RTS.
    ///
    /// @param peer what it said when it accepted, or when it asked
    record Established(ConnectionId id, PeerParameters peer) implements ConnectionEvent {}

    /// Datagrams: the peer's queue pair is known.
    ///
    /// @param path the way to it, for an address handle
    record DatagramEstablished(ConnectionId id, AddressVector path, PeerParameters peer) implements ConnectionEvent {}

    /// The connection has ended. Its queue pair is in ERR and what was posted ends with `WR_FLUSH_ERR`.
    ///
    /// @param why in words
    record Disconnected(ConnectionId id, EndedBy by, String why) implements ConnectionEvent {}

    /// The device has failed: nothing works any more but closing. Listeners are told too.
    record DeviceRemoval(ConnectionId id, String why) implements ConnectionEvent {}

    /// The group is joined, and the queue pair attached to it.
    ///
    /// @param path the way to the group, for an address handle
    /// @param qpn to send to: 0xFFFFFF
    /// @param qkey to send with
    record MulticastJoined(ConnectionId id, Gid group, AddressVector path, int qpn, int qkey)
            implements ConnectionEvent {}

    record MulticastError(ConnectionId id, Gid group, String why) implements ConnectionEvent {}

    /// The end of the time after a disconnection: late packets are gone, the queue pair's number could be used
    /// again.
    record TimewaitExit(ConnectionId id) implements ConnectionEvent {}
}
