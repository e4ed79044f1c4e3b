package verbena.subnet.topology;

import java.util.List;

/// The nodes of a fabric and their cables.
///
/// @param nodes in order; names are unique
/// @param links each port is in one at most
public record Topology(List<Node> nodes, List<Link> links) {
    /// The most ports of a switch.
    public static final int PORTS_MAX = 63;
    /// The most nodes of a fabric.
    public static final int NODES_MAX = 4_096;

    /// A switch or a channel adapter.
    ///
    /// @param ports how many; 1 of a channel adapter
    public record Node(String name, boolean isSwitch, long guid, int ports) {}

    /// A cable between two ports, which have numbers from 1.
    public record Link(String a, int portA, String b, int portB, LinkSpeed speed) {
        /// Makes a cable of the fastest link.
        public Link(String a, int portA, String b, int portB) {
            this(a, portA, b, portB, LinkSpeed.FASTEST);
        }
    }

    public Topology {
        nodes = List.copyOf(nodes);
        links = List.copyOf(links);
    }
}
