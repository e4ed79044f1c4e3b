package verbena.subnet.node;

import static verbena.wire.mad.Mad.STATUS_BAD_ATTRIBUTE;
import static verbena.wire.mad.Mad.STATUS_BAD_VALUE;

import java.lang.foreign.MemorySegment;
import verbena.wire.mad.GuidInfo;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SlToVl;
import verbena.wire.mad.SwitchInfo;
import verbena.wire.mad.VlArbitration;

/// The subnet management agent: the attributes that a Get reads and a Set changes (IBTA 14.2.5). Each method reads
/// or writes the attribute in place, and returns the status of the answer.
final class SubnetAgent {
    private static final int OK = 0;

    private final NodeParts node;
    private final PortInfoAgent portInfo;

    SubnetAgent(NodeParts node, PortInfoAgent portInfo) {
        this.node = node;
        this.portInfo = portInfo;
    }

    int get(int attribute, int modifier, MemorySegment data, int portIn) {
        data.fill((byte) 0);
        return access(false, attribute, modifier, data, portIn);
    }

    int set(int attribute, int modifier, MemorySegment data, int portIn) {
        return access(true, attribute, modifier, data, portIn);
    }

    private int access(boolean set, int attribute, int modifier, MemorySegment data, int portIn) {
        return switch (attribute) {
            case NodeDescription.ATTRIBUTE -> set ? STATUS_BAD_ATTRIBUTE : description(data);
            case NodeInfo.ATTRIBUTE -> set ? STATUS_BAD_ATTRIBUTE : nodeInfo(data, portIn);
            case SwitchInfo.ATTRIBUTE -> node.isSwitch() ? switchInfo(set, data) : STATUS_BAD_ATTRIBUTE;
            case GuidInfo.ATTRIBUTE -> guidInfo(set, modifier, data, portIn);
            case PortInfo.ATTRIBUTE -> portInfo(set, modifier, data, portIn);
            case PkeyTable.ATTRIBUTE -> pkeys(set, modifier, data, portIn);
            case SlToVl.ATTRIBUTE -> lanes(set, modifier, data, portIn);
            case VlArbitration.ATTRIBUTE -> arbitration(set, modifier, data, portIn);
            case LinearForwarding.ATTRIBUTE -> node.isSwitch() ? linear(set, modifier, data) : STATUS_BAD_ATTRIBUTE;
            case MulticastForwarding.ATTRIBUTE ->
                node.isSwitch() ? multicast(set, modifier, data) : STATUS_BAD_ATTRIBUTE;
            default -> STATUS_BAD_ATTRIBUTE;
        };
    }

    private int description(MemorySegment data) {
        NodeDescription.put(data, node.spec().description());
        return OK;
    }

    private int nodeInfo(MemorySegment data, int portIn) {
        NodeSpec spec = node.spec();
        NodeInfo.BASE_VERSION.put(data, 1);
        NodeInfo.CLASS_VERSION.put(data, 1);
        NodeInfo.NODE_TYPE.put(data, spec.type());
        NodeInfo.NUM_PORTS.put(data, spec.ports());
        NodeInfo.SYSTEM_IMAGE_GUID.put(data, spec.guid());
        NodeInfo.NODE_GUID.put(data, spec.guid());
        NodeInfo.PORT_GUID.put(data, node.endPort(portIn).guid());
        NodeInfo.PARTITION_CAP.put(data, NodePort.PKEYS);
        NodeInfo.LOCAL_PORT_NUM.put(data, portIn);
        return OK;
    }

    private int switchInfo(boolean set, MemorySegment data) {
        MemorySegment own = node.tables().info;
        if (set) {
            int top = SwitchInfo.LINEAR_FDB_TOP.getInt(data);
            if (top >= SwitchTables.LINEAR_CAP) {
                return STATUS_BAD_VALUE;
            }
            SwitchInfo.LINEAR_FDB_TOP.put(own, top);
            SwitchInfo.DEFAULT_PORT.put(own, SwitchInfo.DEFAULT_PORT.get(data));
            SwitchInfo.DEFAULT_MULTICAST_PRIMARY_PORT.put(own, SwitchInfo.DEFAULT_MULTICAST_PRIMARY_PORT.get(data));
            SwitchInfo.DEFAULT_MULTICAST_NOT_PRIMARY_PORT.put(
                    own, SwitchInfo.DEFAULT_MULTICAST_NOT_PRIMARY_PORT.get(data));
            SwitchInfo.LIFE_TIME_VALUE.put(own, SwitchInfo.LIFE_TIME_VALUE.get(data));
            SwitchInfo.MULTICAST_FDB_TOP.put(own, SwitchInfo.MULTICAST_FDB_TOP.get(data));
            if (SwitchInfo.PORT_STATE_CHANGE.getBoolean(data)) {
                SwitchInfo.PORT_STATE_CHANGE.put(own, false);
            }
            node.tables().refresh();
        }
        data.fill((byte) 0).copyFrom(own);
        return OK;
    }

    private int guidInfo(boolean set, int modifier, MemorySegment data, int portIn) {
        NodePort port = node.endPort(portIn);
        if (modifier != 0) {
            return STATUS_BAD_VALUE;
        }
        for (int i = 0; i < NodePort.GUIDS; i++) {
            if (set && i > 0) { // The first is the port's own.
                port.guids[i] = GuidInfo.get(data, i);
            }
            GuidInfo.put(data, i, port.guids[i]);
        }
        return OK;
    }

    private int portInfo(boolean set, int modifier, MemorySegment data, int portIn) {
        // Bit 31 says that the manager knows of extended speeds, which changes nothing.
        int number = modifier & 0x7FFF_FFFF;
        if (number == 0 && !node.isSwitch()) {
            number = portIn;
        }
        NodePort port = node.portOrNull(number);
        if (port == null) {
            return STATUS_BAD_VALUE;
        }
        int status = set ? portInfo.set(port, data) : OK;
        data.copyFrom(port.info);
        PortInfo.LOCAL_PORT_NUM.put(data, portIn);
        return status;
    }

    private int pkeys(boolean set, int modifier, MemorySegment data, int portIn) {
        int block = modifier & 0xFFFF;
        NodePort port = node.isSwitch() ? node.portOrNull(modifier >>> 16) : node.endPort(portIn);
        if (port == null || block >= NodePort.PKEYS / PkeyTable.ENTRIES) {
            return STATUS_BAD_VALUE;
        }
        for (int i = 0; i < PkeyTable.ENTRIES; i++) {
            int index = block * PkeyTable.ENTRIES + i;
            if (set) {
                port.pkeys[index] = (short) PkeyTable.get(data, i);
            }
            PkeyTable.put(data, i, port.pkey(index));
        }
        port.refreshPkeys();
        return OK;
    }

    private int lanes(boolean set, int modifier, MemorySegment data, int portIn) {
        int in = node.isSwitch() ? modifier >>> 8 & 0xFF : 0;
        NodePort port = node.isSwitch() ? node.portOrNull(modifier & 0xFF) : node.endPort(portIn);
        if (port == null || in > node.ports()) {
            return STATUS_BAD_VALUE;
        }
        for (int level = 0; level < NodePort.SERVICE_LEVELS; level++) {
            int index = in * NodePort.SERVICE_LEVELS + level;
            if (set) {
                port.lanes[index] = (byte) SlToVl.get(data, level);
            }
            SlToVl.put(data, level, port.lanes[index]);
        }
        return OK;
    }

    private int arbitration(boolean set, int modifier, MemorySegment data, int portIn) {
        int block = modifier >>> 16;
        NodePort port = node.isSwitch() ? node.portOrNull(modifier & 0xFFFF) : node.endPort(portIn);
        if (port == null || block < VlArbitration.LOW || block > VlArbitration.HIGH + 1) {
            return STATUS_BAD_VALUE;
        }
        MemorySegment own = MemorySegment.ofArray(port.arbitration[block - 1]);
        if (set) {
            for (int i = 0; i < VlArbitration.ENTRIES; i++) {
                if (VlArbitration.lane(data, i) == 15) { // the lane of management is not arbitrated
                    return STATUS_BAD_VALUE;
                }
            }
            for (int i = 0; i < VlArbitration.ENTRIES; i++) {
                VlArbitration.put(own, i, VlArbitration.lane(data, i), VlArbitration.weight(data, i));
            }
            port.onArbitrationChange();
        }
        data.copyFrom(own);
        return OK;
    }

    private int linear(boolean set, int modifier, MemorySegment data) {
        byte[] linear = node.tables().linear;
        if (modifier < 0 || modifier >= SwitchTables.LINEAR_CAP / LinearForwarding.ENTRIES) {
            return STATUS_BAD_VALUE;
        }
        MemorySegment block = MemorySegment.ofArray(linear)
                .asSlice((long) modifier * LinearForwarding.ENTRIES, LinearForwarding.ENTRIES);
        if (set) {
            block.copyFrom(data);
        }
        data.copyFrom(block);
        return OK;
    }

    private int multicast(boolean set, int modifier, MemorySegment data) {
        SwitchTables tables = node.tables();
        int position = modifier >>> 28;
        int block = modifier & 0x0FFF_FFFF;
        if (position >= tables.positions || block >= SwitchTables.MULTICAST_CAP / MulticastForwarding.ENTRIES) {
            return STATUS_BAD_VALUE;
        }
        for (int i = 0; i < MulticastForwarding.ENTRIES; i++) {
            int index = (block * MulticastForwarding.ENTRIES + i) * tables.positions + position;
            if (set) {
                tables.multicast[index] = (short) MulticastForwarding.get(data, i);
            }
            MulticastForwarding.put(data, i, tables.multicast[index]);
        }
        return OK;
    }
}
