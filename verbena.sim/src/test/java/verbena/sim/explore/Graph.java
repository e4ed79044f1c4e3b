package verbena.sim.explore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// All states and the steps between them.
///
/// @param edges triples of a state, twice the number of its step and 1 if that is a deviation, and the next state;
///     those of one state stand together
/// @param first where those of each state begin; -1 when it has none
@SuppressWarnings("ArrayRecordComponent") // never compared
record Graph(int count, int[] edges, int[] first) {
    private static final byte OPEN = 1;
    private static final byte DONE = 2;

    private boolean isOf(int at, int state) {
        return at >= 0 && at < edges.length && edges[at] == state;
    }

    private boolean costs(int at) {
        return (edges[at + 1] & 1) != 0;
    }

    /// The states in such an order that each usual step leads to an earlier one.
    ///
    /// @param circle is given the state where a circle of usual steps begins, and its steps; then the answer is
    ///     empty
    int[] order(List<Integer> circle) {
        int[] order = new int[count];
        int ordered = 0;
        byte[] marks = new byte[count];
        int[] next = first.clone();
        var open = new ArrayDeque<Integer>();
        for (int root = 0; root < count; root++) {
            if (marks[root] != 0) {
                continue;
            }
            marks[root] = OPEN;
            open.push(root);
            while (!open.isEmpty()) {
                int state = open.peek();
                int at = next[state];
                if (!isOf(at, state)) {
                    marks[state] = DONE;
                    order[ordered++] = state;
                    open.pop();
                    continue;
                }
                next[state] = at + 3;
                int to = edges[at + 2];
                if (costs(at) || marks[to] == DONE) {
                    continue;
                }
                if (marks[to] == OPEN) {
                    circle.addAll(circle(open, next, to));
                    return new int[0];
                }
                marks[to] = OPEN;
                open.push(to);
            }
        }
        return order;
    }

    /// The state where it begins, then its steps. The last step of each open state is the one before its next.
    private List<Integer> circle(ArrayDeque<Integer> open, int[] next, int begin) {
        var steps = new ArrayList<Integer>();
        for (int state : open) {
            steps.addFirst(edges[next[state] - 3 + 1] >>> 1);
            if (state == begin) {
                break;
            }
        }
        steps.addFirst(begin);
        return steps;
    }

    /// How many schedules there are from the first state to one where nothing can happen, with at most so many
    /// deviations.
    double schedules(int[] order, int deviationsMax) {
        double[] fewer = new double[count];
        double[] ways = fewer;
        for (int left = 0; left <= deviationsMax; left++) {
            ways = new double[count];
            for (int state : order) {
                boolean goesOn = false;
                double sum = 0;
                for (int at = first[state]; isOf(at, state); at += 3) {
                    goesOn |= !costs(at);
                    sum += costs(at) ? fewer[edges[at + 2]] : ways[edges[at + 2]];
                }
                ways[state] = goesOn ? sum : sum + 1;
            }
            fewer = ways;
        }
        return count == 0 ? 0 : ways[0];
    }
}
