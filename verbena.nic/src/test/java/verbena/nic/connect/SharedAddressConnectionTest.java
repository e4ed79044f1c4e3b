package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Connections to, from and among several devices at one address.
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere an address is one device's")
@Timeout(120)
class SharedAddressConnectionTest {
    private final InetAddress address = LoopbackAddress.find(4791);
    private final List<Context> devices = IntStream.range(0, 3)
            .mapToObj(_ -> Device.named("rocev2@" + address.getHostAddress()).open())
            .toList();
    private final Context elsewhere = Device.named("rocev2").open();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        threads.close();
        devices.forEach(Context::close);
        elsewhere.close();
    }

    private ConnectionListener listen(Context device, int port) {
        return ConnectionListener.bind(new InetSocketAddress(address, port), options(device));
    }

    private static ConnectionOptions options(Context device) {
        return ConnectionOptions.defaults().withDevice(device);
    }

    @Test
    void eachConnectionReachesTheListenerOfItsPort() throws Exception {
        List<ConnectionListener> listeners =
                devices.stream().map(device -> listen(device, 0)).toList();
        assertThat(listeners).extracting(ConnectionListener::localAddress).doesNotHaveDuplicates();
        for (Context from :
                Stream.concat(devices.stream(), Stream.of(elsewhere)).toList()) {
            for (int i = 0; i < devices.size(); i++) {
                ConnectionListener listener = listeners.get(i);
                Future<Connection> accepted = threads.submit(() -> listener.accept());
                try (Connection client = Connection.connect(listener.localAddress(), options(from));
                        Connection server = accepted.get(60, TimeUnit.SECONDS)) {
                    var in = server.allocate(16);
                    var out = client.allocate(16);
                    Future<Long> received =
                            threads.submit(() -> server.receive(in.slice(0, 16)).length());
                    out.segment().setString(0, "number " + i);
                    client.send(out.slice(0, 9));
                    assertThat(received.get(60, TimeUnit.SECONDS)).isEqualTo(9);
                    assertThat(in.segment().getString(0)).isEqualTo("number " + i);
                }
            }
        }
        listeners.forEach(ConnectionListener::close);
    }

    @Test
    void aPortIsOneListenersAtATime() {
        ConnectionListener first = listen(devices.getFirst(), 0);
        int port = first.localAddress().getPort();
        assertThatThrownBy(() -> listen(devices.getLast(), port))
                .isInstanceOf(ConnectionException.class)
                .hasMessageContaining("is taken, by this process or another");
        first.close();
        listen(devices.getLast(), port).close();
    }
}
