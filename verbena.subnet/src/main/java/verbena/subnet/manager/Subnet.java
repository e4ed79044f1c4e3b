package verbena.subnet.manager;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.subnet.routing.Graph;
import verbena.subnet.routing.Graph.Target;
import verbena.subnet.routing.UpDown;
import verbena.wire.mad.LinearForwarding;

/// A subnet as a sweep has found it, with its LIDs and routes.
public final class Subnet {
    private static final int HOPS_MAX = 64;

    private final Map<Long, SubnetNode> nodes;
    private final SubnetPort own;
    private final List<SubnetPort> endPorts = new ArrayList<>();
    private final Map<Integer, SubnetPort> byLid = new HashMap<>();
    private final Map<Long, SubnetPort> byGuid = new LinkedHashMap<>();
    private final List<SubnetNode> switches;
    private final Map<Long, Integer> indexes = new HashMap<>();
    private final Map<Long, byte[]> tables = new HashMap<>();
    private final UpDown routing;
    private int top;

    Subnet(Map<Long, SubnetNode> nodes, SubnetPort own, Lids lids, int lmc) {
        this.nodes = nodes;
        this.own = own;
        for (SubnetNode node : nodes.values()) {
            for (SubnetPort port : node.ports().values()) {
                if (port.isEndPort()) {
                    endPorts.add(port);
                    byGuid.put(port.guid(), port);
                }
            }
        }
        lids.assign(endPorts, lmc);
        switches = nodes.values().stream().filter(SubnetNode::isSwitch).toList();
        for (SubnetNode node : switches) {
            indexes.put(node.guid(), indexes.size());
        }
        var edges = new TreeSet<Integer>();
        for (SubnetPort port : endPorts) {
            Target target = target(port);
            if ((!port.node().isSwitch() || port == own) && target != null) {
                edges.add(target.node());
            }
        }
        routing = UpDown.of(graph(), edges);
        for (SubnetPort port : endPorts) {
            int count = port.node().isSwitch() ? 1 : 1 << lmc;
            for (int lid = port.lid(); port.lid() != 0 && lid < port.lid() + count; lid++) {
                byLid.put(lid, port);
                top = Math.max(top, lid);
            }
        }
        route();
    }

    private int index(SubnetNode node) {
        return Objects.requireNonNull(indexes.get(node.guid()));
    }

    private Graph graph() {
        int[][] peers = new int[switches.size()][];
        int[][] ends = new int[switches.size()][];
        for (int i = 0; i < peers.length; i++) {
            SubnetNode node = switches.get(i);
            peers[i] = new int[node.portCount() + 1];
            ends[i] = new int[node.portCount() + 1];
            Arrays.fill(peers[i], -1);
            for (SubnetPort port : node.ports().values()) {
                SubnetPort peer = port.peer();
                if (peer != null && peer.node().isSwitch() && peer.node() != node) {
                    peers[i][port.number()] = index(peer.node());
                    ends[i][port.number()] = peer.number();
                }
            }
        }
        return new Graph(peers, ends);
    }

    /// Returns the switch and its port by which packets for an end port leave the switches; null when the port is
    /// at no switch.
    private @Nullable Target target(SubnetPort port) {
        if (port.node().isSwitch()) {
            return new Target(index(port.node()), 0);
        }
        SubnetPort peer = port.peer();
        if (peer == null || !peer.node().isSwitch()) {
            return null;
        }
        return new Target(index(peer.node()), peer.number());
    }

    private void route() {
        for (SubnetNode node : switches) {
            byte[] table = new byte[(top / LinearForwarding.ENTRIES + 1) * LinearForwarding.ENTRIES];
            Arrays.fill(table, (byte) LinearForwarding.NO_PORT);
            tables.put(node.guid(), table);
        }
        for (int lid = 1; lid <= top; lid++) {
            SubnetPort port = byLid.get(lid);
            Target target = port == null ? null : target(port);
            if (target != null) {
                int[] ports = routing.route(target);
                for (int i = 0; i < ports.length; i++) {
                    table(switches.get(i))[lid] = (byte) (ports[i] < 0 ? LinearForwarding.NO_PORT : ports[i]);
                }
            }
        }
    }

    /// Returns all nodes by GUID.
    public Map<Long, SubnetNode> nodes() {
        return java.util.Collections.unmodifiableMap(nodes);
    }

    /// Returns the manager's port.
    public SubnetPort own() {
        return own;
    }

    /// Returns all ports that can have LIDs.
    public List<SubnetPort> endPorts() {
        return java.util.Collections.unmodifiableList(endPorts);
    }

    /// Returns the port with a LID, or null.
    public @Nullable SubnetPort byLid(int lid) {
        return byLid.get(lid);
    }

    /// Returns the end port with a GUID, or null.
    public @Nullable SubnetPort byGuid(long guid) {
        return byGuid.get(guid);
    }

    /// Returns the highest LID.
    public int topLid() {
        return top;
    }

    List<SubnetNode> switches() {
        return switches;
    }

    /// Returns the linear forwarding table of a switch, whole blocks.
    byte[] table(SubnetNode node) {
        return Objects.requireNonNull(tables.get(node.guid()));
    }

    /// Returns the ports that forward the packets of a group, by switch, in the order of [#switches].
    ///
    /// @param receivers ports that get them
    /// @param members these, and ports that only send
    List<Set<Integer>> tree(Collection<SubnetPort> receivers, Collection<SubnetPort> members) {
        var targets = new ArrayList<Target>();
        var silent = new ArrayList<Target>();
        for (SubnetPort port : members) {
            Target target = target(port);
            if (target != null) {
                targets.add(target);
                if (!receivers.contains(port)) {
                    silent.add(target);
                }
            }
        }
        List<Set<Integer>> tree = routing.tree(targets);
        silent.forEach(target -> tree.get(target.node()).remove(target.port()));
        return tree;
    }

    /// Returns the ports by which packets from a port to a LID leave, the sender's first; null when they do not get
    /// there.
    public @Nullable List<SubnetPort> path(SubnetPort from, int lid) {
        var ports = new ArrayList<SubnetPort>();
        SubnetPort target = byLid.get(lid);
        if (target == from) {
            return ports;
        }
        SubnetPort out = from.node().isSwitch() ? next(from.node(), lid) : from;
        while (out != null && ports.size() < HOPS_MAX) {
            ports.add(out);
            SubnetPort in = out.peer();
            if (in == null || in == target || (in.node().isSwitch() && in.node().port(0) == target)) {
                return in == null ? null : ports;
            }
            out = in.node().isSwitch() ? next(in.node(), lid) : null;
        }
        return null;
    }

    private @Nullable SubnetPort next(SubnetNode node, int lid) {
        byte[] table = table(node);
        int port = lid < table.length ? table[lid] & 0xFF : LinearForwarding.NO_PORT;
        return port == LinearForwarding.NO_PORT || port == 0 ? null : node.port(port);
    }
}
