package verbena.tools.fabric;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import verbena.subnet.fabric.ChannelAdapter;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricNode;
import verbena.subnet.fabric.Switch;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.node.NodePort;
import verbena.subnet.node.SwitchTables;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;

/// A fabric as a table: a line for each node, one for each port that has a cable, and one for each route of a
/// switch.
final class FabricText {
    private static final List<PortCounter> DROPS = List.of(
            PortCounter.RECEIVE_ERRORS,
            PortCounter.RECEIVE_SWITCH_RELAY_ERRORS,
            PortCounter.TRANSMIT_DISCARDS,
            PortCounter.TRANSMIT_CONSTRAINT_ERRORS,
            PortCounter.RECEIVE_CONSTRAINT_ERRORS,
            PortCounter.VL15_DROPPED,
            PortCounter.EXCESSIVE_BUFFER_OVERRUN_ERRORS);

    private final Fabric fabric;
    private final Map<Integer, FabricNode> lids = new HashMap<>();
    private final StringBuilder text = new StringBuilder();

    private FabricText(Fabric fabric) {
        this.fabric = fabric;
        fabric.nodes().forEach(node -> lids.put(node.lid(), node));
    }

    static String of(Fabric fabric, boolean hasRoutes) {
        return new FabricText(fabric).describe(hasRoutes);
    }

    private String describe(boolean hasRoutes) {
        int number = 0;
        for (FabricNode node : fabric.nodes()) {
            String kind = switch (node) {
                case Switch at -> "switch of " + at.ports() + " ports";
                case ChannelAdapter _ -> "ib" + number++;
            };
            text.append("%s  %s, lid %d%s%n".formatted(node, kind, node.lid(), manager(node)));
            for (int port = 1; port <= node.ports(); port++) {
                FabricNode peer = fabric.peer(node, port);
                if (peer != null) {
                    line(node.node().port(port), peer + ":" + fabric.peerPort(node, port));
                }
            }
            if (hasRoutes && node instanceof Switch) {
                routes(node.node().tables(), node);
            }
        }
        return text.toString();
    }

    private static String manager(FabricNode node) {
        SubnetManager manager = node.manager();
        return manager == null ? "" : ", subnet manager %s, sweeps %d".formatted(manager.state(), manager.sweeps());
    }

    private void line(NodePort port, String peer) {
        text.append("  %3d -> %-16s %-6s %-5s  sent %d packets, received %d, dropped %d%n"
                .formatted(
                        port.number(),
                        peer,
                        PortInfo.stateName(port.state()),
                        port.speed(),
                        port.count(PortCounter.TRANSMIT_PACKETS),
                        port.count(PortCounter.RECEIVE_PACKETS),
                        DROPS.stream().mapToLong(port::count).sum()));
    }

    private void routes(SwitchTables tables, FabricNode at) {
        for (int lid = 1; lid < SwitchTables.LINEAR_CAP; lid++) {
            int port = tables.port(lid);
            if (port >= 0) {
                String name = lids.containsKey(lid) ? " (" + lids.get(lid) + ")" : "";
                text.append("      lid %d%s by port %d%n".formatted(lid, name, port));
            }
        }
        int last = MulticastForwarding.FIRST_LID + SwitchTables.MULTICAST_CAP;
        for (int lid = MulticastForwarding.FIRST_LID; lid < last; lid++) {
            long members = tables.members(lid);
            if (members != 0) {
                int[] ports = IntStream.rangeClosed(0, at.ports())
                        .filter(port -> (members >>> port & 1) != 0)
                        .toArray();
                text.append("      group 0x%x by ports %s%n"
                        .formatted(
                                lid,
                                String.join(
                                        " ",
                                        IntStream.of(ports)
                                                .mapToObj(String::valueOf)
                                                .toList())));
            }
        }
    }
}
