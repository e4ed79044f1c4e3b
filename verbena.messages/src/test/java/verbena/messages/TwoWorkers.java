package verbena.messages;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// A worker that is asked, and one that asks.
record TwoWorkers(Context a, Context b, Worker server, Worker client, RemoteWorker toClient, RemoteWorker toServer)
        implements AutoCloseable {
    static final WorkerOptions SMALL = WorkerOptions.defaults()
            .withMaxPeers(4)
            .withWindow(4)
            .withFrameBytes(1024)
            .withMaxCalls(8)
            .withMaxCallBytes(1 << 20);

    static TwoWorkers of(String device) throws Exception {
        return of(device, Optional.empty(), Optional.empty());
    }

    /// Returns two workers with these observers of calls.
    static TwoWorkers of(String device, Optional<CallObserver> ofServer, Optional<CallObserver> ofClient)
            throws Exception {
        Context a = Device.named(device).open();
        Context b = Device.named(device).open();
        Worker server = Worker.open(a, SMALL);
        Worker client = Worker.open(b, SMALL);
        ofServer.ifPresent(server::observeCalls);
        ofClient.ifPresent(client::observeCalls);
        try (var listener = server.listen(at(a))) {
            var accepted = accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            return new TwoWorkers(a, b, server, client, accepted.get(60, TimeUnit.SECONDS), toServer);
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
        b.close(); // nothing was left behind
        a.close();
    }

    static InetSocketAddress at(Context device) {
        return new InetSocketAddress(device.gid(1, 0).gid().address(), 0);
    }

    static CompletableFuture<RemoteWorker> accept(WorkerListener listener) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return listener.accept();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    /// Waits until a counter is 0. A worker gives back what a call took after its answer has left.
    static void awaitNone(Worker worker, String counter) {
        while (worker.counters().get(counter) != 0) {
            Thread.onSpinWait();
        }
    }
}
