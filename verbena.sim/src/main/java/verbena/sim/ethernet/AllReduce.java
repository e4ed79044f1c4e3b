package verbena.sim.ethernet;

import java.util.List;

/// Hosts add up a vector that each of them has a part of, as training of neural networks does after each step. A
/// message leaves when what it is made of has arrived. The adding takes no time.
public final class AllReduce {
    /// The order in which hosts send to each other.
    public enum Algorithm {
        /// Each host sends pieces to the next one: 2 (n - 1) steps with a piece of 1/n each.
        RING,
        /// Partners at half the distance exchange halves, then quarters and so on, and then the same way back.
        HALVING_DOUBLING,
        /// A binomial tree: sums travel up it to the first host, and the result down.
        TREE
    }

    private final EthernetNetwork network;
    private final List<Host> hosts;
    private final long bytes;
    private final TransferOptions options;
    /// The number of steps of which each host has all parts.
    private final int[] steps;

    private final int[] parts;
    private int finished;
    private long finishedNanos = -1;

    private AllReduce(EthernetNetwork network, List<Host> hosts, long bytes, TransferOptions options) {
        this.network = network;
        this.hosts = hosts;
        this.bytes = bytes;
        this.options = options;
        this.steps = new int[hosts.size()];
        this.parts = new int[hosts.size()];
    }

    /// Begins now, with all hosts of the network.
    ///
    /// @param bytes     of the vector
    /// @param algorithm all but [Algorithm#RING] want a power of two hosts
    public static AllReduce start(EthernetNetwork network, Algorithm algorithm, long bytes, TransferOptions options) {
        List<Host> hosts = network.hosts();
        int n = hosts.size();
        if (n < 2 || bytes < n) {
            throw new IllegalArgumentException(
                    "bytes: " + bytes + " for " + n + " hosts; two hosts at least, and a byte for each");
        }
        if (algorithm != Algorithm.RING && Integer.bitCount(n) != 1) {
            throw new IllegalArgumentException("algorithm: " + algorithm + " wants a power of two hosts, not " + n);
        }
        var all = new AllReduce(network, hosts, bytes, options);
        for (int host = 0; host < n; host++) {
            switch (algorithm) {
                case RING -> all.ring(host, 0);
                case HALVING_DOUBLING -> all.halve(host, 0);
                case TREE -> all.up(host, 0);
            }
        }
        return all;
    }

    /// Returns the time that it took; -1 while it lasts.
    public long nanos() {
        return finishedNanos;
    }

    private void send(int from, int to, long length, Runnable then) {
        network.transfer(hosts.get(from), hosts.get(to), Math.max(1, length), network.nowNanos(), options)
                .onArrival(then);
    }

    private void finished() {
        if (++finished == hosts.size()) {
            finishedNanos = network.nowNanos();
        }
    }

    private void ring(int host, int step) {
        int n = hosts.size();
        if (step == 2 * (n - 1)) {
            finished();
            return;
        }
        // The piece of the next step is the one that arrives in this step.
        int next = (host + 1) % n;
        send(host, next, bytes / n, () -> ring(next, step + 1));
    }

    private void halve(int host, int step) {
        int rounds = Integer.numberOfTrailingZeros(hosts.size());
        if (step == 2 * rounds) {
            finished();
            return;
        }
        int round = step < rounds ? step : 2 * rounds - 1 - step;
        int partner = host ^ (hosts.size() >> (round + 1));
        send(host, partner, bytes >> (round + 1), () -> arrived(partner, step));
    }

    /// Handles a part that has arrived. A host goes on when it is in a step itself, and has got that step's part.
    private void arrived(int host, int step) {
        parts[host] |= 1 << step;
        while ((parts[host] & 1 << steps[host]) != 0) {
            steps[host]++;
            halve(host, steps[host]);
        }
    }

    private void up(int host, int round) {
        int n = hosts.size();
        if (1 << round == n) {
            down(0, Integer.numberOfTrailingZeros(n));
            return;
        }
        if ((host & 1 << round) != 0) {
            int parent = host ^ 1 << round;
            send(host, parent, bytes, () -> gathered(parent, round));
        } else if ((parts[host] & 1 << round) != 0) {
            up(host, round + 1);
        } else {
            steps[host] = round;
        }
    }

    private void gathered(int host, int round) {
        parts[host] |= 1 << round;
        if (steps[host] == round) {
            up(host, round);
        }
    }

    private void down(int host, int from) {
        for (int round = from - 1; round >= 0; round--) {
            int child = host ^ 1 << round;
            int below = round;
            send(host, child, bytes, () -> down(child, below));
        }
        finished();
    }
}
