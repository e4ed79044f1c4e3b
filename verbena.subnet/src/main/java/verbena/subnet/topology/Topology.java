package verbena.subnet.topology;

import java.util.List;

/// The nodes of a fabric and their cables.
///
/// @param nodes in order; names are unique
/// @param links each port is in one at most
public record Topology(List<Node> nodes, List<Link> links) {
    /// How many ports a switch can have.
    public static final int PORTS_MAX = 63;
    /// How many nodes there can be.
    public static final int NODES_MAX = 4_096;

    /// A switch or a channel adapter.
    ///
    /// @param ports how many; 1 of a channel adapter
    public record Node(String name, boolean isSwitch, long guid, int ports) {}

    /// A cable between two ports, which have numbers from 1.
    public record Link(String a, int portA, String b, int portB, LinkSpeed speed) {
        /// A cable of the fastest link.
        public Link(String a, int portA, String b, int portB) {
            this(a, portA, b, portB, LinkSpeed.FASTEST);
        }
    }

    public Topology {
        nodes = List.copyOf(nodes);
        links = List.copyOf(links);
    }

    /// Reads a topology: Verbena's text, or what ibnetdiscover prints.
    ///
    ///     switch s1 4       # a name, and how many ports
    ///     hca    h1         # one port
    ///     link   h1 s1:2    # a port without a number is the first one that is free
    ///     link   h2 s1 1xQDR    # 1x or 4x; SDR, DDR, QDR, FDR or EDR; 4xEDR if nothing is said
    ///
    /// @throws TopologyException when it is neither
    public static Topology parse(String text) {
        return text.lines().anyMatch(line -> line.startsWith("Switch\t") || line.startsWith("Ca\t"))
                ? new DiscoveredText().read(text)
                : new TopologyText().read(text);
    }
}
