import module java.base;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// How requests of [Raft] travel. Each replica connects to each other one. It WRITEs a request into memory that the
/// peer gives to this connection alone, with its length as immediate data, and the peer SENDs the answer. So no
/// replica can write into the log of another one: each looks first whose request it is.
final class Links {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final Raft raft;
    private final ConnectionOptions options;

    Links(Raft raft, Context device) {
        this.raft = raft;
        this.options = ConnectionOptions.defaults().withDevice(device).withConnectTimeout(LIMIT);
    }

    /// The body of a thread: tells a peer what there is to tell, and connects again when that fails.
    void tell(int peer, InetSocketAddress address) throws InterruptedException {
        while (true) {
            try (var connection = Connection.connect(address, options.withRequestTimeout(LIMIT))) {
                RemoteMemory inbox = RemoteMemory.parse(connection.receiveText(100));
                MemoryRegion outbox = connection.allocate(Raft.REQUEST_MAX);
                while (true) {
                    int length = raft.request(peer, outbox.segment());
                    connection.postWriteWithImmediate(outbox.slice(0, length), inbox, length).await();
                    raft.answered(peer, MemorySegment.ofArray(connection.receive(Raft.ANSWER)));
                }
            } catch (ConnectionException e) {
                raft.failed(peer);
                Thread.sleep(PAUSE);
            }
        }
    }

    /// The body of a thread: answers the peers that connect.
    void listen(InetSocketAddress at) throws InterruptedException {
        try (var threads = Executors.newCachedThreadPool();
                var listener = ConnectionListener.bind(at, options)) {
            try {
                while (true) {
                    Connection connection = listener.accept();
                    threads.execute(() -> answer(connection));
                }
            } finally {
                threads.shutdownNow();
            }
        }
    }

    private void answer(Connection connection) {
        try (connection) {
            MemoryRegion inbox = connection.allocate(Raft.REQUEST_MAX, Access.remoteAll());
            MemoryRegion outbox = connection.allocate(Raft.ANSWER);
            var next = connection.postReceive(outbox.slice(0, 0));
            connection.send(inbox.remote().format());
            while (true) {
                int length = next.await().immediate().orElseThrow();
                raft.handle(inbox.segment().asSlice(0, length), outbox.segment());
                next = connection.postReceive(outbox.slice(0, 0)); // the next request finds it
                connection.send(outbox.slice(0, Raft.ANSWER));
            }
        } catch (ConnectionException e) {
            // The peer has ended, or connects again.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
