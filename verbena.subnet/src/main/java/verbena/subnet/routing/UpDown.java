package verbena.subnet.routing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import verbena.subnet.routing.Graph.Target;

/// Routing by up*/down*: all switches stand in one order, a packet goes up any number of links and then down any
/// number, and never up again. So no circle of links can wait for each other's credits ([decision
/// 12](../../../../../../../docs/decisions/12-soft-fabric.md)).
///
/// A switch that can reach a target by going down only does so. That makes the tables of all switches fit together,
/// because a packet that comes from above always finds a path down.
public final class UpDown {
    private static final int NONE = -1;

    private final Graph graph;
    /// The place of each switch in the order: the lower, the higher up.
    private final int[] places;
    /// The switches in the order.
    private final int[] order;
    /// The switches that packets come from.
    private final int[] edges;
    /// The number of paths from edges to LIDs that leave by each port, by switch and port.
    private final int[][] loads;

    private UpDown(Graph graph, int[] ranks, int[] edges) {
        this.graph = graph;
        this.edges = edges;
        order = IntStream.range(0, graph.size())
                .boxed()
                .sorted(Comparator.<Integer>comparingInt(node -> ranks[node]).thenComparingInt(node -> node))
                .mapToInt(Integer::intValue)
                .toArray();
        places = new int[order.length];
        for (int place = 0; place < order.length; place++) {
            places[order[place]] = place;
        }
        loads = new int[order.length][];
        for (int node = 0; node < order.length; node++) {
            loads[node] = new int[graph.peers()[node].length];
        }
    }

    /// Orders the switches. In a tree those that are farthest from all adapters are on top, so that all of them
    /// share the load. Where that leaves some switches without a path, the switch nearest to all others is on top.
    ///
    /// @param edges the switches that adapters, or the manager, are at
    public static UpDown of(Graph graph, Collection<Integer> edges) {
        int[] leaves = edges.stream().mapToInt(Integer::intValue).distinct().toArray();
        if (graph.size() > 0 && leaves.length > 0) {
            int[] heights = graph.distances(leaves);
            int top = Arrays.stream(heights).max().orElseThrow();
            int[] tops = IntStream.range(0, heights.length)
                    .filter(node -> heights[node] == top)
                    .toArray();
            var tree = new UpDown(graph, graph.distances(tops), leaves);
            if (tree.joins(leaves)) {
                return tree;
            }
        }
        return new UpDown(graph, graph.distances(center(graph)), leaves);
    }

    private static int[] center(Graph graph) {
        return IntStream.range(0, graph.size())
                .boxed()
                .min(Comparator.comparingLong(node -> farthest(graph, node)))
                .map(node -> new int[] {node})
                .orElse(new int[0]);
    }

    private static long farthest(Graph graph, int from) {
        return Arrays.stream(graph.distances(from)).asLongStream().max().orElse(0);
    }

    /// Returns whether packets from each of these switches reach each of them and all others, and whether one tree
    /// goes down to all.
    private boolean joins(int[] leaves) {
        for (int target = 0; target < graph.size(); target++) {
            int[] lengths = lengths(target, down(target));
            for (int leaf : leaves) {
                if (lengths[leaf] == Integer.MAX_VALUE) {
                    return false;
                }
            }
        }
        return root(new TreeSet<>(Arrays.stream(leaves).boxed().toList())) != NONE;
    }

    private boolean isUp(int from, int to) {
        return places[to] < places[from];
    }

    /// Returns by switch the length of the shortest path to the target that only goes down.
    private int[] down(int target) {
        int[] lengths = new int[graph.size()];
        Arrays.fill(lengths, Integer.MAX_VALUE);
        lengths[target] = 0;
        for (int place = places[target] - 1; place >= 0; place--) {
            int node = order[place];
            for (int peer : graph.peers()[node]) {
                if (peer >= 0 && !isUp(node, peer) && lengths[peer] != Integer.MAX_VALUE) {
                    lengths[node] = Math.min(lengths[node], lengths[peer] + 1);
                }
            }
        }
        return lengths;
    }

    /// Returns by switch the length of its path to the target: down only, else up first.
    private int[] lengths(int target, int[] down) {
        int[] lengths = down.clone();
        for (int node : order) {
            if (down[node] == Integer.MAX_VALUE && node != target) {
                for (int peer : graph.peers()[node]) {
                    if (peer >= 0 && isUp(node, peer) && lengths[peer] != Integer.MAX_VALUE) {
                        lengths[node] = Math.min(lengths[node], lengths[peer] + 1);
                    }
                }
            }
        }
        return lengths;
    }

    /// Routes a LID. Among paths of the same length it takes the port that the fewest paths have so far.
    ///
    /// @return by switch the port; -1 where there is no way
    public int[] route(Target target) {
        int[] down = down(target.node());
        int[] lengths = lengths(target.node(), down);
        int[] ports = new int[graph.size()];
        for (int node = 0; node < ports.length; node++) {
            if (node == target.node()) {
                ports[node] = target.port();
                continue;
            }
            ports[node] = NONE;
            int[] peers = graph.peers()[node];
            boolean downwards = down[node] != Integer.MAX_VALUE;
            for (int port = 1; port < peers.length && lengths[node] != Integer.MAX_VALUE; port++) {
                int peer = peers[port];
                if (peer >= 0
                        && isUp(node, peer) != downwards
                        && (downwards ? down : lengths)[peer] == lengths[node] - 1
                        && (ports[node] == NONE || loads[node][port] < loads[node][ports[node]])) {
                    ports[node] = port;
                }
            }
        }
        if (target.port() > 0) { // Next to nothing goes to a switch itself.
            count(target, ports);
        }
        return ports;
    }

    /// Counts the paths from all edges, along the ports that they take.
    private void count(Target target, int[] ports) {
        for (int edge : edges) {
            for (int node = edge;
                    node != target.node() && ports[node] != NONE;
                    node = graph.peers()[node][ports[node]]) {
                loads[node][ports[node]]++;
            }
        }
    }

    /// Returns the switch from which a tree goes down to all of these: the switch with the shortest paths.
    private int root(Collection<Integer> members) {
        int best = NONE;
        long shortest = Long.MAX_VALUE;
        for (int node = 0; node < graph.size(); node++) {
            long longest = 0;
            for (int member : members) {
                longest = Math.max(longest, down(member)[node]);
            }
            if (longest < Integer.MAX_VALUE && longest < shortest) {
                best = node;
                shortest = longest;
            }
        }
        return best;
    }

    /// Returns the tree of a multicast group: packets go up to its root and down to all members, so it obeys the
    /// order too.
    ///
    /// @param members where the members are
    /// @return by switch the ports of the tree, to members and to other switches
    public List<Set<Integer>> tree(Collection<Target> members) {
        var ports = new ArrayList<Set<Integer>>();
        for (int node = 0; node < graph.size(); node++) {
            ports.add(new TreeSet<>());
        }
        var switches = new TreeSet<Integer>();
        members.forEach(member -> switches.add(member.node()));
        int root = root(switches);
        if (root == NONE) {
            return ports;
        }
        int[] parents = new int[graph.size()];
        int[] parentPorts = new int[graph.size()];
        descend(root, parents, parentPorts);
        for (Target member : members) {
            ports.get(member.node()).add(member.port());
            for (int node = member.node(); node != root; node = parents[node]) {
                ports.get(parents[node]).add(parentPorts[node]);
                ports.get(node).add(graph.ends()[parents[node]][parentPorts[node]]);
            }
        }
        return ports;
    }

    /// Finds for each switch below the root from which one, and by which of its ports, it is reached.
    private void descend(int root, int[] parents, int[] parentPorts) {
        Arrays.fill(parents, NONE);
        var queue = new ArrayDeque<Integer>();
        queue.add(root);
        for (Integer at = queue.poll(); at != null; at = queue.poll()) {
            int[] peers = graph.peers()[at];
            for (int port = 1; port < peers.length; port++) {
                int peer = peers[port];
                if (peer >= 0 && peer != root && !isUp(at, peer) && parents[peer] == NONE) {
                    parents[peer] = at;
                    parentPorts[peer] = port;
                    queue.add(peer);
                }
            }
        }
    }
}
