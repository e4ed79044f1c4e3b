package verbena.sim.model;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AddressVector;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;

/// Which attributes a change of state needs and takes (IBTA 11.2.5.2, ibv_modify_qp(3)), and their ranges.
final class ModifyRules {
    /// `*`: required. Every queue pair may also go to RESET and ERR at any time, with nothing.
    private static final String TABLE = """
            RESET INIT UD  PKEY_INDEX* PORT* QKEY*
            RESET INIT UC  PKEY_INDEX* PORT* ACCESS_FLAGS*
            RESET INIT RC  PKEY_INDEX* PORT* ACCESS_FLAGS*
            INIT  INIT UD  PKEY_INDEX PORT QKEY
            INIT  INIT UC  PKEY_INDEX PORT ACCESS_FLAGS
            INIT  INIT RC  PKEY_INDEX PORT ACCESS_FLAGS
            INIT  RTR  UD  PKEY_INDEX QKEY
            INIT  RTR  UC  AV* PATH_MTU* DEST_QPN* RQ_PSN* ACCESS_FLAGS PKEY_INDEX
            INIT  RTR  RC  AV* PATH_MTU* DEST_QPN* RQ_PSN* MAX_DEST_RD_ATOMIC* MIN_RNR_TIMER* ACCESS_FLAGS PKEY_INDEX
            RTR   RTS  UD  SQ_PSN* CUR_STATE QKEY
            RTR   RTS  UC  SQ_PSN* CUR_STATE ACCESS_FLAGS
            RTR   RTS  RC  SQ_PSN* TIMEOUT* RETRY_CNT* RNR_RETRY* MAX_QP_RD_ATOMIC* CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS   RTS  UD  CUR_STATE QKEY
            RTS   RTS  UC  CUR_STATE ACCESS_FLAGS
            RTS   RTS  RC  CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS   SQD  UD  EN_SQD_ASYNC_NOTIFY
            RTS   SQD  UC  EN_SQD_ASYNC_NOTIFY
            RTS   SQD  RC  EN_SQD_ASYNC_NOTIFY
            SQD   RTS  UD  CUR_STATE QKEY
            SQD   RTS  UC  CUR_STATE ACCESS_FLAGS
            SQD   RTS  RC  CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            SQD   SQD  UD  PKEY_INDEX QKEY
            SQD   SQD  UC  AV ACCESS_FLAGS PKEY_INDEX
            SQD   SQD  RC  AV ACCESS_FLAGS PKEY_INDEX PORT TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC
            SQD   SQD  RC  MAX_DEST_RD_ATOMIC MIN_RNR_TIMER
            SQE   RTS  UD  CUR_STATE QKEY
            SQE   RTS  UC  CUR_STATE ACCESS_FLAGS
            RESET INIT XRC_INITIATOR PKEY_INDEX* PORT* ACCESS_FLAGS*
            RESET INIT XRC_TARGET    PKEY_INDEX* PORT* ACCESS_FLAGS*
            INIT  INIT XRC_INITIATOR PKEY_INDEX PORT ACCESS_FLAGS
            INIT  INIT XRC_TARGET    PKEY_INDEX PORT ACCESS_FLAGS
            INIT  RTR  XRC_INITIATOR AV* PATH_MTU* DEST_QPN* RQ_PSN* ACCESS_FLAGS PKEY_INDEX
            INIT  RTR  XRC_TARGET    AV* PATH_MTU* DEST_QPN* RQ_PSN* MAX_DEST_RD_ATOMIC* MIN_RNR_TIMER*
            INIT  RTR  XRC_TARGET    ACCESS_FLAGS PKEY_INDEX
            RTR   RTS  XRC_INITIATOR SQ_PSN* TIMEOUT* RETRY_CNT* RNR_RETRY* MAX_QP_RD_ATOMIC* CUR_STATE ACCESS_FLAGS
            RTR   RTS  XRC_TARGET    SQ_PSN* TIMEOUT* CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS   RTS  XRC_INITIATOR CUR_STATE ACCESS_FLAGS
            RTS   RTS  XRC_TARGET    CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS   SQD  XRC_INITIATOR EN_SQD_ASYNC_NOTIFY
            RTS   SQD  XRC_TARGET    EN_SQD_ASYNC_NOTIFY
            SQD   RTS  XRC_INITIATOR CUR_STATE ACCESS_FLAGS
            SQD   RTS  XRC_TARGET    CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            SQD   SQD  XRC_INITIATOR AV ACCESS_FLAGS PKEY_INDEX PORT TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC
            SQD   SQD  XRC_TARGET    AV ACCESS_FLAGS PKEY_INDEX PORT TIMEOUT MAX_DEST_RD_ATOMIC MIN_RNR_TIMER
            """;

    /// First and last value of what is a number. Ports, P_Keys and READs at once are the device's limits.
    private static final Map<QpAttribute, int[]> RANGES = new EnumMap<>(Map.of(
            QpAttribute.PORT, new int[] {1, 1},
            QpAttribute.PKEY_INDEX, new int[] {0, 0},
            QpAttribute.DEST_QPN, new int[] {0, 0xFF_FFFF},
            QpAttribute.RQ_PSN, new int[] {0, 0xFF_FFFF},
            QpAttribute.SQ_PSN, new int[] {0, 0xFF_FFFF},
            QpAttribute.RETRY_CNT, new int[] {0, 7},
            QpAttribute.RNR_RETRY, new int[] {0, 7},
            QpAttribute.MAX_QP_RD_ATOMIC, new int[] {0, 128},
            QpAttribute.MAX_DEST_RD_ATOMIC, new int[] {0, 128}));

    private record Step(QpState from, QpState to, QpType type) {}

    private record Needs(EnumSet<QpAttribute> required, EnumSet<QpAttribute> optional) {}

    private static final Map<Step, Needs> STEPS = parse();

    private ModifyRules() {}

    private static Map<Step, Needs> parse() {
        var steps = new HashMap<Step, Needs>();
        TABLE.lines().forEach(line -> {
            List<String> words = List.of(line.strip().split(" +", -1));
            var step = new Step(
                    QpState.valueOf(words.get(0)), QpState.valueOf(words.get(1)), QpType.valueOf(words.get(2)));
            Needs needs = steps.computeIfAbsent(
                    step, _ -> new Needs(EnumSet.noneOf(QpAttribute.class), EnumSet.noneOf(QpAttribute.class)));
            for (String word : words.subList(3, words.size())) {
                if (word.endsWith("*")) {
                    needs.required.add(QpAttribute.valueOf(word.substring(0, word.length() - 1)));
                } else {
                    needs.optional.add(QpAttribute.valueOf(word));
                }
            }
        });
        return steps;
    }

    private static @Nullable Needs needs(QpState from, QpState to, QpType type) {
        return to == QpState.RESET || to == QpState.ERR
                ? new Needs(EnumSet.noneOf(QpAttribute.class), EnumSet.of(QpAttribute.CUR_STATE))
                : STEPS.get(new Step(from, to, type));
    }

    static List<Refusal> mayModify(ModelQueuePair queuePair, QpModification change) {
        QpState from = queuePair.state();
        QpState to = change.get(QpAttribute.STATE, from);
        QpState claimed = change.get(QpAttribute.CUR_STATE, from);
        Needs needs = needs(from, to, queuePair.type());
        var reasons = new Reasons()
                .and(queuePair.mayBeUsed())
                .when(claimed != from, InvalidStateException.class, "not in " + claimed)
                .when(needs == null, InvalidStateException.class, from.name(), to.name());
        if (needs != null) {
            Set<QpAttribute> missing = EnumSet.copyOf(needs.required);
            missing.removeAll(change.mask());
            Set<QpAttribute> forbidden = change.mask();
            forbidden.remove(QpAttribute.STATE);
            forbidden.removeAll(needs.required);
            forbidden.removeAll(needs.optional);
            reasons.when(!missing.isEmpty(), InvalidAttributesException.class, names(missing))
                    .when(!forbidden.isEmpty(), InvalidAttributesException.class, names(forbidden));
        }
        RANGES.forEach((attribute, range) -> {
            int value = change.get(attribute, range[0]);
            reasons.when(value < range[0] || value > range[1], InvalidAttributesException.class, attribute.name());
        });
        return reasons.when(
                        change.get(QpAttribute.PATH_MTU, Mtu.MTU_256)
                                        .compareTo(queuePair.device().activeMtu())
                                > 0,
                        InvalidAttributesException.class,
                        QpAttribute.PATH_MTU.name())
                .when(
                        change.has(QpAttribute.AV)
                                && !fits(queuePair.device(), change.get(QpAttribute.AV, ModelAttributes.NO_WAY)),
                        InvalidAttributesException.class,
                        QpAttribute.AV.name())
                .list();
    }

    /// A way that begins at one of the device's addresses and stays in its family.
    static boolean fits(ModelDevice device, AddressVector way) {
        return way.port() == 1
                && way.sourceGidIndex() < device.gids().size()
                && way.destination().isIpv4()
                        == device.gids().get(way.sourceGidIndex()).isIpv4();
    }

    private static String[] names(Set<QpAttribute> attributes) {
        return attributes.stream().map(QpAttribute::name).toArray(String[]::new);
    }
}
