package verbena.interop.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// A ZooKeeper server, and a client: nodes that are created, changed, watched, read and deleted.
public final class ZooKeeperNodes implements SystemUnderTest {
    private static final int SESSION_MILLIS = 20_000;
    private static final int TICK_MILLIS = 2_000;
    private static final int DATA_MAX = 50_000;
    private static final int ANY_VERSION = -1;

    /// Made by its name.
    public ZooKeeperNodes() {}

    @Override
    public Serving serve(Job job) throws Exception {
        var server = new ZooKeeperServer(
                job.folder().toFile(), job.folder().resolve("log").toFile(), TICK_MILLIS);
        var connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 10);
        connections.startup(server);
        return new Serving(connections.getLocalPort(), connections::shutdown);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int nodes = job.size(100, 2_000);
        var connected = new CountDownLatch(1);
        Watcher session = event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        };
        var client = new ZooKeeper("127.0.0.1:" + server.getPort(), SESSION_MILLIS, session);
        try {
            if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IOException("no session in " + SESSION_MILLIS + " ms");
            }
            create(client, "/nodes", new byte[0]);
            for (int i = 0; i < nodes; i++) {
                create(client, path(i), data(i));
            }
            job.halfway();
            Job.same(nodes, client.getChildren("/nodes", false).size(), "the number of nodes");
            for (int i = 0; i < nodes; i++) {
                var changed = new CountDownLatch(1);
                Job.same(data(i), client.getData(path(i), _ -> changed.countDown(), null), "node " + i);
                var _ = client.setData(path(i), data(i + 1), ANY_VERSION);
                if (!changed.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
                    throw new IOException("the watcher of node " + i + " was not told");
                }
                Job.same(data(i + 1), client.getData(path(i), false, null), "node " + i + ", changed");
                client.delete(path(i), ANY_VERSION);
            }
            Job.same(0, client.getChildren("/nodes", false).size(), "the number of nodes at the end");
        } finally {
            client.close();
        }
        return nodes + " nodes of up to 50 kB created, watched, changed, read and deleted, each compared";
    }

    private static void create(ZooKeeper client, String path, byte[] data) throws Exception {
        String _ = client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private static String path(int node) {
        return "/nodes/" + node;
    }

    private static byte[] data(int node) {
        return Job.pattern((int) (node * 7_919L % DATA_MAX), node);
    }
}
