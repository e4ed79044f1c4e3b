package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How an attempt to connect ends when something goes wrong that no program expects.
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AttemptTest {
    private final RdmaSelectorProvider ours = new RdmaSelectorProvider();

    private RdmaSocketChannel withoutClasses() {
        return new RdmaSocketChannel(ours, () -> {
            throw new NoClassDefFoundError("no descriptor is left to load it");
        });
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
}
