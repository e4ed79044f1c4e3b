package verbena.sim.ethernet;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The ways out of each switch to each host.
final class Routes {
    private final Map<Switch, Port[][]> ways = new HashMap<>();

    private Routes() {}

    /// Returns all shortest paths.
    static Routes shortest(List<Host> hosts, List<Switch> switches) {
        var routes = new Routes();
        for (Switch each : switches) {
            routes.ways.put(each, new Port[hosts.size()][]);
        }
        // Hosts at one switch are reached by the same ways from all others: one search serves them.
        Map<Node, Map<Switch, Port[]>> found = new HashMap<>();
        for (Host host : hosts) {
            if (host.ports.isEmpty()) {
                throw new IllegalArgumentException("the host " + host + " has no link");
            }
            Node first = host.port().peer().owner;
            Map<Switch, Port[]> nearer = found.computeIfAbsent(first, to -> nearer(to, switches));
            for (Switch at : switches) {
                Port[] ports = at == first ? direct(at, host) : Objects.requireNonNull(nearer.get(at));
                if (ports.length == 0) {
                    throw new IllegalArgumentException("no way from " + at + " to " + host);
                }
                routes.set(at, host, ports);
            }
        }
        return routes;
    }

    Port[][] of(Switch at) {
        return Objects.requireNonNull(ways.get(at));
    }

    /// Sets the ports by which `at` reaches `host`.
    void set(Switch at, Host host, Port... ports) {
        of(at)[host.number] = ports;
    }

    private static Port[] direct(Switch at, Host host) {
        return at.ports.stream().filter(port -> port.peer().owner == host).toArray(Port[]::new);
    }

    /// Returns the ports of each switch that lead nearer to a node.
    private static Map<Switch, Port[]> nearer(Node to, List<Switch> switches) {
        Map<Node, Integer> distances = distances(to);
        Map<Switch, Port[]> ways = new HashMap<>();
        for (Switch at : switches) {
            int distance = distances.getOrDefault(at, Integer.MAX_VALUE);
            ways.put(
                    at,
                    at.ports.stream()
                            .filter(port -> distances.getOrDefault(port.peer().owner, Integer.MAX_VALUE) < distance)
                            .toArray(Port[]::new));
        }
        return ways;
    }

    /// Returns the number of links between each switch and a node.
    private static Map<Node, Integer> distances(Node from) {
        Map<Node, Integer> distances = new HashMap<>();
        var queue = new ArrayDeque<Node>();
        distances.put(from, 0);
        queue.add(from);
        while (!queue.isEmpty()) {
            Node node = queue.remove();
            int distance = distances.getOrDefault(node, 0);
            for (Port port : node.ports) {
                Node next = port.peer().owner;
                if (next instanceof Switch && distances.putIfAbsent(next, distance + 1) == null) {
                    queue.add(next);
                }
            }
        }
        return distances;
    }
}
