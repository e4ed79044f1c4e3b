package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;

/// The providers that the contract of `java.nio.channels` is tried with: the JDK's own is the reference. Where one
/// end is ours and the other the JDK's, ours falls back to TCP.
final class Providers {
    static final Duration LIMIT = Duration.ofSeconds(60);

    private Providers() {}

    static Stream<Named<SelectorProvider>> all() {
        return Stream.concat(
                withOwnClients(),
                Stream.of(Named.of("TCP, our listener", new Mixed(Jdk.provider(), new RdmaSelectorProvider()))));
    }

    /// Those whose clients their selectors take without a difference.
    static Stream<Named<SelectorProvider>> withOwnClients() {
        return Stream.of(
                Named.of("JDK", Jdk.provider()),
                Named.of("RDMA", new RdmaSelectorProvider((Pace) null)),
                Named.of("TCP, then RDMA", new RdmaSelectorProvider(Pace.ofMillis(0, 0))),
                Named.of("TCP, our client", new Mixed(new RdmaSelectorProvider(), Jdk.provider())));
    }

    /// Clients of one provider and listeners of another, which meet by TCP. The selectors are ours.
    private static final class Mixed extends SelectorProvider {
        private final SelectorProvider clients;
        private final SelectorProvider listeners;

        Mixed(SelectorProvider clients, SelectorProvider listeners) {
            this.clients = clients;
            this.listeners = listeners;
        }

        @Override
        public SocketChannel openSocketChannel() throws IOException {
            return clients.openSocketChannel();
        }

        @Override
        public ServerSocketChannel openServerSocketChannel() throws IOException {
            return listeners.openServerSocketChannel();
        }

        @Override
        public AbstractSelector openSelector() throws IOException {
            return new RdmaSelectorProvider().openSelector();
        }

        @Override
        public DatagramChannel openDatagramChannel() throws IOException {
            return new RdmaSelectorProvider().openDatagramChannel();
        }

        @Override
        public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
            return new RdmaSelectorProvider().openDatagramChannel(family);
        }

        @Override
        public Pipe openPipe() throws IOException {
            return new RdmaSelectorProvider().openPipe();
        }
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// Two connected channels in blocking mode, and their listener.
    record Pair(ServerSocketChannel listener, SocketChannel client, SocketChannel server) implements AutoCloseable {
        static Pair of(SelectorProvider provider) throws IOException {
            ServerSocketChannel listener = provider.openServerSocketChannel().bind(anyPort());
            SocketChannel client = provider.openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new Pair(listener, client, listener.accept());
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
            listener.close();
        }
    }

    static ByteBuffer pattern(int bytes, long seed) {
        var made = new byte[bytes];
        new Random(seed).nextBytes(made);
        return ByteBuffer.wrap(made);
    }

    static ByteBuffer readFully(SocketChannel from, int bytes) throws IOException {
        var into = ByteBuffer.allocate(bytes);
        while (into.hasRemaining()) {
            if (from.read(into) < 0) {
                break;
            }
        }
        return into.flip();
    }

    /// Selects until the key is ready for `op`.
    static void awaitReady(Selector selector, SelectionKey key, int op) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        selector.selectedKeys().clear();
        while (true) {
            selector.select(1_000);
            if (selector.selectedKeys().contains(key) && (key.readyOps() & op) != 0) {
                return;
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not ready for " + op + " in " + LIMIT);
            }
            selector.selectedKeys().clear();
        }
    }
}
