package verbena.subnet.routing;

import java.util.ArrayDeque;
import java.util.Arrays;

/// The switches of a subnet, by index, and the links between them.
///
/// @param peers by switch and port the switch at the other end, or -1; port 0 is the switch itself
/// @param ends by switch and port the port at the other end, where there is one
@SuppressWarnings("ArrayRecordComponent") // Its owner makes it and changes it no more; it is never compared.
public record Graph(int[][] peers, int[][] ends) {
    /// A place that packets go to.
    ///
    /// @param node index of its switch
    /// @param port the port of the switch that leads to it; 0 is the switch itself
    public record Target(int node, int port) {}

    /// Returns the number of switches.
    public int size() {
        return peers.length;
    }

    /// Returns by switch the number of links to the nearest of these switches; [Integer#MAX_VALUE] when there is no
    /// path.
    int[] distances(int... from) {
        int[] distances = new int[size()];
        Arrays.fill(distances, Integer.MAX_VALUE);
        var queue = new ArrayDeque<Integer>();
        for (int one : from) {
            distances[one] = 0;
            queue.add(one);
        }
        for (Integer at = queue.poll(); at != null; at = queue.poll()) {
            for (int peer : peers[at]) {
                if (peer >= 0 && distances[peer] == Integer.MAX_VALUE) {
                    distances[peer] = distances[at] + 1;
                    queue.add(peer);
                }
            }
        }
        return distances;
    }
}
