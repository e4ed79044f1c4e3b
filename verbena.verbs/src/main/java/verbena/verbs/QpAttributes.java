package verbena.verbs;

import java.util.Optional;
import java.util.Set;

/// The attributes of a queue pair (`struct ibv_qp_attr` and `struct ibv_qp_init_attr`, ibv_query_qp(3)). An attribute
/// that was not set since RESET has its default. Immutable.
///
/// @param rqPsn first PSN that the peer sends, 24 bits
/// @param sqPsn first PSN that this side sends, 24 bits
/// @param destinationQpn number of the peer's queue pair, 24 bits
/// @param access rights of the peer
/// @param sqDraining whether requests that were started in SQD are still under way
/// @param maxReadAtomic READs and atomics that this side may have outstanding
/// @param maxDestinationReadAtomic READs and atomics that the peer may have outstanding
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
    public QpAttributes {
        access = Set.copyOf(access);
    }
}
