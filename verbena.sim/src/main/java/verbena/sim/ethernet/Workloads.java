package verbena.sim.ethernet;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/// The plans of transfers that experiments use.
public final class Workloads {
    private Workloads() {}

    /// Makes all of `senders` begin at once to send to one receiver.
    public static List<Transfer> incast(
            EthernetNetwork network,
            List<Host> senders,
            Host receiver,
            long bytes,
            long startNanos,
            TransferOptions options) {
        return senders.stream()
                .map(sender -> network.transfer(sender, receiver, bytes, startNanos, options))
                .toList();
    }

    /// Makes each host send to one other, and each receive from one other.
    public static void permutation(EthernetNetwork network, long seed, long bytes, TransferOptions options) {
        List<Host> order = new ArrayList<>(network.hosts());
        Collections.shuffle(order, new Random(seed));
        for (int i = 0; i < order.size(); i++) {
            network.transfer(order.get(i), order.get((i + 1) % order.size()), bytes, 0, options);
        }
    }

    /// Makes each host send to each other one.
    public static void allToAll(EthernetNetwork network, long bytes, TransferOptions options) {
        List<Host> hosts = network.hosts();
        for (int distance = 1; distance < hosts.size(); distance++) {
            for (int i = 0; i < hosts.size(); i++) {
                network.transfer(hosts.get(i), hosts.get((i + distance) % hosts.size()), bytes, 0, options);
            }
        }
    }

    /// Sends messages between random hosts, at random times (Poisson).
    ///
    /// @param load       the mean use of each host's link, without headers, 0 to 1
    /// @param lastNanos  none begins later
    public static void random(
            EthernetNetwork network,
            long seed,
            MessageSizes sizes,
            double load,
            long lastNanos,
            TransferOptions options) {
        if (!(load > 0 && load < 1)) {
            throw new IllegalArgumentException("load: " + load + " is not between 0 and 1");
        }
        var random = new Random(seed);
        List<Host> hosts = network.hosts();
        double perNano = load * hosts.getFirst().port().bitsPerSecond() / 8e9 * hosts.size() / sizes.mean();
        double nanos = 0;
        while (true) {
            nanos -= Math.log(1 - random.nextDouble()) / perNano;
            if (nanos > lastNanos) {
                return;
            }
            int from = random.nextInt(hosts.size());
            int to = (from + 1 + random.nextInt(hosts.size() - 1)) % hosts.size();
            network.transfer(hosts.get(from), hosts.get(to), sizes.draw(random), (long) nanos, options);
        }
    }
}
