package verbena.verbs.spi;

import static verbena.verbs.QpAttribute.*;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Capability;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;

/// The attributes that each transition of a queue pair requires and takes (IBTA 11.2.5.2, ibv_modify_qp(3)). A
/// provider calls it for [verbena.verbs.QueuePair#modify(QpModification)]. It has no state, and any thread may use it.
///
/// @since 0.1
@Preview
public final class QpStateTable {
    private QpStateTable() {}

    private static final Set<QpAttribute> OF_REQUESTER = Set.of(RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC);
    private static final Set<QpAttribute> OF_RESPONDER = Set.of(MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER);

    private record Step(EnumSet<QpAttribute> required, EnumSet<QpAttribute> optional) {}

    /// Checks a modification against the table.
    ///
    /// @return the state after it
    /// @throws InvalidStateException when there is no such step
    /// @throws InvalidAttributesException when an attribute is missing or not allowed
    public static QpState check(QpType type, QpState from, QpModification modification) {
        QpState to = target(from, modification);
        return check(
                "type " + type, "; the way is RESET, INIT, RTR, RTS", from, to, step(type, from, to), modification);
    }

    /// Checks a modification of a queue pair over iWARP. Only its stream connects it. So a program takes it to
    /// INIT, RESET and ERR only, and the peer's rights are the one attribute with an effect.
    ///
    /// @param device name of the device
    /// @return the state after it
    /// @throws InvalidStateException when there is no such step
    /// @throws InvalidAttributesException when an attribute is not allowed
    /// @throws UnsupportedException when it is to be drained
    public static QpState checkIwarp(String device, QpState from, QpModification modification) {
        QpState to = target(from, modification);
        if (to == QpState.SQD) {
            throw new UnsupportedException("modify to SQD", Capability.SQ_DRAIN, device);
        }
        Set<QpAttribute> taken = EnumSet.of(CUR_STATE, ACCESS_FLAGS, PKEY_INDEX, PORT);
        Step step = to == QpState.RESET || to == QpState.ERR
                ? step(Set.of(), Set.of(CUR_STATE))
                : from == to || (from == QpState.RESET && to == QpState.INIT) ? step(Set.of(), taken) : null;
        String way = "; it is taken to RTS by connecting it (verbena.verbs.cm)";
        return check(
                "iWARP", way, from, to, from == QpState.ERR && !modification.has(STATE) ? null : step, modification);
    }

    private static QpState target(QpState from, QpModification modification) {
        QpState claimed = modification.get(CUR_STATE, from);
        if (claimed != from) {
            throw new InvalidStateException("modify: the queue pair is in " + from + ", not in " + claimed);
        }
        return modification.get(STATE, from);
    }

    private static QpState check(
            String what, String way, QpState from, QpState to, @Nullable Step step, QpModification modification) {
        if (step == null) {
            throw new InvalidStateException(
                    "modify: a queue pair of " + what + " cannot go from " + from + " to " + to + way);
        }
        Set<QpAttribute> mask = modification.mask();
        var missing = EnumSet.copyOf(step.required);
        missing.removeAll(mask);
        var forbidden = EnumSet.noneOf(QpAttribute.class);
        forbidden.addAll(mask);
        forbidden.removeAll(step.required);
        forbidden.removeAll(step.optional);
        forbidden.remove(STATE);
        if (!missing.isEmpty() || !forbidden.isEmpty()) {
            throw new InvalidAttributesException(
                    "modify: " + from + " to " + to + " of " + what
                            + (missing.isEmpty() ? "" : " requires " + missing)
                            + (forbidden.isEmpty() ? "" : " does not take " + forbidden),
                    missing,
                    forbidden);
        }
        return to;
    }

    private static @Nullable Step step(QpType type, QpState from, QpState to) {
        boolean rc = type == QpType.RC;
        if (type.isXrc()) {
            Step both = step(QpType.RC, from, to);
            return both == null ? null : without(type == QpType.XRC_TARGET ? OF_REQUESTER : OF_RESPONDER, both);
        }
        if (type == QpType.RAW_PACKET) {
            return rawStep(from, to);
        }
        boolean ud = type == QpType.UD;
        if (to == QpState.RESET || to == QpState.ERR) {
            return step(Set.of(), Set.of(CUR_STATE));
        }
        return switch (from) {
            case RESET ->
                to == QpState.INIT ? step(Set.of(PKEY_INDEX, PORT, ud ? QKEY : ACCESS_FLAGS), Set.of()) : null;
            case INIT ->
                switch (to) {
                    case INIT -> step(Set.of(), Set.of(PKEY_INDEX, PORT, ud ? QKEY : ACCESS_FLAGS));
                    case RTR ->
                        ud
                                ? step(Set.of(), Set.of(PKEY_INDEX, QKEY))
                                : rc
                                        ? step(
                                                Set.of(
                                                        AV,
                                                        PATH_MTU,
                                                        DEST_QPN,
                                                        RQ_PSN,
                                                        MAX_DEST_RD_ATOMIC,
                                                        MIN_RNR_TIMER),
                                                Set.of(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX))
                                        : step(
                                                Set.of(AV, PATH_MTU, DEST_QPN, RQ_PSN),
                                                Set.of(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX));
                    default -> null;
                };
            case RTR ->
                to != QpState.RTS
                        ? null
                        : ud
                                ? step(Set.of(SQ_PSN), Set.of(CUR_STATE, QKEY))
                                : rc
                                        ? step(
                                                Set.of(SQ_PSN, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC),
                                                Set.of(
                                                        CUR_STATE,
                                                        ALT_PATH,
                                                        ACCESS_FLAGS,
                                                        MIN_RNR_TIMER,
                                                        PATH_MIG_STATE))
                                        : step(
                                                Set.of(SQ_PSN),
                                                Set.of(CUR_STATE, ALT_PATH, ACCESS_FLAGS, PATH_MIG_STATE));
            case RTS ->
                switch (to) {
                    case RTS -> running(rc, ud);
                    case SQD -> step(Set.of(), Set.of(EN_SQD_ASYNC_NOTIFY));
                    default -> null;
                };
            case SQD ->
                switch (to) {
                    case RTS -> running(rc, ud);
                    case SQD ->
                        ud
                                ? step(Set.of(), Set.of(PKEY_INDEX, QKEY))
                                : rc
                                        ? step(
                                                Set.of(),
                                                Set.of(
                                                        AV,
                                                        ALT_PATH,
                                                        ACCESS_FLAGS,
                                                        PKEY_INDEX,
                                                        PATH_MIG_STATE,
                                                        PORT,
                                                        TIMEOUT,
                                                        RETRY_CNT,
                                                        RNR_RETRY,
                                                        MAX_QP_RD_ATOMIC,
                                                        MAX_DEST_RD_ATOMIC,
                                                        MIN_RNR_TIMER))
                                        : step(
                                                Set.of(),
                                                Set.of(AV, ALT_PATH, ACCESS_FLAGS, PKEY_INDEX, PATH_MIG_STATE));
                    default -> null;
                };
            case SQE -> to == QpState.RTS && !rc ? step(Set.of(), Set.of(CUR_STATE, ud ? QKEY : ACCESS_FLAGS)) : null;
            case ERR -> null;
        };
    }

    /// Returns a step for a queue pair of frames, which has no peer and no protocol: it only needs its port.
    private static @Nullable Step rawStep(QpState from, QpState to) {
        boolean isStep = switch (from) {
            case RESET, SQE, ERR -> false;
            case INIT -> to == QpState.INIT || to == QpState.RTR;
            case RTR -> to == QpState.RTS;
            case RTS, SQD -> to == QpState.RTS || to == QpState.SQD;
        };
        if (from == QpState.RESET && to == QpState.INIT) {
            return step(Set.of(PORT), Set.of());
        }
        if (to == QpState.SQD && isStep) {
            return step(Set.of(), Set.of(EN_SQD_ASYNC_NOTIFY));
        }
        boolean isAlways = to == QpState.RESET || to == QpState.ERR || (from == QpState.SQE && to == QpState.RTS);
        return isStep || isAlways ? step(Set.of(), from == QpState.INIT ? Set.of(PORT) : Set.of(CUR_STATE)) : null;
    }

    /// Returns a step for an end of XRC, which is half of a reliable connection and lacks what the other half is
    /// set to (IBTA A14).
    private static Step without(Set<QpAttribute> lacking, Step of) {
        var required = EnumSet.copyOf(of.required);
        required.removeAll(lacking);
        var optional = EnumSet.copyOf(of.optional);
        optional.removeAll(lacking);
        return new Step(required, optional);
    }

    private static Step running(boolean rc, boolean ud) {
        return ud
                ? step(Set.of(), Set.of(CUR_STATE, QKEY))
                : rc
                        ? step(Set.of(), Set.of(CUR_STATE, ACCESS_FLAGS, ALT_PATH, PATH_MIG_STATE, MIN_RNR_TIMER))
                        : step(Set.of(), Set.of(CUR_STATE, ACCESS_FLAGS, ALT_PATH, PATH_MIG_STATE));
    }

    private static Step step(Set<QpAttribute> required, Set<QpAttribute> optional) {
        var r = EnumSet.noneOf(QpAttribute.class);
        r.addAll(required);
        var o = EnumSet.noneOf(QpAttribute.class);
        o.addAll(optional);
        return new Step(r, o);
    }
}
