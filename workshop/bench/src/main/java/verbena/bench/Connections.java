package verbena.bench;

import java.util.List;
import java.util.Locale;
import verbena.bench.ConnectionsEnd.Made;
import verbena.bench.ConnectionsEnd.Memory;

/// The speed at which two processes of this host make connections, and the cost of each idle connection.
public final class Connections {
    private static final int THREADS = 8;
    private static final int COUNT = 10_000;

    private Connections() {}

    /// @param args how many connections, 10,000 by default
    public static void main(String[] args) throws Exception {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : COUNT;
        try (var pair = new ConnectionsPair("rocev2")) {
            pair.make(Math.max(1, count / 10), THREADS); // warm
            List<Memory> before = pair.memory();
            Made made = pair.make(count, THREADS);
            List<Memory> after = pair.memory();
            System.out.printf(
                    Locale.ROOT,
                    "%,d connections in %.1f s by %d threads: %,.0f a second; one takes %.2f ms (median), %.2f (p99)%n",
                    count,
                    made.seconds(),
                    THREADS,
                    count / made.seconds(),
                    made.medianUs() / 1e3,
                    made.p99Us() / 1e3);
            print("here", before.getFirst(), after.getFirst(), count);
            print("peer", before.getLast(), after.getLast(), count);
        }
        System.exit(0);
    }

    private static void print(String process, Memory before, Memory after, int count) {
        System.out.printf(
                Locale.ROOT,
                "%s: an idle connection costs %,d bytes of heap; resident memory grew by %,d bytes for each%n",
                process,
                (after.heap() - before.heap()) / count,
                (after.resident() - before.resident()) / count);
    }
}
