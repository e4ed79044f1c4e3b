package verbena.verbs;

import java.util.Optional;
import java.util.Set;

/// The state and attributes of a queue pair ([QueuePair#query()]; `struct ibv_qp_attr` and `struct ibv_qp_init_attr`,
/// ibv_query_qp(3)). An attribute that was not set since RESET has its default. Immutable.
///
/// @param state of its state machine
/// @param isSqDraining whether requests that were started in SQD are still outstanding
/// @param port own port, counted from 1
/// @param pkeyIndex index of the P_Key of its packets in the port's table
/// @param qkey Q_Key of datagrams (UD), 32 bits
/// @param access rights of the peer
/// @param peer the other queue pair, and the path to it
/// @param sending attributes of requests that it sends
/// @param receiving attributes of the peer's requests, which it serves
/// @param options that it was made with
/// @since 0.1
public record QueuePairAttributes(
        QpState state,
        boolean isSqDraining,
        int port,
        int pkeyIndex,
        int qkey,
        Set<Access> access,
        Peer peer,
        Sending sending,
        Receiving receiving,
        QueuePairOptions options) {
    @Preview
    public QueuePairAttributes {
        access = Set.copyOf(access);
    }

    /// The other queue pair of a connection, and the path to it.
    ///
    /// @param destinationQpn number of that queue pair, 24 bits
    /// @param path empty before RTR, and for datagrams
    /// @param pathMtu longest packet on the path, without its headers
    /// @param alternatePath path that it can migrate to; empty when none is set
    /// @param pathMigration state of that migration
    public record Peer(
            int destinationQpn,
            Optional<AddressVector> path,
            Mtu pathMtu,
            Optional<AlternatePath> alternatePath,
            PathMigration pathMigration) {
        @Preview
        public Peer {}
    }

    /// The attributes of requests that it sends.
    ///
    /// @param sqPsn first PSN that it sends, 24 bits
    /// @param maxReadAtomic READs and atomics that it may have outstanding
    /// @param ackTimeout time that a request waits for its answer before it is sent again
    /// @param retryCount attempts after the first, 0 to 7
    /// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
    public record Sending(int sqPsn, int maxReadAtomic, AckTimeout ackTimeout, int retryCount, int rnrRetry) {
        @Preview
        public Sending {}
    }

    /// The attributes of the peer's requests, which it serves.
    ///
    /// @param rqPsn first PSN that the peer sends, 24 bits
    /// @param maxDestinationReadAtomic READs and atomics that the peer may have outstanding
    /// @param minRnrTimer time that the peer is asked to wait when no receive is posted
    public record Receiving(int rqPsn, int maxDestinationReadAtomic, RnrTimer minRnrTimer) {
        @Preview
        public Receiving {}
    }
}
