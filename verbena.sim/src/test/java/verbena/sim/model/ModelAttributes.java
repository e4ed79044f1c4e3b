package verbena.sim.model;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;

/// The attributes of a queue pair (`struct ibv_qp_attr`): what has been set, and the defaults of what has not.
final class ModelAttributes {
    private static final Set<Access> REMOTE = EnumSet.of(
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);

    /// Before one is set.
    static final AddressVector NO_WAY = AddressVector.to(new Gid(0, 0), 0);

    private final Map<QpAttribute, Object> values = new EnumMap<>(QpAttribute.class);

    void change(QpModification change) {
        for (QpAttribute attribute : change.mask()) {
            values.put(attribute, value(change, attribute));
        }
    }

    private static Object value(QpModification change, QpAttribute attribute) {
        return switch (attribute) {
            case STATE, CUR_STATE -> change.get(attribute, QpState.RESET);
            case EN_SQD_ASYNC_NOTIFY -> change.get(attribute, false);
            case ACCESS_FLAGS -> change.get(attribute, Set.<Access>of());
            case AV -> change.get(attribute, NO_WAY);
            case PATH_MTU -> change.get(attribute, Mtu.MTU_256);
            case TIMEOUT -> change.get(attribute, AckTimeout.NEVER);
            case MIN_RNR_TIMER -> change.get(attribute, new RnrTimer(0));
            case ALT_PATH -> change.get(attribute, new AlternatePath(NO_WAY, 0, AckTimeout.NEVER));
            case PATH_MIG_STATE -> change.get(attribute, PathMigration.MIGRATED);
            case CAP -> throw new AssertionError("no setter sets it");
            case PKEY_INDEX,
                    PORT,
                    QKEY,
                    RETRY_CNT,
                    RNR_RETRY,
                    RQ_PSN,
                    MAX_QP_RD_ATOMIC,
                    SQ_PSN,
                    MAX_DEST_RD_ATOMIC,
                    DEST_QPN -> change.get(attribute, 0);
        };
    }

    void forgetAll() {
        values.clear();
    }

    private <T> T get(QpAttribute name, Class<T> type, T otherwise) {
        Object value = values.get(name);
        return value == null ? otherwise : type.cast(value);
    }

    int number(QpAttribute name) {
        return get(name, Integer.class, 0);
    }

    /// The remote rights among those that were set.
    Set<Access> access() {
        var access = EnumSet.noneOf(Access.class);
        for (Object right : get(QpAttribute.ACCESS_FLAGS, Set.class, Set.of())) {
            access.add((Access) right);
        }
        access.retainAll(REMOTE);
        return access;
    }

    Mtu mtu(Mtu otherwise) {
        return get(QpAttribute.PATH_MTU, Mtu.class, otherwise);
    }

    AckTimeout ackTimeout() {
        return get(QpAttribute.TIMEOUT, AckTimeout.class, AckTimeout.NEVER);
    }

    RnrTimer rnrTimer() {
        return get(QpAttribute.MIN_RNR_TIMER, RnrTimer.class, new RnrTimer(0));
    }

    AddressVector way() {
        return get(QpAttribute.AV, AddressVector.class, NO_WAY);
    }

    /// ibv_query_qp(3).
    ///
    /// @param otherwise the MTU when none was set
    QueuePairAttributes query(QpState state, Mtu otherwise, boolean isDraining, QueuePairOptions asMade) {
        return new QueuePairAttributes(
                state,
                isDraining,
                1,
                0,
                number(QpAttribute.QKEY),
                access(),
                new QueuePairAttributes.Peer(
                        number(QpAttribute.DEST_QPN),
                        Optional.ofNullable((AddressVector) values.get(QpAttribute.AV)),
                        mtu(otherwise),
                        Optional.empty(), // the devices that it models have no alternate path
                        PathMigration.MIGRATED),
                new QueuePairAttributes.Sending(
                        number(QpAttribute.SQ_PSN),
                        number(QpAttribute.MAX_QP_RD_ATOMIC),
                        ackTimeout(),
                        number(QpAttribute.RETRY_CNT),
                        number(QpAttribute.RNR_RETRY)),
                new QueuePairAttributes.Receiving(
                        number(QpAttribute.RQ_PSN), number(QpAttribute.MAX_DEST_RD_ATOMIC), rnrTimer()),
                asMade);
    }
}
