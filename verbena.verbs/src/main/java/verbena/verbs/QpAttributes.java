package verbena.verbs;

import java.util.Optional;
import java.util.Set;

/// The attributes of a queue pair (`struct ibv_qp_attr` and `struct ibv_qp_init_attr`, ibv_query_qp(3)). An attribute
/// that was not set since RESET has its default. Immutable.
///
/// @param state of its state machine
/// @param pathMtu longest packet on the path to the peer, without its headers
/// @param qkey Q_Key of datagrams (UD), 32 bits
/// @param rqPsn first PSN that the peer sends, 24 bits
/// @param sqPsn first PSN that this side sends, 24 bits
/// @param destinationQpn number of the peer's queue pair, 24 bits
/// @param access rights of the peer
/// @param path to the peer; empty before RTR, and for datagrams
/// @param alternatePath path that it can migrate to; empty when none is set
/// @param pathMigration state of that migration
/// @param pkeyIndex index of the P_Key of its packets in the port's table
/// @param port own port, counted from 1
/// @param sqDraining whether requests that were started in SQD are still outstanding
/// @param maxReadAtomic READs and atomics that this side may have outstanding
/// @param maxDestinationReadAtomic READs and atomics that the peer may have outstanding
/// @param minRnrTimer time that the peer is asked to wait when no receive is posted
/// @param ackTimeout time that a request waits for its answer before it is sent again
/// @param retryCount attempts after the first, 0 to 7
/// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
/// @param options that it was made with
/// @since 0.1
public record QpAttributes(
        QpState state,
        Mtu pathMtu,
        int qkey,
        int rqPsn,
        int sqPsn,
        int destinationQpn,
        Set<Access> access,
        Optional<AddressVector> path,
        Optional<AlternatePath> alternatePath,
        PathMigration pathMigration,
        int pkeyIndex,
        int port,
        boolean sqDraining,
        int maxReadAtomic,
        int maxDestinationReadAtomic,
        RnrTimer minRnrTimer,
        AckTimeout ackTimeout,
        int retryCount,
        int rnrRetry,
        QueuePairOptions options) {
    @Preview
    public QpAttributes {
        access = Set.copyOf(access);
    }
}
