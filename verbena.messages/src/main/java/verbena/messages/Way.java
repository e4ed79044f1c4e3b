package verbena.messages;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionId;

/// The connection of a peer over one rail.
final class Way {
    private static final int TOLD_BYTES_MAX = 32;

    final RemoteWorker remote;
    final Rail rail;
    final Connection connection;
    private final Traffic traffic;
    /// Ends when the connection does.
    final Thread watcher;
    /// For frames that tell of rails; null when there is only one.
    private final @Nullable MemoryRegion told;

    private int toldCount;
    /// What leaves with the next [#submit()]; null for nothing.
    private @Nullable SendBatch requests;

    Way(RemoteWorker remote, Traffic traffic, Rail rail, Connection connection) {
        this.remote = remote;
        this.traffic = traffic;
        this.rail = rail;
        this.connection = connection;
        int rails = remote.rails().count();
        this.told =
                rails > 1 ? rail.domain.allocate((rails + 1L) * TOLD_BYTES_MAX, verbena.verbs.Access.local()) : null;
        this.watcher = Thread.ofVirtual().name("verbena-peer").unstarted(this::watch);
    }

    void start() {
        watcher.start();
    }

    /// Takes events until the connection has ended.
    private void watch() {
        try {
            while (connection.id().state() == ConnectionId.State.CONNECTED) {
                connection.id().channel().await(Duration.ofDays(36_500));
            }
        } catch (InterruptedException e) {
            return; // it is being closed
        } catch (InvalidStateException e) {
            // closed
        }
        traffic.lostRails.end(this);
    }

    int number() {
        return connection.queuePair().qpn();
    }

    QueuePair queuePair() {
        return connection.queuePair();
    }

    /// Where to write a request. All that are written leave together with [#submit()], which the same thread calls
    /// before it gives the lock of [Traffic] back.
    SendBatch requests() {
        SendBatch open = requests;
        if (open == null) {
            open = queuePair().send();
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

    boolean isUsable() {
        return remote.rails().isUsable(rail.index);
    }

    /// Tells of lost rails, or how to join, with the next [#submit()]. Under the lock of [Traffic]. Each time has
    /// memory of its own.
    void tell(byte @Nullable [] token) {
        MemoryRegion memory = told;
        if (memory != null) {
            long at = (long) toldCount++ * TOLD_BYTES_MAX;
            var out = memory.segment().asSlice(at, TOLD_BYTES_MAX);
            int bytes = token == null ? remote.rails().tell(out) : Rails.writeToken(out, token);
            requests().send(Departures.TELL).sge(memory, at, bytes).signaled();
        }
    }

    /// Posts a last request, after the connection has ended. It completes flushed (IBTA chapter 10.3.1, the Error
    /// state), behind all that has arrived.
    void postEnd() {
        requests().send(Departures.END).signaled();
        submit();
    }

    void disconnect() {
        try {
            submit(); // no state can change while requests are being written
            connection.id().disconnect();
        } catch (VerbsException e) {
            // its device has failed, and moves nothing any more
        }
    }

    void interrupt() {
        watcher.interrupt();
        Readers.join(watcher);
    }

    void close() {
        connection.close();
        if (told != null) {
            told.close();
        }
    }
}
