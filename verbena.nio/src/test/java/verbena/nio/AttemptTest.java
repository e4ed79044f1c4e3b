package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How an attempt to connect ends when something goes wrong that no program expects.
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class AttemptTest {
    private final RdmaSelectorProvider ours = new RdmaSelectorProvider();

    private RdmaSocketChannel withoutClasses() {
        return new RdmaSocketChannel(
                ours,
                () -> {
                    throw new NoClassDefFoundError("no descriptor is left to load it");
                },
                null);
    }

    @Test
    void anErrorEndsABlockingConnect() throws IOException {
        try (ServerSocketChannel listener =
                        Jdk.provider().openServerSocketChannel().bind(Providers.anyPort());
                RdmaSocketChannel client = withoutClasses()) {
            var at = (InetSocketAddress) listener.getLocalAddress();
            assertThatThrownBy(() -> client.connect(at))
                    .isInstanceOf(IOException.class)
                    .hasCauseInstanceOf(NoClassDefFoundError.class);
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void anErrorMakesAChannelReadyThatConnects() throws IOException {
        try (ServerSocketChannel listener =
                        Jdk.provider().openServerSocketChannel().bind(Providers.anyPort());
                Selector selector = ours.openSelector();
                RdmaSocketChannel client = withoutClasses()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            client.connect(listener.getLocalAddress());
            Providers.awaitReady(selector, key, SelectionKey.OP_CONNECT);
            assertThatThrownBy(client::finishConnect).hasCauseInstanceOf(NoClassDefFoundError.class);
        }
    }

    /// On a busy machine another thread may have a processor too late for the program's limit.
    @Test
    void aBlockingConnectToAPeerThatIsReachedByTcpOnlyStaysInItsThread() throws IOException {
        assumeFalse(ChosenDevice.isNamed(), "RDMA is tried with a device that is named");
        var openedBy = new AtomicReference<Thread>();
        try (ServerSocketChannel listener =
                        Jdk.provider().openServerSocketChannel().bind(Providers.anyPort());
                RdmaSocketChannel client = new RdmaSocketChannel(
                        ours,
                        () -> {
                            openedBy.set(Thread.currentThread());
                            return Jdk.provider().openSocketChannel();
                        },
                        null)) {
            assertThat(client.connect(listener.getLocalAddress(), Providers.LIMIT.toNanos()))
                    .isTrue();
            assertThat(client.toString()).contains("TCP");
            assertThat(openedBy.get()).isSameAs(Thread.currentThread());
        }
    }
}
