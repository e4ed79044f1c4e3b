import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A record that its owner changes all the time, and that a client READs whole (docs/ordering.md).
///
/// Prints: 1000 records, each of them whole
public class Seqlock {
    static final int RECORD = 24; // a version, a value, and its complement
    static final VarHandle VERSION = JAVA_LONG.varHandle();

    private final Connection connection;
    private final RemoteMemory remote;
    private final MemoryRegion copy;

    Seqlock(Connection connection, RemoteMemory remote) {
        this.connection = connection;
        this.remote = remote;
        this.copy = connection.allocate(RECORD + 8);
    }

    public static void main(String[] args) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var owner = threads.submit(() -> own(listener));
            try (var connection = Connection.connect("127.0.0.1", listener.localAddress().getPort())) {
                var seqlock = new Seqlock(connection, RemoteMemory.parse(connection.receiveText(100)));
                int whole = 0;
                for (int i = 0; i < 1000; i++) {
                    whole += seqlock.get() == ~seqlock.copy.segment().get(JAVA_LONG, 16) ? 1 : 0;
                }
                System.out.println(whole + " records, each of them whole");
                connection.send("enough");
            }
            owner.get();
        }
    }

    private static Void own(ConnectionListener listener) throws InterruptedException {
        try (var connection = listener.accept()) {
            var record = connection.allocate(RECORD, Access.remoteAll());
            put(record.segment(), 0);
            var enough = connection.postReceive(connection.allocate(100));
            connection.send(record.remote().format());
            for (long value = 1; !enough.isDone(); value++) {
                put(record.segment(), value);
            }
            return null;
        }
    }

    static void put(MemorySegment record, long value) {
        long version = (long) VERSION.getAcquire(record, 0L);
        VERSION.setRelease(record, 0L, version + 1); // odd: it is being changed
        VarHandle.storeStoreFence();
        record.set(JAVA_LONG, 8, value);
        record.set(JAVA_LONG, 16, ~value);
        VERSION.setRelease(record, 0L, version + 2);
    }

    long get() throws InterruptedException {
        while (true) {
            connection.postRead(remote.slice(0, 8), copy);
            connection.postRead(remote.slice(8, RECORD - 8), copy.slice(8));
            connection.postRead(remote.slice(0, 8), copy.slice(RECORD)).await(); // the others are done before it
            long before = copy.segment().get(JAVA_LONG, 0);
            long after = copy.segment().get(JAVA_LONG, RECORD);
            if (before == after && before % 2 == 0) {
                return copy.segment().get(JAVA_LONG, 8);
            }
        }
    }
}
