package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// A server that takes one client and closes its listener before it answers, as rping does. Several devices share
/// the address, so the client's repeated request has to find the device that has the first one.
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere an address is one device's")
@Timeout(180)
class LateAnswerTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration A_LOOK = Duration.ofMillis(20);

    @ParameterizedTest
    @ValueSource(strings = {"rocev2@127.88.99.2", "shm"})
    void aRepeatedRequestFindsTheServerThoughItsListenerIsClosed(String name) throws Exception {
        try (var server = new Side(name);
                var client = new Side(name)) {
            ConnectionId listener = server.events.createId(PortSpace.TCP);
            listener.bind(new InetSocketAddress(server.device.gid(1, 0).gid().address(), 0));
            InetSocketAddress at = listener.localAddress().orElseThrow();
            listener.listen(1);
            ConnectionId asking = client.ask(at);
            ConnectionId asked =
                    server.await(ConnectionEvent.ConnectRequest.class).id();

            listener.close();
            while (server.device.counters().get("cm.duplicates") == 0) {
                assertThat(client.events.await(A_LOOK)).isEmpty();
            }

            asked.createQueuePair(server.domain, QueuePairOptions.of(QpType.RC, server.completions));
            asked.accept(ConnectionParameters.defaults());
            client.await(ConnectionEvent.Established.class);
            server.await(ConnectionEvent.Established.class);
            aFurtherClientIsRefused(client, at);
            asking.close();
            asked.close();
        }
    }

    private static void aFurtherClientIsRefused(Side client, InetSocketAddress at) throws InterruptedException {
        try (ConnectionId _ = client.ask(at)) {
            var refusal = client.await(ConnectionEvent.Rejected.class);
            assertThat(refusal.reason()).isEqualTo(ConnectionEvent.Rejected.INVALID_SERVICE_ID);
        }
    }

    /// A device with what a connection needs.
    private static final class Side implements AutoCloseable {
        final Context device;
        final EventChannel events;
        final ProtectionDomain domain;
        final CompletionQueue completions;

        Side(String name) {
            device = Device.named(name).open();
            events = EventChannel.open(device);
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(4);
        }

        ConnectionId ask(InetSocketAddress to) throws InterruptedException {
            ConnectionId id = events.createId(PortSpace.TCP);
            id.resolveAddress(to);
            await(ConnectionEvent.AddressResolved.class);
            id.resolveRoute();
            await(ConnectionEvent.RouteResolved.class);
            id.createQueuePair(domain, QueuePairOptions.of(QpType.RC, completions));
            id.connect(ConnectionParameters.defaults());
            return id;
        }

        <E extends ConnectionEvent> E await(Class<E> wanted) throws InterruptedException {
            ConnectionEvent event = events.await(LONG).orElseThrow();
            assertThat(event).isInstanceOf(wanted);
            return wanted.cast(event);
        }

        @Override
        public void close() {
            completions.close();
            domain.close();
            events.close();
            device.close();
        }
    }
}
