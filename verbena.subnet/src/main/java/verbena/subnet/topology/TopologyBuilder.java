package verbena.subnet.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import verbena.subnet.topology.Topology.Link;
import verbena.subnet.topology.Topology.Node;

/// A builder that collects nodes and links, and refuses what cannot be.
final class TopologyBuilder {
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final List<Link> links = new ArrayList<>();
    private final Map<String, Set<Integer>> used = new HashMap<>();

    void add(int line, Node node) {
        if (node.ports() < 1 || node.ports() > Topology.PORTS_MAX) {
            throw new TopologyException(line, "ports: 1 to " + Topology.PORTS_MAX + ", got " + node.ports());
        }
        if (nodes.size() == Topology.NODES_MAX) {
            throw new TopologyException(line, "nodes: at most " + Topology.NODES_MAX);
        }
        if (nodes.putIfAbsent(node.name(), node) != null) {
            throw new TopologyException(line, node.name() + " is there twice");
        }
    }

    int size() {
        return nodes.size();
    }

    void link(int line, String a, int portA, String b, int portB, LinkSpeed speed) {
        if (a.equals(b)) {
            throw new TopologyException(line, "a cable from " + a + " to itself");
        }
        int atA = claim(line, a, portA);
        int atB = claim(line, b, portB);
        links.add(new Link(a, atA, b, atB, speed));
    }

    /// @param port 0 for the first one that is free
    private int claim(int line, String name, int port) {
        Node node = nodes.get(name);
        if (node == null) {
            throw new TopologyException(line, "there is no node " + name + " before this line");
        }
        Set<Integer> taken = used.computeIfAbsent(name, _ -> new HashSet<>());
        int number = port;
        while (port == 0 && taken.contains(++number)) {}
        if (number < 1 || number > node.ports()) {
            throw new TopologyException(
                    line, port == 0 ? name + " has no free port" : name + " has ports 1 to " + node.ports());
        }
        if (!taken.add(number)) {
            throw new TopologyException(line, "port " + number + " of " + name + " has a cable already");
        }
        return number;
    }

    Topology build() {
        return new Topology(List.copyOf(nodes.values()), links);
    }
}
