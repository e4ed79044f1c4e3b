package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import verbena.stream.StreamListener;
import verbena.verbs.ConnectionException;
import verbena.verbs.DeviceException;

/// One end speaks RDMA and the other does not.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class MixedPeersTest {
    private final SelectorProvider ours = new RdmaSelectorProvider();
    private final SelectorProvider theirs = Jdk.provider();

    private static void exchange(SocketChannel one, SocketChannel other) throws IOException {
        one.write(Providers.pattern(5_000, 1));
        assertThat(Providers.readFully(other, 5_000)).isEqualTo(Providers.pattern(5_000, 1));
        other.write(Providers.pattern(6_000, 2));
        assertThat(Providers.readFully(one, 6_000)).isEqualTo(Providers.pattern(6_000, 2));
    }

    @Test
    void aClientWithRdmaReachesAListenerWithout() throws IOException {
        try (ServerSocketChannel listener = theirs.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel client = ours.openSocketChannel()) {
            assertThat(client.connect(listener.getLocalAddress())).isTrue();
            try (SocketChannel server = listener.accept()) {
                exchange(client, server);
                assertThat(client.toString()).contains("TCP");
                assertThat(client.getLocalAddress()).isEqualTo(server.getRemoteAddress());
                client.socket().setSoTimeout(1);
                assertThatThrownBy(() -> client.socket().getInputStream().read())
                        .isInstanceOf(SocketTimeoutException.class);
            }
        }
    }

    /// What only holds when no device is named.
    private static void assumeNearest() {
        assumeFalse(ChosenDevice.isNamed(), "verbena.nio.device names one");
    }

    @Test
    void withinTheHostAListenerWithoutRdmaIsKnownBeforeItIsAsked() throws IOException {
        assumeNearest();
        InetSocketAddress at;
        try (ServerSocketChannel listener = theirs.openServerSocketChannel().bind(Providers.anyPort())) {
            at = (InetSocketAddress) listener.getLocalAddress();
            assertThat(triesRdma(at)).isFalse();
        }
        assertThat(triesRdma(at)).as("no listener at all").isFalse();
        try (ServerSocketChannel _ = ours.openServerSocketChannel().bind(at)) {
            assertThat(triesRdma(at)).as("the listener of this process").isTrue();
        }
        assertThat(triesRdma(at)).as("the listener has gone").isFalse();
    }

    private static boolean triesRdma(InetSocketAddress at) {
        return Routes.choose(at, Long.MAX_VALUE, System.nanoTime()).turn() == Choice.Turn.RDMA;
    }

    @Test
    void aListenerGivesOutWhicheverHasComeAndOneSelectorHasBoth() throws IOException {
        try (ServerSocketChannel listener = ours.openServerSocketChannel().bind(Providers.anyPort());
                Selector selector = ours.openSelector();
                SocketChannel plain = theirs.openSocketChannel();
                SocketChannel client = ours.openSocketChannel()) {
            plain.connect(listener.getLocalAddress());
            client.connect(listener.getLocalAddress());
            listener.configureBlocking(false);
            SelectionKey accepts = listener.register(selector, SelectionKey.OP_ACCEPT);
            Set<SelectionKey> reads = new HashSet<>();
            while (reads.size() < 2) {
                Providers.awaitReady(selector, accepts, SelectionKey.OP_ACCEPT);
                SocketChannel server = listener.accept();
                if (server != null) {
                    server.configureBlocking(false);
                    reads.add(server.register(selector, SelectionKey.OP_READ));
                }
            }
            plain.write(Providers.pattern(10, 1));
            client.write(Providers.pattern(10, 1));
            for (SelectionKey key : reads) {
                Providers.awaitReady(selector, key, SelectionKey.OP_READ);
                var server = (SocketChannel) key.channel();
                assertThat(Providers.readFully(server, 10)).isEqualTo(Providers.pattern(10, 1));
            }
            assertThat(reads.stream().filter(key -> key.channel().toString().contains("TCP")))
                    .hasSize(1);
            for (SelectionKey key : reads) {
                key.channel().close();
            }
            assertThat(plain.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void aConnectionThatFellBackIsSelectedAndMayBeMadeBlockingAgain() throws IOException {
        try (ServerSocketChannel listener = theirs.openServerSocketChannel().bind(Providers.anyPort());
                Selector selector = ours.openSelector();
                SocketChannel client = ours.openSocketChannel()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            assertThat(client.connect(listener.getLocalAddress())).isFalse();
            Providers.awaitReady(selector, key, SelectionKey.OP_CONNECT);
            assertThat(client.finishConnect()).isTrue();
            try (SocketChannel server = listener.accept()) {
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                Providers.awaitReady(selector, key, SelectionKey.OP_WRITE);
                key.interestOps(SelectionKey.OP_READ);
                server.write(Providers.pattern(1, 1));
                Providers.awaitReady(selector, key, SelectionKey.OP_READ);
                assertThat(client.read(ByteBuffer.allocate(2))).isEqualTo(1);
                key.cancel();
                client.configureBlocking(true);
                exchange(client, server);
            }
        }
    }

    @Test
    void aChannelThatIsBoundFirstGoesByRdmaFromItsAddress() throws IOException {
        try (ServerSocketChannel listener = ours.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel client = ours.openSocketChannel().bind(Providers.anyPort())) {
            var own = client.getLocalAddress();
            assertThat(own).isNotNull();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(own);
                assertThat(client.getLocalAddress()).isEqualTo(own);
                assertThat(client.toString()).doesNotContain("TCP");
                exchange(client, server);
            }
        }
    }

    @Test
    void aChannelThatIsBoundFirstReachesAListenerWithoutRdmaFromItsAddress() throws IOException {
        try (ServerSocketChannel listener = theirs.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel client = ours.openSocketChannel().bind(Providers.anyPort())) {
            var own = client.getLocalAddress();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(own);
                assertThat(client.toString()).contains("TCP");
                exchange(client, server);
            }
        }
    }

    @Test
    void aChannelThatIsBoundToAPortOnlyGoesByRdmaFromIt() throws IOException {
        try (ServerSocketChannel listener = ours.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel client = ours.openSocketChannel().bind(new InetSocketAddress(0))) {
            int port = ((InetSocketAddress) client.getLocalAddress()).getPort();
            client.connect(listener.getLocalAddress());
            try (SocketChannel server = listener.accept()) {
                assertThat(((InetSocketAddress) server.getRemoteAddress()).getPort())
                        .isEqualTo(port);
                assertThat(client.toString()).doesNotContain("TCP");
                exchange(client, server);
            }
        }
    }

    @Test
    void aListenerWhosePortIsTakenForRdmaListensByTcp() throws IOException {
        assumeNearest();
        try (StreamListener other = StreamListener.bind(freeForTcp());
                ServerSocketChannel listener = ours.openServerSocketChannel()) {
            listener.bind(other.localAddress());
            assertThat(listener.getLocalAddress()).isEqualTo(other.localAddress());
            assertThat(listener.toString()).contains("TCP only");
            try (SocketChannel client = Jdk.provider().openSocketChannel()) {
                client.connect(other.localAddress());
                try (SocketChannel server = listener.accept()) {
                    exchange(client, server);
                }
            }
        }
    }

    /// Another user of the host may hold the names of all ports.
    @Test
    void aListenerAtAnyPortListensByTcpWhenAllPortsAreTakenForRdma() throws IOException {
        assumeNearest();
        try (StreamListener other = StreamListener.bind(freeForTcp());
                ServerSocketChannel listener =
                        RdmaServerSocketChannel.open(ours, () -> new OnePort(other.localAddress()), null)) {
            listener.bind(Providers.anyPort());
            assertThat(listener.getLocalAddress()).isEqualTo(other.localAddress());
            assertThat(listener.toString()).contains("TCP only");
        }
    }

    @Test
    void aListenerWhoseConnectionsMoveLaterIsNotForTcpOnly() throws IOException {
        var moving = new RdmaSelectorProvider(new Pace(1, 1, 0));
        try (ServerSocketChannel listener = moving.openServerSocketChannel()) {
            assertThat(listener.toString()).doesNotContain("TCP only");
            listener.bind(Providers.anyPort());
            assertThat(listener.toString()).doesNotContain("TCP only");
        }
    }

    @Test
    void anotherPortIsTriedOnlyWhereThePortIsTaken() {
        var taken = new ConnectionException(ConnectionException.Reason.ADDRESS, "port 7 is taken");
        var noDevice = new ConnectionException(
                ConnectionException.Reason.ADDRESS,
                "no device",
                new DeviceException("open rocev2: all slots are taken"));
        assertThat(RdmaServerSocketChannel.isPortTaken(refusal(taken))).isTrue();
        assertThat(RdmaServerSocketChannel.isPortTaken(refusal(noDevice))).isFalse();
    }

    private static BindException refusal(ConnectionException why) {
        var refused = new BindException(why.getMessage());
        refused.initCause(why);
        return refused;
    }

    /// A port that RDMA draws may be taken for TCP.
    private static InetSocketAddress freeForTcp() throws IOException {
        try (ServerSocketChannel free = Jdk.provider().openServerSocketChannel().bind(Providers.anyPort())) {
            return (InetSocketAddress) free.getLocalAddress();
        }
    }

    @Test
    void aListenerAtAllAddressesIsReachedByRdmaOverIp4AndIp6() throws IOException {
        assumeNearest();
        try (ServerSocketChannel listener = ours.openServerSocketChannel().bind(new InetSocketAddress(0))) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            for (String host : new String[] {"127.0.0.1", "::1"}) {
                try (SocketChannel client = ours.openSocketChannel()) {
                    client.connect(new InetSocketAddress(InetAddress.ofLiteral(host), port));
                    try (SocketChannel server = listener.accept()) {
                        exchange(client, server);
                        assertThat(client.toString()).doesNotContain("TCP");
                        assertThat(client.getRemoteAddress()).isEqualTo(server.getLocalAddress());
                    }
                }
            }
        }
    }

    @Test
    void channelsThatAreTheJdksOwnNameTheProviderThatHasOpenedThem() throws IOException {
        Pipe pipe = ours.openPipe();
        try (DatagramChannel any = ours.openDatagramChannel();
                DatagramChannel ip4 = ours.openDatagramChannel(StandardProtocolFamily.INET);
                Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                SocketChannel near = ours.openSocketChannel(StandardProtocolFamily.UNIX);
                ServerSocketChannel nearListener = ours.openServerSocketChannel(StandardProtocolFamily.UNIX)) {
            assertThat(List.of(any, ip4, source, sink, near, nearListener))
                    .extracting(SelectableChannel::provider)
                    .containsOnly(ours);
        }
    }
}
