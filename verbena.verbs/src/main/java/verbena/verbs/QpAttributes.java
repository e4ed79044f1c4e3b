package verbena.verbs;

import java.util.Optional;
import java.util.Set;

/// The attributes of a queue pair (`struct ibv_qp_attr` and `struct ibv_qp_init_attr`, ibv_query_qp(3)). Attributes
/// that have not been set in this life of the queue pair have their default.
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
