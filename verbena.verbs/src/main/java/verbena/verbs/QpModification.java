package verbena.verbs;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/// A set of attributes to change on a queue pair (ibv_modify_qp(3)). An attribute that is set here is one that the
/// mask of C would name. [QueuePair#modify(QpModification)] checks the values; the setters do not. Prefer
/// [Transition], whose parameters are the attributes that a step requires. One thread uses it at a time.
///
/// @since 0.1
public final class QpModification {
    private final EnumMap<QpAttribute, Object> values = new EnumMap<>(QpAttribute.class);

    /// A modification without attributes.
    public QpModification() {}

    /// Sets the new state.
    public QpModification state(QpState state) {
        return set(QpAttribute.STATE, state);
    }

    /// Sets the state that the queue pair is expected to be in. In another state the modification throws
    /// [InvalidStateException].
    public QpModification currentState(QpState state) {
        return set(QpAttribute.CUR_STATE, state);
    }

    /// Sets whether a drained send queue raises [AsyncEvent.Type#SQ_DRAINED] in SQD.
    public QpModification sqdNotify(boolean notify) {
        return set(QpAttribute.EN_SQD_ASYNC_NOTIFY, notify);
    }

    /// Sets the rights of the peer.
    public QpModification access(Set<Access> access) {
        return set(QpAttribute.ACCESS_FLAGS, Set.copyOf(access));
    }

    /// Sets the index of the P_Key of its packets.
    public QpModification pkeyIndex(int index) {
        return set(QpAttribute.PKEY_INDEX, index);
    }

    /// Sets the own port, counted from 1.
    public QpModification port(int port) {
        return set(QpAttribute.PORT, port);
    }

    /// Sets the Q_Key of datagrams, 32 bits.
    public QpModification qkey(int qkey) {
        return set(QpAttribute.QKEY, qkey);
    }

    /// Sets the path to the peer.
    public QpModification path(AddressVector path) {
        return set(QpAttribute.AV, path);
    }

    /// Sets the path MTU.
    public QpModification pathMtu(Mtu mtu) {
        return set(QpAttribute.PATH_MTU, mtu);
    }

    /// Sets the time that a request waits for its answer.
    public QpModification ackTimeout(AckTimeout timeout) {
        return set(QpAttribute.TIMEOUT, timeout);
    }

    /// Sets the number of attempts after the first, 0 to 7.
    public QpModification retryCount(int count) {
        return set(QpAttribute.RETRY_CNT, count);
    }

    /// Sets the number of attempts after an RNR NAK, 0 to 6; 7 is without limit.
    public QpModification rnrRetry(int count) {
        return set(QpAttribute.RNR_RETRY, count);
    }

    /// Sets the first PSN that the peer will send.
    public QpModification rqPsn(int psn) {
        return set(QpAttribute.RQ_PSN, psn);
    }

    /// Sets the first PSN that this side will send.
    public QpModification sqPsn(int psn) {
        return set(QpAttribute.SQ_PSN, psn);
    }

    /// Sets the number of READs and atomics that this side may have outstanding.
    public QpModification maxReadAtomic(int count) {
        return set(QpAttribute.MAX_QP_RD_ATOMIC, count);
    }

    /// Sets the number of READs and atomics that the peer may have outstanding.
    public QpModification maxDestinationReadAtomic(int count) {
        return set(QpAttribute.MAX_DEST_RD_ATOMIC, count);
    }

    /// Sets the time that the peer is asked to wait when no receive is posted.
    public QpModification minRnrTimer(RnrTimer timer) {
        return set(QpAttribute.MIN_RNR_TIMER, timer);
    }

    /// Sets the number of the peer's queue pair, 24 bits.
    public QpModification destinationQpn(int qpn) {
        return set(QpAttribute.DEST_QPN, qpn);
    }

    /// Loads an alternate path; [#pathMigration] arms it. Needs [Capability#PATH_MIGRATION].
    public QpModification alternatePath(AlternatePath path) {
        return set(QpAttribute.ALT_PATH, path);
    }

    /// Sets the state of migration. [PathMigration#REARM] arms the alternate path as soon as the peer has one too.
    /// [PathMigration#MIGRATED] migrates to an armed path at once.
    public QpModification pathMigration(PathMigration state) {
        return set(QpAttribute.PATH_MIG_STATE, state);
    }

    /// Returns the attributes that have been set.
    public Set<QpAttribute> mask() {
        var mask = EnumSet.noneOf(QpAttribute.class);
        mask.addAll(values.keySet());
        return mask;
    }

    /// Returns whether this has been set.
    public boolean has(QpAttribute attribute) {
        return values.containsKey(attribute);
    }

    /// Returns the value of an attribute, or `otherwise` when it has not been set; for providers.
    ///
    /// @param otherwise of the type that the attribute's setter takes
    /// @throws IllegalArgumentException when `otherwise` has another type, whatever has been set
    @Preview
    @SuppressWarnings("unchecked") // the setters take what the attribute says
    public <T> T get(QpAttribute attribute, T otherwise) {
        Class<?> type = type(attribute);
        if (!type.isInstance(otherwise)) {
            throw new IllegalArgumentException(
                    "otherwise: " + type.getSimpleName() + " for " + attribute + ", got " + otherwise);
        }
        return (T) values.getOrDefault(attribute, otherwise);
    }

    private static Class<?> type(QpAttribute attribute) {
        return switch (attribute) {
            case STATE, CUR_STATE -> QpState.class;
            case EN_SQD_ASYNC_NOTIFY -> Boolean.class;
            case ACCESS_FLAGS -> Set.class;
            case AV -> AddressVector.class;
            case PATH_MTU -> Mtu.class;
            case TIMEOUT -> AckTimeout.class;
            case ALT_PATH -> AlternatePath.class;
            case MIN_RNR_TIMER -> RnrTimer.class;
            case PATH_MIG_STATE -> PathMigration.class;
            case CAP -> QueuePairOptions.Sizes.class;
            case PKEY_INDEX,
                    PORT,
                    QKEY,
                    RETRY_CNT,
                    RNR_RETRY,
                    RQ_PSN,
                    MAX_QP_RD_ATOMIC,
                    SQ_PSN,
                    MAX_DEST_RD_ATOMIC,
                    DEST_QPN -> Integer.class;
        };
    }

    private QpModification set(QpAttribute attribute, Object value) {
        values.put(attribute, Objects.requireNonNull(value, attribute.name()));
        return this;
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
