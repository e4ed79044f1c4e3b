package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;

/// A heavy sweep: finds all nodes by directed routes, each link once, beginning at the manager's own node (IBTA
/// 14.4.3).
final class Sweep {
    private static final int NODES_MAX = 4096;

    /// Another subnet manager.
    @SuppressWarnings("ArrayRecordComponent") // Made once and never compared.
    record Colleague(long guid, int priority, int state, byte[] path) {}

    private final SubnetRequests requests;
    private final Map<Long, SubnetNode> nodes = new LinkedHashMap<>();
    private final Map<Long, MemorySegment> switches = new LinkedHashMap<>();
    private final List<Colleague> colleagues = new ArrayList<>();
    private @Nullable SubnetPort own;

    Sweep(SubnetRequests requests) {
        this.requests = requests;
        visit(new byte[0], null);
    }

    Map<Long, SubnetNode> nodes() {
        return nodes;
    }

    /// Returns the SwitchInfo that the switch with this GUID has answered.
    @Nullable
    MemorySegment switchInfo(long guid) {
        return switches.get(guid);
    }

    List<Colleague> colleagues() {
        return colleagues;
    }

    /// Returns the manager's own port; null before the sweep has begun.
    @Nullable
    SubnetPort own() {
        return own;
    }

    private void visit(byte[] path, @Nullable SubnetPort from) {
        requests.get(path, NodeInfo.ATTRIBUTE, 0, mad -> {
            if (mad != null) {
                onNode(Smp.data(mad), path, from);
            }
        });
    }

    private void onNode(MemorySegment info, byte[] path, @Nullable SubnetPort from) {
        long guid = NodeInfo.NODE_GUID.get(info);
        int number = NodeInfo.LOCAL_PORT_NUM.getInt(info);
        SubnetNode node = nodes.get(guid);
        boolean isNew = node == null;
        if (node == null) {
            if (nodes.size() == NODES_MAX) {
                return;
            }
            node = new SubnetNode(info, path);
            nodes.put(guid, node);
            describe(node);
        }
        SubnetPort known = node.port(number);
        SubnetPort port = known != null ? known : add(node, number, info, path);
        if (own == null) {
            own = port;
        }
        if (from != null && from.peer() == null && port.peer() == null && from != port) {
            from.join(port);
        }
        if (node.isSwitch() && isNew) {
            SubnetNode found = node;
            for (int each = 0; each <= node.portCount(); each++) {
                SubnetPort other = found.port(each);
                ask(other != null ? other : add(found, each, info, path));
            }
        } else if (!node.isSwitch() && known == null) {
            ask(port);
        }
    }

    private static SubnetPort add(SubnetNode node, int number, MemorySegment info, byte[] path) {
        var port = new SubnetPort(node, number, NodeInfo.PORT_GUID.get(info), path);
        node.ports().put(number, port);
        return port;
    }

    private void describe(SubnetNode node) {
        requests.get(node.path(), NodeDescription.ATTRIBUTE, 0, mad -> {
            if (mad != null) {
                node.describe(NodeDescription.get(Smp.data(mad)));
            }
        });
        if (node.isSwitch()) {
            requests.get(node.path(), SwitchInfo.ATTRIBUTE, 0, mad -> {
                if (mad != null) {
                    switches.put(node.guid(), Smp.data(mad));
                }
            });
        }
    }

    private void ask(SubnetPort port) {
        requests.get(port.path(), PortInfo.ATTRIBUTE, port.number(), mad -> {
            if (mad != null) {
                onPort(port, Smp.data(mad));
            }
        });
    }

    private void onPort(SubnetPort port, MemorySegment info) {
        port.info().copyFrom(info);
        if (port.isEndPort() && port != own && (port.get(PortInfo.CAPABILITY_MASK) & PortInfo.IS_SM) != 0) {
            requests.get(port.path(), SmInfo.ATTRIBUTE, 0, mad -> {
                if (mad != null) {
                    onColleague(port, Smp.data(mad));
                }
            });
        }
        // Only switches, and the manager's own port, lead on.
        boolean leadsOn = port == own ? port.number() > 0 : port.node().isSwitch() && port.number() > 0;
        if (leadsOn && port.get(PortInfo.PORT_STATE) >= PortInfo.INIT && port.peer() == null) {
            byte[] path = port.path();
            if (path.length < Smp.HOPS_MAX) {
                byte[] on = Arrays.copyOf(path, path.length + 1);
                on[path.length] = (byte) port.number();
                visit(on, port);
            }
        }
    }

    private void onColleague(SubnetPort port, MemorySegment info) {
        colleagues.add(new Colleague(
                SmInfo.GUID.get(info), SmInfo.PRIORITY.getInt(info), SmInfo.STATE.getInt(info), port.path()));
    }
}
