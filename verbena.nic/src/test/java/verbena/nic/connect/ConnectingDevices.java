package verbena.nic.connect;

import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Two devices of one name on loopback, for tests of connections between them.
public abstract class ConnectingDevices {
    protected final Context serverDevice;
    protected final Context clientDevice;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    protected ConnectingDevices(String name) {
        serverDevice = Device.named(name).open();
        clientDevice = Device.named(name).open();
    }

    @AfterEach
    protected final void close() {
        threads.close();
        clientDevice.close(); // nothing was left behind
        serverDevice.close();
    }

    protected final ConnectionListener listen() {
        return ConnectionListener.bind(at(0), ConnectionOptions.defaults().withDevice(serverDevice));
    }

    protected final InetSocketAddress at(int port) {
        return new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), port);
    }

    protected final ConnectionOptions client() {
        return ConnectionOptions.defaults().withDevice(clientDevice);
    }

    protected final Connection connect(ConnectionListener to) throws InterruptedException {
        return Connection.connect(to.localAddress(), client());
    }

    protected final <T> Future<T> meanwhile(Callable<T> work) {
        return threads.submit(work);
    }

    protected static <T> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }
}
