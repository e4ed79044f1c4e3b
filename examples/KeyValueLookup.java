import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A hash table that clients look up by READ. The server fills it once and then does nothing. For each lookup,
/// the client reads the server's memory, from the slot of the key's hash on.
///
/// Prints: rose is red, violet is blue, nettle is unknown
public class KeyValueLookup {
    static final int SLOTS = 64;
    static final int KEY_BYTES = 16;
    static final int SLOT_BYTES = 32;

    public static void main(String[] args) throws Exception {
        var done = new CountDownLatch(1);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var server = threads.submit(() -> serve(listener, done));
            var found = new StringBuilder();
            try (var connection = Connection.connect("127.0.0.1", listener.localAddress().getPort())) {
                var table = RemoteMemory.parse(connection.receiveText(100));
                for (String key : new String[] {"rose", "violet", "nettle"}) {
                    found.append(found.isEmpty() ? "" : ", ").append(key + " is " + look(connection, table, key));
                }
            }
            done.countDown();
            server.get();
            System.out.println(found);
        }
    }

    private static Void serve(ConnectionListener listener, CountDownLatch done) throws InterruptedException {
        try (var connection = listener.accept()) {
            var table = connection.allocate(SLOTS * SLOT_BYTES, Access.remoteAll());
            put(table.segment(), "rose", "red");
            put(table.segment(), "violet", "blue");
            connection.send(table.remote().format());
            done.await(); // the lookups need no work of the server
            return null;
        }
    }

    private static void put(MemorySegment table, String key, String value) {
        int slot = slot(key);
        while (!table.getString(slot * SLOT_BYTES).isEmpty()) {
            slot = (slot + 1) % SLOTS;
        }
        table.setString(slot * SLOT_BYTES, key);
        table.setString(slot * SLOT_BYTES + KEY_BYTES, value);
    }

    private static String look(Connection connection, RemoteMemory table, String key) throws InterruptedException {
        try (var copy = connection.allocate(SLOT_BYTES)) {
            for (int slot = slot(key); ; slot = (slot + 1) % SLOTS) {
                connection.read(table.slice(slot * SLOT_BYTES, SLOT_BYTES), copy);
                String found = copy.segment().getString(0);
                if (found.equals(key) || found.isEmpty()) { // an empty slot ends the search
                    return found.isEmpty() ? "unknown" : copy.segment().getString(KEY_BYTES);
                }
            }
        }
    }

    private static int slot(String key) {
        return Math.floorMod(key.hashCode(), SLOTS);
    }
}
