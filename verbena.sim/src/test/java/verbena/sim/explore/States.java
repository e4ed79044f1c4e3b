package verbena.sim.explore;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The states that an [Explorer] has found, each with the first way to it, and the steps between them.
final class States {
    static final int NONE = -1;

    private final Map<Long, Integer> numbers = new HashMap<>();
    private long[] fingerprints = new long[1024];
    private int[] parents = new int[1024];
    private short[] steps = new short[1024];
    private byte[] deviations = new byte[1024];
    private int count;

    private int[] edges = new int[4096];
    private int edgeCount;

    /// How many there are.
    int count() {
        return count;
    }

    /// The number of a state; [#NONE] when it is new.
    int find(long fingerprint) {
        return numbers.getOrDefault(fingerprint, NONE);
    }

    /// @param parent [#NONE] for the first state
    /// @param step of the parent's steps, the one that leads to it
    /// @param deviations on the way to it
    int add(long fingerprint, int parent, int step, int deviations) {
        if (count == fingerprints.length) {
            fingerprints = Arrays.copyOf(fingerprints, 2 * count);
            parents = Arrays.copyOf(parents, 2 * count);
            steps = Arrays.copyOf(steps, 2 * count);
            this.deviations = Arrays.copyOf(this.deviations, 2 * count);
        }
        fingerprints[count] = fingerprint;
        parents[count] = parent;
        steps[count] = (short) step;
        this.deviations[count] = (byte) deviations;
        numbers.put(fingerprint, count);
        return count++;
    }

    /// A way to it has been found that has fewer deviations.
    void lower(int state, int parent, int step, int deviations) {
        parents[state] = parent;
        steps[state] = (short) step;
        this.deviations[state] = (byte) deviations;
    }

    long fingerprint(int state) {
        return fingerprints[state];
    }

    int deviations(int state) {
        return deviations[state];
    }

    /// The steps that lead to a state, from the beginning.
    int[] way(int state) {
        int length = 0;
        for (int at = state; parents[at] != NONE; at = parents[at]) {
            length++;
        }
        int[] way = new int[length];
        for (int at = state; parents[at] != NONE; at = parents[at]) {
            way[--length] = steps[at];
        }
        return way;
    }

    // ---- steps between them

    /// @param costs whether it is a deviation
    void addEdge(int from, int step, int to, boolean costs) {
        if (edgeCount + 3 > edges.length) {
            edges = Arrays.copyOf(edges, 2 * edges.length);
        }
        edges[edgeCount] = from;
        edges[edgeCount + 1] = step << 1 | (costs ? 1 : 0);
        edges[edgeCount + 2] = to;
        edgeCount += 3;
    }

    /// How many steps from one state to another were tried.
    int edgeCount() {
        return edgeCount / 3;
    }

    /// A graph over the steps, for looking at all of them together. They were added state by state.
    Graph graph() {
        int[] first = new int[count + 1];
        Arrays.fill(first, NONE);
        for (int at = 0; at < edgeCount; at += 3) {
            if (first[edges[at]] == NONE) {
                first[edges[at]] = at;
            }
        }
        return new Graph(count, Arrays.copyOf(edges, edgeCount), first);
    }
}
