package verbena.verbs;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/// A set of attributes to change on a queue pair (ibv_modify_qp(3)). An attribute that is set here is one that the
/// mask of C would name. [QueuePair#modify(QpModification)] checks the values, because the device determines what
/// is valid. Prefer [Transition], whose parameters are the attributes that a step requires. Immutable.
///
///     queuePair.modify(new QpModification().withState(QpState.RTS).withMinRnrTimer(timer));
///
/// @since 0.1
public final class QpModification {
    private final EnumMap<QpAttribute, Object> values;

    /// Creates a modification without attributes.
    public QpModification() {
        this(new EnumMap<>(QpAttribute.class));
    }

    private QpModification(EnumMap<QpAttribute, Object> values) {
        this.values = values;
    }

    /// Returns this modification with the state that the queue pair is to go to.
    public QpModification withState(QpState state) {
        return with(QpAttribute.STATE, state);
    }

    /// Returns this modification with the state that the queue pair is expected to be in. In another state the
    /// modification throws [InvalidStateException].
    public QpModification withCurrentState(QpState state) {
        return with(QpAttribute.CUR_STATE, state);
    }

    /// Returns this modification with a choice: whether a drained send queue raises [AsyncEvent.Type#SQ_DRAINED] in
    /// SQD.
    public QpModification withSqdNotify(boolean notify) {
        return with(QpAttribute.EN_SQD_ASYNC_NOTIFY, notify);
    }

    /// Returns this modification with the rights of the peer: what its requests may do where a region allows it
    /// too.
    public QpModification withAccess(Set<Access> access) {
        return with(QpAttribute.ACCESS_FLAGS, Set.copyOf(access));
    }

    /// Returns this modification with the index of the P_Key of the queue pair's packets.
    public QpModification withPkeyIndex(int index) {
        return with(QpAttribute.PKEY_INDEX, index);
    }

    /// Returns this modification with the port of this device that the queue pair uses, counted from 1.
    public QpModification withPort(int port) {
        return with(QpAttribute.PORT, port);
    }

    /// Returns this modification with the Q_Key that arriving datagrams must have, 32 bits (UD).
    public QpModification withQkey(int qkey) {
        return with(QpAttribute.QKEY, qkey);
    }

    /// Returns this modification with the path to the peer, for a connection.
    public QpModification withPath(AddressVector path) {
        return with(QpAttribute.AV, path);
    }

    /// Returns this modification with the path MTU: the longest packet on the path, the same at both ends.
    public QpModification withPathMtu(Mtu mtu) {
        return with(QpAttribute.PATH_MTU, mtu);
    }

    /// Returns this modification with the time that a request waits for its answer before it is sent again.
    public QpModification withAckTimeout(AckTimeout timeout) {
        return with(QpAttribute.TIMEOUT, timeout);
    }

    /// Returns this modification with the number of attempts after the first without an answer, 0 to 7.
    public QpModification withRetryCount(int count) {
        return with(QpAttribute.RETRY_CNT, count);
    }

    /// Returns this modification with the number of attempts after an RNR NAK, 0 to 6; 7 is without limit.
    public QpModification withRnrRetry(int count) {
        return with(QpAttribute.RNR_RETRY, count);
    }

    /// Returns this modification with the first PSN that the peer will send, 24 bits.
    public QpModification withRqPsn(int psn) {
        return with(QpAttribute.RQ_PSN, psn);
    }

    /// Returns this modification with the first PSN that this side will send, 24 bits.
    public QpModification withSqPsn(int psn) {
        return with(QpAttribute.SQ_PSN, psn);
    }

    /// Returns this modification with the number of READs and atomics that this side may have outstanding.
    public QpModification withMaxReadAtomic(int count) {
        return with(QpAttribute.MAX_QP_RD_ATOMIC, count);
    }

    /// Returns this modification with the number of READs and atomics that the peer may have outstanding.
    public QpModification withMaxDestinationReadAtomic(int count) {
        return with(QpAttribute.MAX_DEST_RD_ATOMIC, count);
    }

    /// Returns this modification with the time that the peer is asked to wait when no receive is posted.
    public QpModification withMinRnrTimer(RnrTimer timer) {
        return with(QpAttribute.MIN_RNR_TIMER, timer);
    }

    /// Returns this modification with the number of the peer's queue pair, 24 bits.
    public QpModification withDestinationQpn(int qpn) {
        return with(QpAttribute.DEST_QPN, qpn);
    }

    /// Returns this modification with an alternate path to load; [#withPathMigration] arms it. Needs
    /// [Capability#PATH_MIGRATION].
    public QpModification withAlternatePath(AlternatePath path) {
        return with(QpAttribute.ALT_PATH, path);
    }

    /// Returns this modification with the state of migration. [PathMigration#REARM] arms the alternate path as soon
    /// as the peer has one too. [PathMigration#MIGRATED] migrates to an armed path at once.
    public QpModification withPathMigration(PathMigration state) {
        return with(QpAttribute.PATH_MIG_STATE, state);
    }

    /// Returns the attributes that have been set.
    public Set<QpAttribute> mask() {
        var mask = EnumSet.noneOf(QpAttribute.class);
        mask.addAll(values.keySet());
        return mask;
    }

    /// Returns whether an attribute has been set.
    public boolean has(QpAttribute attribute) {
        return values.containsKey(attribute);
    }

    /// Returns the value of an attribute, or `otherwise` when it has not been set.
    ///
    /// @param otherwise of the type that the attribute's `with` method takes
    /// @throws IllegalArgumentException when `otherwise` has another type, whatever has been set
    @SuppressWarnings("unchecked") // the `with` methods take what the attribute says
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

    private QpModification with(QpAttribute attribute, Object value) {
        var all = new EnumMap<>(values);
        all.put(attribute, Objects.requireNonNull(value, attribute.name()));
        return new QpModification(all);
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
