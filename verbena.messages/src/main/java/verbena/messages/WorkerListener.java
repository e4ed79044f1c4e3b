package verbena.messages;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import verbena.verbs.ConnectionException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// Listens at a port for the peers of a [Worker]. Any thread may accept.
public final class WorkerListener implements AutoCloseable {
    private static final Duration FOREVER = Duration.ofDays(36_500);

    private final Worker worker;
    private final ConnectionListener listener;

    WorkerListener(Worker worker, InetSocketAddress at) {
        this.worker = worker;
        this.listener = ConnectionListener.bind(at, worker.traffic().connection());
    }

    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    /// Waits for a peer. What is no worker is sent away, and so are peers for which the worker has no room.
    ///
    /// @throws ConnectionException when the listener is closed, also while waiting, or its device fails
    public RemoteWorker accept() throws InterruptedException {
        while (true) {
            Optional<RemoteWorker> next = accept(FOREVER);
            if (next.isPresent()) {
                return next.get();
            }
        }
    }

    /// Waits for a peer; empty when `timeout` passed, or what came was sent away.
    ///
    /// @throws ConnectionException as [#accept()]
    public Optional<RemoteWorker> accept(Duration timeout) throws InterruptedException {
        Optional<Connection> connection = listener.accept(timeout);
        if (connection.isEmpty()) {
            return Optional.empty();
        }
        if (!worker.traffic().reserve()) {
            worker.sendAway(connection.get());
            return Optional.empty();
        }
        Optional<RemoteWorker> made = Optional.empty();
        try {
            made = Optional.ofNullable(worker.adopt(connection.get()));
            return made;
        } finally {
            if (made.isEmpty()) {
                worker.traffic().giveBack();
            }
        }
    }

    /// Stops listening; peers stay.
    @Override
    public void close() {
        listener.close();
    }
}
