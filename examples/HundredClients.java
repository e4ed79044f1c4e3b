import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.verbs.Access;
import verbena.verbs.Device;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// A hundred clients look up values by READ in one table. Each has a connection of its own. All of them share
/// the listener's protection domain, so the table is registered once, and its one key is good for every client.
///
/// Prints: 100 clients made 2000 look-ups, 2000 of them right
public class HundredClients {
    private static final int CLIENTS = 100;
    private static final int LOOK_UPS = 20;
    private static final int ENTRIES = 1024;

    public static void main(String[] args) throws Exception {
        var done = new CountDownLatch(CLIENTS);
        var right = new AtomicInteger();
        try (var device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                var memory = domain.allocate(ENTRIES * 8L, Access.remoteRead());
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind( // closes first: when a client fails, nobody waits for it
                        new InetSocketAddress(device.gid(1, 0).gid().address(), 0),
                        ConnectionOptions.defaults().withProtectionDomain(domain))) {
            for (int key = 0; key < ENTRIES; key++) {
                memory.segment().setAtIndex(JAVA_LONG, key, value(key));
            }
            var server = threads.submit(() -> serve(listener, memory.remote(), done));
            var address = listener.localAddress();
            var clients = new ArrayList<Future<?>>();
            for (int i = 0; i < CLIENTS; i++) {
                int seed = i;
                clients.add(threads.submit(() -> lookUp(address, seed, right, done)));
            }
            for (Future<?> each : clients) {
                each.get();
            }
            server.get();
            System.out.println(CLIENTS + " clients made " + CLIENTS * LOOK_UPS + " look-ups, " + right + " of them right");
        }
    }

    private static Void serve(ConnectionListener listener, RemoteMemory table, CountDownLatch done) throws Exception {
        var connections = new ArrayList<Connection>();
        try {
            while (connections.size() < CLIENTS) {
                connections.add(listener.accept());
                connections.getLast().send(table.format());
            }
            done.await(); // the look-ups need no work of this thread
            return null;
        } finally {
            connections.forEach(Connection::close);
        }
    }

    private static Void lookUp(InetSocketAddress server, int seed, AtomicInteger right, CountDownLatch done)
            throws Exception {
        try (var connection = Connection.connect(server, ConnectionOptions.defaults())) {
            var table = RemoteMemory.parse(connection.receiveText(100));
            var copy = connection.allocate(8);
            for (int i = 0; i < LOOK_UPS; i++) {
                int key = (seed * 31 + i * 7) % ENTRIES;
                connection.read(table.slice(key * 8L, 8), copy);
                if (copy.segment().get(JAVA_LONG, 0) == value(key)) {
                    right.incrementAndGet();
                }
            }
        } finally {
            done.countDown();
        }
        return null;
    }

    private static long value(int key) {
        return key * 1_000_003L;
    }
}
