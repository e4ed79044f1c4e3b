package verbena.messages.rail;

import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.Access;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;

/// The connection of a peer over one rail.
public final class Way {
    private static final int TOLD_BYTES_MAX = 32;

    public final Rail rail;
    public final Connection connection;
    private final Rails rails;
    private final Runnable onEnd;
    /// A thread that ends when the connection does.
    public final Thread watcher;
    /// Memory for frames that list lost rails; null when there is only one rail.
    private final @Nullable MemoryRegion told;

    private int toldCount;
    /// The requests that leave with the next [#submit()]; null for nothing.
    private @Nullable SendBatch requests;

    /// @param onEnd runs on a thread of its own when the connection has ended
    public Way(Rail rail, Connection connection, Rails rails, Runnable onEnd) {
        this.rail = rail;
        this.connection = connection;
        this.rails = rails;
        this.onEnd = onEnd;
        long count = rails.count();
        this.told = count > 1 ? rail.domain.allocate((count + 1) * TOLD_BYTES_MAX, Access.local()) : null;
        this.watcher = Thread.ofVirtual().name("verbena-peer").unstarted(this::watch);
    }

    public void start() {
        watcher.start();
    }

    /// Takes events until the connection has ended.
    private void watch() {
        try {
            while (connection.id().state() == ConnectionId.State.CONNECTED) {
                ConnectionEvent _ = connection.id().channel().await();
            }
        } catch (InterruptedException e) {
            return; // it is being closed
        } catch (InvalidStateException e) {
            // closed
        }
        onEnd.run();
    }

    public int number() {
        return connection.queuePair().qpn();
    }

    public QueuePair queuePair() {
        return connection.queuePair();
    }

    /// Returns the batch to which requests are written. All requests that are written leave together with
    /// [#submit()], which the same thread calls before it gives the lock of the worker back.
    SendBatch requests() {
        SendBatch open = requests;
        if (open == null) {
            open = queuePair().sendBatch();
            requests = open;
        }
        return open;
    }

    /// Lets the requests leave.
    void submit() {
        SendBatch open = requests;
        if (open != null) {
            requests = null;
            try (open) {
                open.submit();
            }
        }
    }

    public boolean isUsable() {
        return rails.isUsable(rail.index);
    }

    /// Sends a list of lost rails, or a request to join, with the next [#submit()]. Under the lock of the worker.
    /// Each time has memory of its own.
    void tell(byte @Nullable [] token) {
        MemoryRegion memory = told;
        if (memory != null) {
            long at = (long) toldCount++ * TOLD_BYTES_MAX;
            var out = memory.segment().asSlice(at, TOLD_BYTES_MAX);
            int bytes = token == null ? rails.tell(out) : Rails.writeToken(out, token);
            requests().send(RequestIds.TELL).sge(memory, at, bytes).signaled();
        }
    }

    /// Posts a last request, after the connection has ended. It completes flushed (IBTA chapter 10.3.1, the Error
    /// state), behind all that has arrived.
    public void postEnd() {
        requests().send(RequestIds.END).signaled();
        submit();
    }

    public void disconnect() {
        try {
            submit(); // no state can change while requests are being written
            connection.id().disconnect();
        } catch (VerbsException e) {
            // its device has failed, and moves nothing any more
        }
    }

    public void interrupt() {
        watcher.interrupt();
        Threads.join(watcher);
    }

    public void close() {
        connection.close();
        if (told != null) {
            told.close();
        }
    }
}
