package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.Field;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SlToVl;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;
import verbena.wire.mad.VlArbitration;

/// A writer that puts a manager's decisions into the nodes (IBTA 14.4.4), phase by phase: addresses and keys,
/// forwarding tables, then all ports armed, then all active. A port is armed only when all tables are written.
final class Configuration {
    /// The phases, in order. Each phase waits for the answers of the phase before.
    enum Phase {
        ADDRESSES,
        TABLES,
        ARM,
        ACTIVATE
    }

    /// Fields of which 0 means "as it is".
    private static final List<Field> UNCHANGED = List.of(
            PortInfo.PORT_STATE,
            PortInfo.PHYSICAL_STATE,
            PortInfo.LINK_DOWN_DEFAULT_STATE,
            PortInfo.LINK_WIDTH_ENABLED,
            PortInfo.LINK_SPEED_ENABLED,
            PortInfo.LINK_SPEED_EXT_ENABLED);

    private static final int SUBNET_TIMEOUT = 18;
    private static final int DEFAULT_PKEY = 0x7FFF;
    private static final int SERVICE_LEVELS = 16;
    private static final int WEIGHT = 64;

    private final SubnetRequests requests;
    private final ManagerOptions options;
    /// The bytes that were written last, by switch, kind and block.
    private final Map<List<Object>, byte[]> written = new HashMap<>();

    Configuration(SubnetRequests requests, ManagerOptions options) {
        this.requests = requests;
        this.options = options;
    }

    /// Forgets all that was written: another manager has been at work, or a node is new.
    void forget() {
        written.clear();
    }

    void forget(SubnetNode node) {
        written.keySet().removeIf(key -> key.getFirst().equals(node.guid()));
    }

    /// Asks for all that a phase has to change.
    void begin(Phase phase, Subnet subnet) {
        for (SubnetNode node : subnet.nodes().values()) {
            switch (phase) {
                case ADDRESSES -> {
                    for (SubnetPort port : node.ports().values()) {
                        if (port.isEndPort() || port.peer() != null) {
                            address(port, subnet);
                        }
                    }
                }
                case TABLES -> {
                    if (node.isSwitch()) {
                        tables(node, subnet);
                    }
                }
                case ARM -> raise(node, PortInfo.ARMED);
                case ACTIVATE -> raise(node, PortInfo.ACTIVE);
            }
        }
    }

    private void address(SubnetPort port, Subnet subnet) {
        MemorySegment info = port.info();
        boolean fresh = port.number() > 0 && port.get(PortInfo.PORT_STATE) == PortInfo.INIT;
        UNCHANGED.stream().skip(1).forEach(field -> field.put(info, 0));
        PortInfo.M_KEY.put(info, options.mkey());
        PortInfo.M_KEY_PROTECT_BITS.put(info, options.mkey() == 0 ? 0 : 1);
        PortInfo.SUBNET_TIMEOUT.put(info, SUBNET_TIMEOUT);
        if (port.isEndPort()) {
            PortInfo.CLIENT_REREGISTER.put(
                    info, PortInfo.MASTER_SM_LID.getInt(info) != subnet.own().lid());
            PortInfo.LID.put(info, port.lid());
            PortInfo.LMC.put(info, port.node().isSwitch() ? 0 : options.lmc());
            PortInfo.MASTER_SM_LID.put(info, subnet.own().lid());
            PortInfo.MASTER_SM_SL.put(info, 0);
        }
        SubnetPort peer = port.peer();
        if (peer != null) {
            least(port, peer, PortInfo.MTU_CAP, PortInfo.NEIGHBOR_MTU);
            least(port, peer, PortInfo.VL_CAP, PortInfo.OPERATIONAL_VLS);
            if (port.node().isSwitch() && !peer.node().isSwitch()) {
                PortInfo.PARTITION_ENFORCEMENT_INBOUND.put(info, true);
                PortInfo.PARTITION_ENFORCEMENT_OUTBOUND.put(info, true);
            }
        }
        set(port, PortInfo.ATTRIBUTE, port.number(), data -> {
            data.copyFrom(info);
            PortInfo.PORT_STATE.put(data, 0);
        });
        PortInfo.CLIENT_REREGISTER.put(info, 0);
        keys(port, subnet);
        if (fresh) {
            lanes(port);
        }
    }

    private static void least(SubnetPort port, SubnetPort peer, Field cap, Field used) {
        used.put(port.info(), Math.min(port.get(cap), peer.get(cap)));
    }

    /// Writes the P_Keys of a port. A port of an adapter has the keys of its partitions; the switch's port at its
    /// other end has the same.
    private void keys(SubnetPort port, Subnet subnet) {
        SubnetPort owner = port.number() > 0 && port.node().isSwitch() ? port.peer() : port;
        if (owner == null || (owner.node().isSwitch() && owner.number() > 0)) {
            return;
        }
        int[] keys = pkeys(owner, subnet);
        int modifier = PkeyTable.modifier(port.node().isSwitch() ? port.number() : 0, 0);
        set(port, PkeyTable.ATTRIBUTE, modifier, data -> {
            for (int i = 0; i < keys.length; i++) {
                PkeyTable.put(data, i, keys[i]);
            }
        });
    }

    /// Returns the P_Keys of a port, in the order of the partitions. Every port has the default P_Key, because the
    /// subnet administration uses it. The port is a limited member of the default partition unless the owner has
    /// made it a full one.
    int[] pkeys(SubnetPort port, Subnet subnet) {
        int[] keys = new int[options.partitions().size() + 1];
        int count = 0;
        boolean hasDefault = false;
        for (Partition partition : options.partitions()) {
            int key = partition.pkeyOf(port.guid());
            if (partition.pkey() == DEFAULT_PKEY) {
                key = port == subnet.own() ? DEFAULT_PKEY | PkeyTable.FULL_MEMBER : key == 0 ? DEFAULT_PKEY : key;
                hasDefault = true;
            }
            if (key != 0) {
                keys[count++] = key;
            }
        }
        if (!hasDefault) {
            keys[count++] = port == subnet.own() ? DEFAULT_PKEY | PkeyTable.FULL_MEMBER : DEFAULT_PKEY;
        }
        return Arrays.copyOf(keys, Math.min(count, PkeyTable.ENTRIES));
    }

    /// Spreads the service levels over the lanes in use, and gives all lanes the same share.
    private void lanes(SubnetPort port) {
        int lanes = lanesOf(port.get(PortInfo.OPERATIONAL_VLS));
        if (port.node().isSwitch()) {
            for (SubnetPort other : port.node().ports().values()) {
                if (other != port && other.peer() != null) {
                    map(port, SlToVl.modifier(other.number(), port.number()), lanes);
                    map(
                            port,
                            SlToVl.modifier(port.number(), other.number()),
                            lanesOf(other.get(PortInfo.OPERATIONAL_VLS)));
                }
            }
            map(port, SlToVl.modifier(0, port.number()), lanes);
        } else {
            map(port, 0, lanes);
        }
        set(port, VlArbitration.ATTRIBUTE, VlArbitration.modifier(VlArbitration.LOW, port.number()), data -> {
            for (int lane = 0; lane < lanes; lane++) {
                VlArbitration.put(data, lane, lane, WEIGHT);
            }
        });
    }

    private void map(SubnetPort port, int modifier, int lanes) {
        set(port, SlToVl.ATTRIBUTE, modifier, data -> {
            for (int level = 0; level < SERVICE_LEVELS; level++) {
                SlToVl.put(data, level, level % lanes);
            }
        });
    }

    private static int lanesOf(int code) {
        return code >= 5 ? 15 : 1 << Math.max(0, code - 1);
    }

    private void tables(SubnetNode node, Subnet subnet) {
        byte[] table = subnet.table(node);
        for (int block = 0; block < table.length / LinearForwarding.ENTRIES; block++) {
            byte[] entries =
                    Arrays.copyOfRange(table, block * LinearForwarding.ENTRIES, (block + 1) * LinearForwarding.ENTRIES);
            write(node, LinearForwarding.ATTRIBUTE, block, entries);
        }
        requests.ask(
                node.path(),
                Mad.METHOD_SET,
                SwitchInfo.ATTRIBUTE,
                0,
                data -> {
                    SwitchInfo.LINEAR_FDB_TOP.put(data, subnet.topLid());
                    SwitchInfo.LIFE_TIME_VALUE.put(data, SUBNET_TIMEOUT);
                    SwitchInfo.PORT_STATE_CHANGE.put(data, true);
                },
                _ -> {});
    }

    /// Writes a block of a table unless the same was written last.
    void write(SubnetNode node, int attribute, int modifier, byte[] entries) {
        List<Object> key = List.of(node.guid(), attribute, modifier);
        byte[] last = written.get(key);
        if (last != null
                ? Arrays.equals(last, entries)
                : attribute == MulticastForwarding.ATTRIBUTE && isZero(entries)) {
            return;
        }
        requests.ask(
                node.path(),
                Mad.METHOD_SET,
                attribute,
                modifier,
                data -> data.copyFrom(MemorySegment.ofArray(entries)),
                mad -> {
                    if (mad != null) {
                        written.put(key, entries);
                    } else {
                        written.remove(key);
                    }
                });
    }

    private static boolean isZero(byte[] bytes) {
        return Arrays.equals(bytes, new byte[bytes.length]);
    }

    private void raise(SubnetNode node, int state) {
        for (SubnetPort port : node.ports().values()) {
            int now = port.get(PortInfo.PORT_STATE);
            if (port.number() > 0 && port.peer() != null && now >= PortInfo.INIT && now < state) {
                requests.ask(
                        port.path(),
                        Mad.METHOD_SET,
                        PortInfo.ATTRIBUTE,
                        port.number(),
                        data -> {
                            data.copyFrom(port.info());
                            PortInfo.PORT_STATE.put(data, state);
                        },
                        mad -> {
                            if (mad != null) {
                                PortInfo.PORT_STATE.put(port.info(), PortInfo.PORT_STATE.get(Smp.data(mad)));
                            }
                        });
            }
        }
    }

    private void set(SubnetPort port, int attribute, int modifier, Consumer<MemorySegment> data) {
        requests.ask(port.path(), Mad.METHOD_SET, attribute, modifier, data, _ -> {});
    }
}
