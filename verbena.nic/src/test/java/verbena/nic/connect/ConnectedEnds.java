package verbena.nic.connect;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Two ends of a connection, each on a device of its own, on loopback.
record ConnectedEnds(Context serverDevice, Context clientDevice, Connection server, Connection client)
        implements AutoCloseable {
    static ConnectedEnds of(String device, ConnectionOptions options) throws Exception {
        Context serverDevice = Device.named(device).open();
        Context clientDevice = Device.named(device).open();
        var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
        try (var listener = ConnectionListener.bind(at, options.withDevice(serverDevice))) {
            var accepted = CompletableFuture.supplyAsync(() -> accept(listener), Thread::startVirtualThread);
            Connection client = Connection.connect(listener.localAddress(), options.withDevice(clientDevice));
            return new ConnectedEnds(serverDevice, clientDevice, accepted.get(60, TimeUnit.SECONDS), client);
        }
    }

    static ConnectedEnds of(String device) throws Exception {
        return of(device, ConnectionOptions.defaults());
    }

    private static Connection accept(ConnectionListener listener) {
        try {
            return listener.accept();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
        clientDevice.close(); // nothing was left behind
        serverDevice.close();
    }
}
