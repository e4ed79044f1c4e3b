import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// Atomics: four clients count in one place by FETCH_ADD, and elect one of them by COMPARE_SWAP. The server's
/// device runs one request after the other, so no count is lost and one client wins.
///
/// Prints: 400 counted, 1 leader
public class SharedCounter {
    static final int CLIENTS = 4;
    static final int COUNTS = 100;
    static final int LEADER = 8; // the leader's number stands behind the counter

    public static void main(String[] args) throws Exception {
        MemorySegment place = Arena.ofAuto().allocate(16, 8);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            int port = listener.localAddress().getPort();
            var clients = IntStream.rangeClosed(1, CLIENTS)
                    .mapToObj(number -> threads.submit(() -> count(port, number)))
                    .toList();
            IntStream.range(0, CLIENTS).forEach(_ -> threads.submit(() -> serve(listener, place)));
            int leaders = 0;
            for (var client : clients) {
                leaders += client.get() ? 1 : 0;
            }
            System.out.println(place.get(JAVA_LONG, 0) + " counted, " + leaders + " leader");
        }
    }

    /// Lends the same memory to each client, under another key.
    private static Void serve(ConnectionListener listener, MemorySegment place) throws InterruptedException {
        try (var connection = listener.accept();
                var region = connection.queuePair().protectionDomain().register(place, Access.remoteAll())) {
            connection.send(region.remote().format());
            connection.receiveText(100); // the client is done
            return null;
        }
    }

    /// Whether this client became the leader.
    private static boolean count(int port, int number) throws InterruptedException {
        try (var connection = Connection.connect("127.0.0.1", port)) {
            var place = RemoteMemory.parse(connection.receiveText(100));
            for (int i = 0; i < COUNTS; i++) {
                connection.fetchAdd(place, 1);
            }
            boolean leads = connection.compareSwap(place.slice(LEADER), 0, number) == 0;
            connection.send("done");
            return leads;
        }
    }
}
