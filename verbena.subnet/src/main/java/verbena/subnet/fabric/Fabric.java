package verbena.subnet.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.subnet.agent.SubnetRight;
import verbena.subnet.link.LinkPort;
import verbena.subnet.link.PacketStore;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodeSpec;
import verbena.subnet.topology.LinkSpeed;
import verbena.subnet.topology.Topology;
import verbena.wire.ib.FlowControl;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.PortInfo;

/// All nodes and cables of a subnet, with the agents of the nodes and the subnet managers that were put there. In
/// each step every end of every cable sends at most one packet. The owner sets the time; only management needs it.
/// For one thread.
public final class Fabric {
    /// Room of a lane at a port, in blocks of 64 bytes: three of the longest packets, or 256 of the shortest.
    public static final int BUFFER_BLOCKS = 256;

    private static final int MTU_4096 = 5;
    private static final int FOUR_LANES = 3;
    private static final int WIDTHS = 3; // 1x and 4x
    private static final int SPEEDS = 7;
    private static final int EXTENDED_SPEEDS = 3;

    private record End(FabricNode node, int number) {
        LinkPort port() {
            return node.port(number);
        }

        boolean isPolling() {
            return node.node().port(number).physicalState() == PortInfo.PHYSICAL_POLLING;
        }
    }

    /// A cable, which can be pulled.
    private static final class Cable {
        final End a;
        final End b;
        final LinkSpeed speed;
        boolean isPlugged = true;

        Cable(End a, End b, LinkSpeed speed) {
            this.a = a;
            this.b = b;
            this.speed = speed;
        }
    }

    private final PacketStore store = new PacketStore();
    private final ManagementPackets packets = new ManagementPackets(store);
    private final Map<String, FabricNode> nodes = new LinkedHashMap<>();
    private final List<Cable> cables = new ArrayList<>();
    private final MemorySegment control = Arena.ofAuto().allocate(FlowControl.BYTES);
    private long nowNanos;
    private final FabricNode.Surroundings surroundings = new Own();
    private long deadlineNanos = Long.MAX_VALUE;
    private @Nullable FabricWatch watch;

    /// Creates a fabric whose links are up, and whose ports wait for a subnet manager.
    public Fabric(Topology topology, long nowNanos) {
        this.nowNanos = nowNanos;
        for (Topology.Node node : topology.nodes()) {
            var made = new Node(spec(node));
            nodes.put(
                    node.name(),
                    node.isSwitch()
                            ? new Switch(surroundings, made, BUFFER_BLOCKS)
                            : new ChannelAdapter(surroundings, made, BUFFER_BLOCKS));
        }
        for (Topology.Link link : topology.links()) {
            var a = new End(node(link.a()), link.portA());
            cables.add(new Cable(a, new End(node(link.b()), link.portB()), link.speed()));
        }
        cables.forEach(this::train);
    }

    private static NodeSpec spec(Topology.Node node) {
        return new NodeSpec(
                node.isSwitch() ? NodeInfo.SWITCH : NodeInfo.CHANNEL_ADAPTER,
                node.guid(),
                node.name(),
                node.ports(),
                MTU_4096,
                FOUR_LANES,
                WIDTHS,
                SPEEDS,
                EXTENDED_SPEEDS);
    }

    /// Returns the node of this name.
    ///
    /// @throws IllegalArgumentException when there is none
    public FabricNode node(String name) {
        FabricNode node = nodes.get(name);
        if (node == null) {
            throw new IllegalArgumentException("node: there is no " + name);
        }
        return node;
    }

    public List<FabricNode> nodes() {
        return List.copyOf(nodes.values());
    }

    /// Returns the channel adapters, in the order of the topology.
    public List<ChannelAdapter> adapters() {
        return nodes.values().stream()
                .filter(ChannelAdapter.class::isInstance)
                .map(ChannelAdapter.class::cast)
                .toList();
    }

    public List<Switch> switches() {
        return nodes.values().stream()
                .filter(Switch.class::isInstance)
                .map(Switch.class::cast)
                .toList();
    }

    /// Returns the memory of all packets.
    public PacketStore store() {
        return store;
    }

    /// Returns the node at the other end of a port's cable; null when the port has none, or the cable is pulled.
    public @Nullable FabricNode peer(FabricNode node, int port) {
        for (Cable cable : cables) {
            if (cable.isPlugged && isEnd(cable.a, node, port)) {
                return cable.b.node();
            }
            if (cable.isPlugged && isEnd(cable.b, node, port)) {
                return cable.a.node();
            }
        }
        return null;
    }

    /// Returns the port number at the other end of a port's cable; 0 where [#peer] is null.
    public int peerPort(FabricNode node, int port) {
        for (Cable cable : cables) {
            if (cable.isPlugged && isEnd(cable.a, node, port)) {
                return cable.b.number();
            }
            if (cable.isPlugged && isEnd(cable.b, node, port)) {
                return cable.a.number();
            }
        }
        return 0;
    }

    private static boolean isEnd(End end, FabricNode node, int port) {
        return end.node() == node && end.number() == port;
    }

    /// Shows all packets from now on, and those that have not left yet, but no packets of flow control.
    ///
    /// @param watch null ends that
    public void watch(@Nullable FabricWatch watch) {
        this.watch = watch;
    }

    // ---- management

    /// Puts a subnet manager at a node, and starts it.
    ///
    /// @param firstTransactionId where its transactions begin; another one for each manager
    public SubnetManager manage(FabricNode at, ManagerOptions options, long firstTransactionId) {
        return at.manage(options, firstTransactionId);
    }

    /// Sets the right of programs at queue pair 0 of every adapter.
    public void allow(SubnetRight right) {
        nodes.values().forEach(node -> node.agents().allow(right));
    }

    /// Returns the time at which to call [#onDeadline], at the latest; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        return deadlineNanos;
    }

    /// Runs the nodes when their time has come.
    public void onDeadline(long now) {
        nowNanos = now;
        if (now >= deadlineNanos) {
            deadlineNanos = Long.MAX_VALUE;
            nodes.values().forEach(FabricNode::attend);
        }
    }

    // ---- cables

    /// Pulls the cable of a port, or plugs it in again: both ends go down, or initialize. Does nothing where there
    /// is none.
    public void plug(FabricNode node, int port, boolean isPlugged, long now) {
        nowNanos = now;
        for (Cable cable : cables) {
            if (isEnd(cable.a, node, port) || isEnd(cable.b, node, port)) {
                cable.isPlugged = isPlugged;
                if (isPlugged) {
                    train(cable);
                } else {
                    lose(cable);
                }
            }
        }
    }

    /// The fabric, as its nodes know it.
    private final class Own implements FabricNode.Surroundings {
        @Override
        public PacketStore store() {
            return store;
        }

        @Override
        public ManagementPackets packets() {
            return packets;
        }

        @Override
        public long nowNanos() {
            return nowNanos;
        }

        @Override
        public void onTime(long now) {
            nowNanos = now;
        }

        @Override
        public void isDue(long nanos) {
            deadlineNanos = Math.min(deadlineNanos, nanos);
        }

        @Override
        public void onReset(FabricNode node, int port) {
            for (Cable cable : cables) {
                if (cable.isPlugged && (isEnd(cable.a, node, port) || isEnd(cable.b, node, port))) {
                    lose(cable);
                    train(cable);
                }
            }
        }
    }

    private void lose(Cable cable) {
        for (End end : List.of(cable.a, cable.b)) {
            end.port().linkDown(nowNanos);
            end.node.attend();
        }
    }

    private void train(Cable cable) {
        if (cable.a.isPolling() && cable.b.isPolling()) {
            for (End end : List.of(cable.a, cable.b)) {
                end.port().linkUp(cable.speed, nowNanos);
                end.node.attend();
            }
        }
    }

    /// Lets each end of each cable send one packet.
    ///
    /// @return whether anything was sent
    public boolean step(long now) {
        nowNanos = now;
        boolean isSent = false;
        for (int i = 0; i < cables.size(); i++) {
            Cable cable = cables.get(i);
            if (cable.isPlugged) {
                isSent |= carry(cable.a, cable.b);
                isSent |= carry(cable.b, cable.a);
            }
        }
        return isSent;
    }

    private boolean carry(End from, End to) {
        int packet = from.port().next(control);
        if (packet == LinkPort.FLOW_CONTROL) {
            to.port().onFlowControl(control);
        } else if (packet >= 0) {
            FabricWatch watch = this.watch;
            if (watch != null) {
                watch.onPacket(
                        from.node(), from.number(), store.memory(packet), store.offset(packet), store.length(packet));
            }
            int arrived = to.port().onPacket(store.memory(packet), store.offset(packet), store.length(packet));
            store.release(packet);
            if (arrived != LinkPort.DROPPED) {
                to.node().onPacket(arrived, to.number());
            }
        }
        return packet != LinkPort.NOTHING;
    }
}
