package verbena.subnet.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Consumer;
import verbena.subnet.MadRoute;
import verbena.subnet.node.MadFate;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SlToVl;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;
import verbena.wire.mad.VlArbitration;

/// Changes a node's tables as a subnet manager would: by the node's own agents.
final class Sets {
    private static final int SLID = 0xBFFE; // of a manager elsewhere

    private Sets() {}

    static void route(FabricNode at, int lid, int port) {
        change(
                at,
                LinearForwarding.ATTRIBUTE,
                lid / LinearForwarding.ENTRIES,
                data -> data.set(java.lang.foreign.ValueLayout.JAVA_BYTE, lid % LinearForwarding.ENTRIES, (byte) port));
        change(at, SwitchInfo.ATTRIBUTE, 0, data -> SwitchInfo.LINEAR_FDB_TOP.put(data, 0xBFFF));
    }

    static void group(FabricNode at, int mlid, int... ports) {
        int index = mlid - MulticastForwarding.FIRST_LID;
        int modifier = MulticastForwarding.modifier(0, index / MulticastForwarding.ENTRIES);
        change(at, MulticastForwarding.ATTRIBUTE, modifier, data -> {
            int members = 0;
            for (int port : ports) {
                members |= 1 << port;
            }
            MulticastForwarding.put(data, index % MulticastForwarding.ENTRIES, members);
        });
    }

    static void lane(FabricNode at, int in, int out, int level, int lane) {
        change(at, SlToVl.ATTRIBUTE, SlToVl.modifier(in, out), data -> SlToVl.put(data, level, lane));
    }

    static void pkeys(FabricNode at, int port, int... keys) {
        change(at, PkeyTable.ATTRIBUTE, PkeyTable.modifier(port, 0), data -> {
            for (int i = 0; i < PkeyTable.ENTRIES; i++) {
                PkeyTable.put(data, i, i < keys.length ? keys[i] : 0);
            }
        });
    }

    static void enforce(FabricNode at, int port, boolean inbound, boolean outbound) {
        change(at, PortInfo.ATTRIBUTE, port, data -> {
            leaveLink(data);
            PortInfo.PARTITION_ENFORCEMENT_INBOUND.put(data, inbound);
            PortInfo.PARTITION_ENFORCEMENT_OUTBOUND.put(data, outbound);
        });
    }

    static void lid(FabricNode at, int lid) {
        change(at, PortInfo.ATTRIBUTE, 1, data -> {
            leaveLink(data);
            PortInfo.LID.put(data, lid);
        });
    }

    static void state(FabricNode at, int port, int state) {
        if (at.node().port(port).state() != PortInfo.DOWN) {
            change(at, PortInfo.ATTRIBUTE, port, data -> {
                leaveLink(data);
                PortInfo.PORT_STATE.put(data, state);
            });
        }
    }

    /// @param high lanes and weights in turn
    /// @param low the same
    static void arbitration(FabricNode at, int port, int[] high, int[] low, int limit) {
        int[][] tables = {low, high};
        int[] blocks = {VlArbitration.LOW, VlArbitration.HIGH};
        for (int i = 0; i < tables.length; i++) {
            int[] table = tables[i];
            change(at, VlArbitration.ATTRIBUTE, VlArbitration.modifier(blocks[i], port), data -> {
                data.fill((byte) 0);
                for (int entry = 0; entry < table.length / 2; entry++) {
                    VlArbitration.put(data, entry, table[2 * entry], table[2 * entry + 1]);
                }
            });
        }
        change(at, PortInfo.ATTRIBUTE, port, data -> {
            leaveLink(data);
            PortInfo.VL_HIGH_LIMIT.put(data, limit);
        });
    }

    private static void leaveLink(MemorySegment data) {
        PortInfo.PORT_STATE.put(data, 0);
        PortInfo.PHYSICAL_STATE.put(data, 0);
    }

    private static void change(FabricNode at, int attribute, int modifier, Consumer<MemorySegment> change) {
        MemorySegment mad = Mad.allocate();
        Smp.writeByLid(mad, Mad.METHOD_GET, 1, attribute, modifier, 0);
        mad = ask(at, mad);
        Mad.answer(mad, Mad.METHOD_SET, 0);
        change.accept(Smp.data(mad));
        ask(at, mad);
    }

    private static MemorySegment ask(FabricNode at, MemorySegment mad) {
        MadFate fate = at.node().onMad(mad, MadRoute.subnet(at.node().isSwitch() ? 0 : 1, SLID, at.lid(), 0), 0);
        assertThat(fate).isEqualTo(MadFate.ANSWERED);
        MemorySegment answer = Objects.requireNonNull(at.node().poll()).mad();
        assertThat(Smp.status(answer)).as("status").isZero();
        return answer;
    }
}
