package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// A client that is told of its server before that one listens (decision 20).
@Timeout(180)
class EarlyConnectTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration LONGER_THAN_PATIENCE = Duration.ofMillis(300);

    @ParameterizedTest
    @ValueSource(strings = {"rocev2@127.88.99.1", "iwarp", "iwarp,link=portable"})
    void aRequestMeetsWhoeverListensAMomentLater(String name) throws Exception {
        boolean met;
        do { // again when it took so long to begin to listen that the client was refused
            met = connectAndThenListen(name);
        } while (!met);
    }

    private static boolean connectAndThenListen(String name) throws InterruptedException {
        try (Context serverDevice = Device.named(name).open();
                Context clientDevice = Device.named(name).open();
                var completions = clientDevice.createCompletionQueue(4);
                var domain = clientDevice.allocateProtectionDomain();
                EventChannel servers = EventChannel.open(serverDevice);
                EventChannel clients = EventChannel.open(clientDevice);
                ConnectionId server = servers.createId(PortSpace.TCP);
                ConnectionId client = clients.createId(PortSpace.TCP)) {
            server.bind(new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0));
            client.resolveAddress(server.localAddress().orElseThrow());
            assertThat(clients.await(LONG)).get().isInstanceOf(ConnectionEvent.AddressResolved.class);
            client.resolveRoute();
            assertThat(clients.await(LONG)).get().isInstanceOf(ConnectionEvent.RouteResolved.class);
            client.createQueuePair(domain, QueuePairOptions.of(QpType.RC, completions));

            client.connect(ConnectionParameters.defaults());
            server.listen(1);

            Optional<ConnectionEvent> asked = servers.await(LONGER_THAN_PATIENCE);
            asked.ifPresent(event -> assertThat(event).isInstanceOf(ConnectionEvent.ConnectRequest.class));
            asked.ifPresent(event -> event.id().close());
            assertThat(clients.await(LONG)).get().isInstanceOf(ConnectionEvent.Rejected.class);
            return asked.isPresent();
        }
    }
}
