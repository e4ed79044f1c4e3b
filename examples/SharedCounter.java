import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;
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
        try (var listener = ConnectionListener.bind("127.0.0.1", 0);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
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
                var region = connection.protectionDomain().register(place, Access.remoteAll())) {
            var note = connection.allocate(100);
            note.segment().setString(0, region.remote().format());
            connection.send(note, 0, 100);
            connection.receive(note, 0, 100); // the client is done
            return null;
        }
    }

    /// Whether this client became the leader.
    private static boolean count(int port, int number) throws InterruptedException {
        try (var connection = Connection.connect("127.0.0.1", port)) {
            var note = connection.allocate(100);
            connection.receive(note, 0, 100);
            var place = RemoteMemory.parse(note.segment().getString(0));

            var before = connection.allocate(8); // each request returns the value before it
            var queuePair = connection.queuePair();
            for (int i = 0; i < COUNTS; i++) {
                queuePair.postFetchAdd(i, before, 0, place.address(), place.rkey(), 1);
                await(connection);
            }
            queuePair.postCompareSwap(COUNTS, before, 0, place.address() + LEADER, place.rkey(), 0, number);
            await(connection);
            boolean leads = before.segment().get(JAVA_LONG, 0) == 0;
            connection.send(note, 0, 1);
            return leads;
        }
    }

    private static void await(Connection connection) throws InterruptedException {
        var done = new WorkCompletion();
        if (!connection.sendCompletions().await(done, Duration.ofSeconds(10)) || !done.ok()) {
            throw new IllegalStateException("an atomic failed: " + done);
        }
    }
}
