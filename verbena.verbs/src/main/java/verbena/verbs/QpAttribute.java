package verbena.verbs;

/// The names of a queue pair's attributes that can be modified (`enum ibv_qp_attr_mask`, ibv_modify_qp(3)).
/// Immutable.
///
/// @since 0.1
public enum QpAttribute {
    /// Next state: [QpModification#withState].
    STATE(1),
    /// Expected state: [QpModification#withCurrentState].
    CUR_STATE(1 << 1),
    /// Event of a drained send queue: [QpModification#withSqdNotify].
    EN_SQD_ASYNC_NOTIFY(1 << 2),
    /// Rights of the peer: [QpModification#withAccess].
    ACCESS_FLAGS(1 << 3),
    /// Index of the P_Key: [QpModification#withPkeyIndex].
    PKEY_INDEX(1 << 4),
    /// Own port: [QpModification#withPort].
    PORT(1 << 5),
    /// Q_Key: [QpModification#withQkey].
    QKEY(1 << 6),
    /// Path to the peer: [QpModification#withPath].
    AV(1 << 7),
    /// Path MTU: [QpModification#withPathMtu].
    PATH_MTU(1 << 8),
    /// Time to wait for an answer: [QpModification#withAckTimeout].
    TIMEOUT(1 << 9),
    /// Attempts after the first: [QpModification#withRetryCount].
    RETRY_CNT(1 << 10),
    /// Attempts after an RNR NAK: [QpModification#withRnrRetry].
    RNR_RETRY(1 << 11),
    /// First PSN of the peer: [QpModification#withRqPsn].
    RQ_PSN(1 << 12),
    /// READs and atomics of this side: [QpModification#withMaxReadAtomic].
    MAX_QP_RD_ATOMIC(1 << 13),
    /// Alternate path: [QpModification#withAlternatePath].
    ALT_PATH(1 << 14),
    /// Time that the peer waits for a receive: [QpModification#withMinRnrTimer].
    MIN_RNR_TIMER(1 << 15),
    /// First PSN of this side: [QpModification#withSqPsn].
    SQ_PSN(1 << 16),
    /// READs and atomics of the peer: [QpModification#withMaxDestinationReadAtomic].
    MAX_DEST_RD_ATOMIC(1 << 17),
    /// State of path migration: [QpModification#withPathMigration].
    PATH_MIG_STATE(1 << 18),
    /// Sizes of the queues, which no modification here changes ([QueuePairOptions#sizes()]).
    CAP(1 << 19),
    /// Number of the peer's queue pair: [QpModification#withDestinationQpn].
    DEST_QPN(1 << 20);

    private final int bit;

    QpAttribute(int bit) {
        this.bit = bit;
    }

    /// Returns the bit of `enum ibv_qp_attr_mask`.
    public int bit() {
        return bit;
    }
}
