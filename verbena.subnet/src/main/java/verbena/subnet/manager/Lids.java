package verbena.subnet.manager;

import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.PortInfo;

/// The LIDs of each port. A port keeps its LIDs as long as the manager lives, also while it is away. A manager that
/// has just begun keeps those that it finds.
final class Lids {
    private static final int LAST = 0xBFFF;

    private final Map<Long, Integer> remembered = new HashMap<>();

    /// Gives each port its LID; a port for which no LID is free has none.
    ///
    /// @param lmc of ports of adapters
    void assign(List<SubnetPort> endPorts, int lmc) {
        var used = new BitSet(LAST + 1);
        used.set(0);
        var sorted = endPorts.stream()
                .sorted(Comparator.comparingLong(SubnetPort::guid))
                .toList();
        var present = new HashMap<Long, Boolean>();
        for (SubnetPort port : sorted) {
            present.put(port.guid(), true);
            Integer lid = remembered.get(port.guid());
            port.lid(lid != null && take(used, lid, count(port, lmc)) ? lid : 0);
        }
        remembered.forEach((guid, lid) -> {
            if (!present.containsKey(guid)) {
                used.set(lid, lid + (1 << lmc));
            }
        });
        for (SubnetPort port : sorted) {
            int lid = port.get(PortInfo.LID);
            if (port.lid() == 0 && !remembered.containsKey(port.guid()) && take(used, lid, count(port, lmc))) {
                port.lid(lid);
            }
        }
        int next = 1;
        for (SubnetPort port : sorted) {
            int count = count(port, lmc);
            for (int lid = -(-next / count) * count; port.lid() == 0 && lid + count <= LAST + 1; lid += count) {
                if (take(used, lid, count)) {
                    port.lid(lid);
                }
            }
            if (port.lid() != 0) {
                remembered.put(port.guid(), port.lid());
            }
        }
    }

    private static int count(SubnetPort port, int lmc) {
        return port.node().isSwitch() ? 1 : 1 << lmc;
    }

    private static boolean take(BitSet used, int lid, int count) {
        if (lid <= 0 || lid % count != 0 || lid + count > LAST + 1) {
            return false;
        }
        int taken = used.nextSetBit(lid);
        if (taken >= 0 && taken < lid + count) {
            return false;
        }
        used.set(lid, lid + count);
        return true;
    }
}
