package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// One selector serves a thousand connections.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ManyConnectionsTest {
    private static final int CONNECTIONS = 1_000;
    private static final int BYTES = 100;
    private static final int BUFFER_BYTES = 4_096;

    @ParameterizedTest
    @MethodSource("verbena.nio.Providers#all")
    void aThousandConnectionsOfOneSelectorAreAnswered(SelectorProvider provider) throws Exception {
        try (Selector selector = provider.openSelector();
                ServerSocketChannel listener = provider.openServerSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
            listener.bind(Providers.anyPort(), CONNECTIONS); // with the default of 50 the kernel drops requests
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            var serving = new FutureTask<Integer>(() -> serve(selector));
            Thread.ofPlatform().daemon().start(serving);

            List<SocketChannel> clients = connect(provider, listener.getLocalAddress());
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < CONNECTIONS; i++) {
                    assertThat(clients.get(i).write(Providers.pattern(BYTES, i)))
                            .isEqualTo(BYTES);
                }
                for (int i = 0; i < CONNECTIONS; i++) {
                    assertThat(Providers.readFully(clients.get(i), BYTES)).isEqualTo(Providers.pattern(BYTES, i));
                }
            }
            for (SocketChannel each : clients) {
                each.close();
            }
            assertThat(serving.get()).isEqualTo(CONNECTIONS);
        }
    }

    private static List<SocketChannel> connect(SelectorProvider provider, SocketAddress to) throws IOException {
        var made = new ArrayList<SocketChannel>();
        for (int i = 0; i < CONNECTIONS; i++) {
            SocketChannel client = provider.openSocketChannel();
            client.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
            client.connect(to);
            made.add(client);
        }
        return made;
    }

    /// Answers until all connections have ended; returns how many there were.
    private static int serve(Selector selector) throws IOException {
        var buffer = ByteBuffer.allocate(BUFFER_BYTES);
        int ended = 0;
        try {
            while (ended < CONNECTIONS) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        accept((ServerSocketChannel) key.channel(), selector);
                    } else if (!answer((SocketChannel) key.channel(), buffer)) {
                        ended++;
                    }
                }
                selector.selectedKeys().clear();
            }
        } catch (ClosedSelectorException _) {
            // the test has failed
        }
        return ended;
    }

    private static void accept(ServerSocketChannel listener, Selector selector) throws IOException {
        SocketChannel accepted = listener.accept();
        if (accepted != null) {
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
        }
    }

    /// False when the connection has ended.
    private static boolean answer(SocketChannel connection, ByteBuffer buffer) throws IOException {
        if (connection.read(buffer.clear()) < 0) {
            connection.close();
            return false;
        }
        buffer.flip();
        while (buffer.hasRemaining()) {
            int _ = connection.write(buffer);
        }
        return true;
    }
}
