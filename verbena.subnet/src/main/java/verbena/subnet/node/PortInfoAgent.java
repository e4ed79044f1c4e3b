package verbena.subnet.node;

import static verbena.wire.mad.Mad.STATUS_BAD_VALUE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import verbena.wire.mad.Field;
import verbena.wire.mad.PortInfo;

/// The changes that Set(PortInfo) makes (IBTA 14.2.5.6). A value that is not valid leaves the whole port as it was.
final class PortInfoAgent {
    /// The fields that a manager writes and nothing checks.
    private static final List<Field> FREE = List.of(
            PortInfo.M_KEY,
            PortInfo.GID_PREFIX,
            PortInfo.M_KEY_LEASE_PERIOD,
            PortInfo.M_KEY_PROTECT_BITS,
            PortInfo.MASTER_SM_SL,
            PortInfo.VL_HIGH_LIMIT,
            PortInfo.CLIENT_REREGISTER,
            PortInfo.MULTICAST_PKEY_TRAP_SUPPRESSION,
            PortInfo.SUBNET_TIMEOUT,
            PortInfo.LOCAL_PHY_ERRORS,
            PortInfo.OVERRUN_ERRORS);
    /// The same, of ports with a link.
    private static final List<Field> FREE_OF_LINKS = List.of(
            PortInfo.VL_STALL_COUNT,
            PortInfo.HOQ_LIFE,
            PortInfo.PARTITION_ENFORCEMENT_INBOUND,
            PortInfo.PARTITION_ENFORCEMENT_OUTBOUND,
            PortInfo.FILTER_RAW_INBOUND,
            PortInfo.FILTER_RAW_OUTBOUND);
    /// Counters: writing 0 sets them to 0, all else does nothing.
    private static final List<Field> VIOLATIONS =
            List.of(PortInfo.M_KEY_VIOLATIONS, PortInfo.P_KEY_VIOLATIONS, PortInfo.Q_KEY_VIOLATIONS);

    /// A change of a port to a state.
    @FunctionalInterface
    interface Change {
        void accept(NodePort port, int state);
    }

    private final NodeParts node;
    private final Change changeState;
    private final Change reset;

    /// @param changeState of the port
    /// @param reset takes the link down, to this physical state
    PortInfoAgent(NodeParts node, Change changeState, Change reset) {
        this.node = node;
        this.changeState = changeState;
        this.reset = reset;
    }

    /// Returns the status of the answer.
    int set(NodePort port, MemorySegment data) {
        boolean hasLid = port.number() == 0 || !node.isSwitch();
        boolean hasLink = port.number() > 0;
        if ((hasLid && !addressesAreValid(data)) || (hasLink && !linkIsValid(port, data))) {
            return STATUS_BAD_VALUE;
        }
        for (Field field : FREE) {
            port.put(field, field.get(data));
        }
        for (Field field : VIOLATIONS) {
            if (field.get(data) == 0) {
                port.put(field, 0);
            }
        }
        if (hasLid) {
            port.put(PortInfo.LID, PortInfo.LID.get(data));
            port.put(PortInfo.LMC, PortInfo.LMC.get(data));
            port.put(PortInfo.MASTER_SM_LID, PortInfo.MASTER_SM_LID.get(data));
        }
        if (hasLink) {
            setLink(port, data);
        }
        if (PortInfo.CLIENT_REREGISTER.getBoolean(data)) {
            port.onReregister();
        }
        port.refresh();
        return 0;
    }

    private static boolean addressesAreValid(MemorySegment data) {
        int lid = PortInfo.LID.getInt(data);
        int lmc = PortInfo.LMC.getInt(data);
        int manager = PortInfo.MASTER_SM_LID.getInt(data);
        return lid < SwitchTables.LINEAR_CAP
                && lid + (1 << lmc) <= SwitchTables.LINEAR_CAP
                && (lid & ((1 << lmc) - 1)) == 0
                && manager < SwitchTables.LINEAR_CAP;
    }

    private static boolean linkIsValid(NodePort port, MemorySegment data) {
        int mtu = PortInfo.NEIGHBOR_MTU.getInt(data);
        int lanes = PortInfo.OPERATIONAL_VLS.getInt(data);
        int physical = PortInfo.PHYSICAL_STATE.getInt(data);
        return mtu >= 1
                && mtu <= port.getInt(PortInfo.MTU_CAP)
                && lanes <= port.getInt(PortInfo.VL_CAP)
                && stateIsValid(port, PortInfo.PORT_STATE.getInt(data))
                && physical <= PortInfo.PHYSICAL_DISABLED
                && PortInfo.LINK_DOWN_DEFAULT_STATE.getInt(data) <= PortInfo.PHYSICAL_POLLING
                && isEnabled(port, data, PortInfo.LINK_WIDTH_ENABLED, PortInfo.LINK_WIDTH_SUPPORTED, 0xFF)
                && isEnabled(port, data, PortInfo.LINK_SPEED_ENABLED, PortInfo.LINK_SPEED_SUPPORTED, 0xF)
                && isEnabled(port, data, PortInfo.LINK_SPEED_EXT_ENABLED, PortInfo.LINK_SPEED_EXT_SUPPORTED, 0x1F);
    }

    /// Returns whether a manager may set this state. IBTA 7.2.7: a manager arms a port whose link is there, and
    /// activates an armed port. A port may also be set to the state that it has.
    private static boolean stateIsValid(NodePort port, int wanted) {
        return switch (wanted) {
            case 0, PortInfo.DOWN -> true;
            case PortInfo.ARMED -> port.state() == PortInfo.INIT || port.state() == PortInfo.ARMED;
            case PortInfo.ACTIVE -> port.state() == PortInfo.ARMED || port.state() == PortInfo.ACTIVE;
            default -> false;
        };
    }

    private static boolean isEnabled(NodePort port, MemorySegment data, Field field, Field supported, int all) {
        int wanted = field.getInt(data);
        return wanted == 0 || wanted == all || (wanted & ~port.getInt(supported)) == 0;
    }

    private void setLink(NodePort port, MemorySegment data) {
        for (Field field : FREE_OF_LINKS) {
            port.put(field, field.get(data));
        }
        port.put(PortInfo.NEIGHBOR_MTU, PortInfo.NEIGHBOR_MTU.get(data));
        enable(port, data, PortInfo.LINK_WIDTH_ENABLED, PortInfo.LINK_WIDTH_SUPPORTED, 0xFF);
        enable(port, data, PortInfo.LINK_SPEED_ENABLED, PortInfo.LINK_SPEED_SUPPORTED, 0xF);
        enable(port, data, PortInfo.LINK_SPEED_EXT_ENABLED, PortInfo.LINK_SPEED_EXT_SUPPORTED, 0x1F);
        putUnlessZero(port, data, PortInfo.OPERATIONAL_VLS);
        putUnlessZero(port, data, PortInfo.LINK_DOWN_DEFAULT_STATE);
        int physical = PortInfo.PHYSICAL_STATE.getInt(data);
        int wanted = PortInfo.PORT_STATE.getInt(data);
        if (physical != 0) {
            reset.accept(port, physical);
        } else if (wanted == PortInfo.DOWN) {
            reset.accept(port, port.getInt(PortInfo.LINK_DOWN_DEFAULT_STATE));
        } else if (wanted != 0) {
            changeState.accept(port, wanted);
        }
    }

    private static void enable(NodePort port, MemorySegment data, Field field, Field supported, int all) {
        int wanted = field.getInt(data);
        if (wanted != 0) {
            port.put(field, wanted == all ? port.get(supported) : wanted);
        }
    }

    private static void putUnlessZero(NodePort port, MemorySegment data, Field field) {
        if (field.getBoolean(data)) {
            port.put(field, field.get(data));
        }
    }
}
