package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.ConnectionException;
import verbena.verbs.Counters;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.internal.HostAddresses;

/// Connections by the name of a host, with options, and the counters of the process that has them.
@Timeout(120)
class HostsTest {
    private static final ConnectionOptions SMALL =
            ConnectionOptions.defaults().withDepth(7, 9).withInline(16);

    @Test
    void bothEndsTakeAHostAndOptions() throws Exception {
        try (var listener = ConnectionListener.bind("localhost", 0, SMALL)) {
            var accepted = CompletableFuture.supplyAsync(() -> accept(listener), Thread::startVirtualThread);
            int port = listener.localAddress().getPort();
            try (var client = Connection.connect("localhost", port, SMALL);
                    var server = accepted.get(60, TimeUnit.SECONDS)) {
                assertThat(List.of(receives(client), receives(server))).isEqualTo(List.of(9, 9));
                assertThat(Counters.ofProcess().get("connections.open")).isGreaterThanOrEqualTo(2);
                assertThat(Counters.ofProcess().keySet()).anyMatch(name -> name.startsWith("device."));
            }
        }
    }

    @Test
    void theAddressesOfAHostAreTriedInTurnAndTheLastFailureIsTold() throws Exception {
        var tried = new ArrayList<InetSocketAddress>();
        int addresses = InetAddress.getAllByName("localhost").length;
        assertThatExceptionOfType(ConnectionException.class)
                .isThrownBy(() -> HostAddresses.tryEach("connect", "localhost", 7, address -> {
                    tried.add(address);
                    throw new ConnectionException(ConnectionException.Reason.REFUSED, "attempt " + tried.size());
                }))
                .withMessage("attempt " + addresses);
        assertThat(tried).hasSize(addresses).allMatch(address -> address.getPort() == 7);
    }

    @Test
    void aFailureOfAnotherKindEndsTheAttempts() {
        var tried = new ArrayList<InetSocketAddress>();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> HostAddresses.tryEach("connect", "localhost", 7, address -> {
                    tried.add(address);
                    throw new IllegalStateException("not of a connection");
                }));
        assertThat(tried).hasSize(1);
    }

    /// Posts receives until the queue is full, and returns how many.
    private static int receives(Connection connection) {
        MemoryRegion memory = connection.allocate(8);
        for (int i = 0; ; i++) {
            try {
                connection.queuePair().postReceive(i, memory.slice(0, 8));
            } catch (ResourceLimitException e) {
                return i;
            }
        }
    }

    private static Connection accept(ConnectionListener listener) {
        try {
            return listener.accept();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
