package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the javadoc of [Selector] and [SelectionKey] promises. The JDK's own selectors keep it too.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@SuppressWarnings("try") // closing is what some tests are about
class SelectorContractTest {
    private static final String OWN = "verbena.nio.Providers#withOwnClients";

    @ParameterizedTest
    @MethodSource(OWN)
    void aConnectionIsMadeAcceptedReadAndWrittenWithoutBlocking(SelectorProvider provider) throws IOException {
        try (Selector selector = provider.openSelector();
                ServerSocketChannel listener =
                        provider.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel client = provider.openSocketChannel()) {
            listener.configureBlocking(false);
            client.configureBlocking(false);
            SelectionKey accepts = listener.register(selector, SelectionKey.OP_ACCEPT);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.isConnectionPending()).isTrue();
                SelectionKey connects = client.register(selector, SelectionKey.OP_CONNECT);
                Providers.awaitReady(selector, connects, SelectionKey.OP_CONNECT);
                assertThat(connects.isConnectable()).isTrue();
                assertThat(client.finishConnect()).isTrue();
                connects.interestOps(0);
            }
            assertThat(client.isConnected()).isTrue();
            Providers.awaitReady(selector, accepts, SelectionKey.OP_ACCEPT);
            try (SocketChannel server = listener.accept()) {
                server.configureBlocking(false);
                SelectionKey reads = server.register(selector, SelectionKey.OP_READ);
                SelectionKey writes = client.keyFor(selector) == null
                        ? client.register(selector, SelectionKey.OP_WRITE)
                        : client.keyFor(selector).interestOps(SelectionKey.OP_WRITE);
                Providers.awaitReady(selector, writes, SelectionKey.OP_WRITE);
                writes.interestOps(0);
                client.write(Providers.pattern(9, 1));
                Providers.awaitReady(selector, reads, SelectionKey.OP_READ);
                assertThat(Providers.readFully(server, 9)).isEqualTo(Providers.pattern(9, 1));
                selector.selectedKeys().clear();
                assertThat(selector.selectNow()).isZero();
                client.close();
                Providers.awaitReady(selector, reads, SelectionKey.OP_READ);
                assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void aRefusedConnectionIsConnectableAndFinishingItTells(SelectorProvider provider) throws IOException {
        InetSocketAddress nowhere;
        try (ServerSocketChannel gone = provider.openServerSocketChannel().bind(Providers.anyPort())) {
            nowhere = (InetSocketAddress) gone.getLocalAddress();
        }
        try (Selector selector = provider.openSelector();
                SocketChannel client = provider.openSocketChannel()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
            assertThatThrownBy(() -> {
                        if (!client.connect(nowhere)) {
                            Providers.awaitReady(selector, key, SelectionKey.OP_CONNECT);
                            client.finishConnect();
                        }
                    })
                    .isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
            assertThat(key.isValid()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void wakeupBeforeAndDuringASelection(SelectorProvider provider) throws Exception {
        try (Selector selector = provider.openSelector()) {
            selector.wakeup().wakeup();
            assertThat(selector.select()).isZero();
            selector.wakeup();
            selector.selectNow(); // clears the effect
            assertThat(selector.select(1)).isZero();
            for (int i = 0; i < 200; i++) {
                var selecting = new FutureTask<>(() -> selector.select());
                Thread.ofPlatform().start(selecting);
                if (i % 2 == 0) {
                    selector.wakeup();
                } else {
                    Thread.startVirtualThread(selector::wakeup);
                }
                assertThat(selecting.get()).isZero();
            }
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void anInterruptionEndsASelectionAndStays(SelectorProvider provider) throws Exception {
        try (Selector selector = provider.openSelector()) {
            var selecting = new FutureTask<>(() -> {
                selector.select();
                return Thread.currentThread().isInterrupted();
            });
            Thread thread = Thread.ofPlatform().start(selecting);
            thread.interrupt();
            assertThat(selecting.get()).isTrue();
            assertThat(selector.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void closingTheSelectorEndsASelectionAndAllKeys(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider)) {
            Selector selector = provider.openSelector();
            pair.client().configureBlocking(false);
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ);
            var selecting = new FutureTask<>(() -> selector.select());
            Thread.ofPlatform().start(selecting);
            selector.close();
            try {
                assertThat(selecting.get()).isZero();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(ClosedSelectorException.class); // it began later
            }
            assertThat(key.isValid()).isFalse();
            assertThat(pair.client().isRegistered()).isFalse();
            assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
            assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
            pair.client().configureBlocking(true);
            pair.server().write(Providers.pattern(3, 1));
            assertThat(Providers.readFully(pair.client(), 3)).isEqualTo(Providers.pattern(3, 1));
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void aCancelledKeyGoesWithTheNextSelectionAndTheChannelMayComeBack(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            SocketChannel client = pair.client();
            assertThatThrownBy(() -> client.register(selector, SelectionKey.OP_READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
            client.configureBlocking(false);
            SelectionKey first = client.register(selector, SelectionKey.OP_READ, "first");
            assertThat(client.register(selector, SelectionKey.OP_WRITE, "same")).isSameAs(first);
            assertThat(first.attachment()).isEqualTo("same");
            assertThat(first.interestOps()).isEqualTo(SelectionKey.OP_WRITE);
            assertThatThrownBy(() -> client.configureBlocking(true)).isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> first.interestOps(SelectionKey.OP_ACCEPT))
                    .isInstanceOf(IllegalArgumentException.class);
            first.cancel();
            assertThat(first.isValid()).isFalse();
            assertThat(selector.keys()).contains(first);
            assertThatThrownBy(first::readyOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> client.register(selector, SelectionKey.OP_READ))
                    .isInstanceOf(CancelledKeyException.class);
            client.configureBlocking(true);
            client.configureBlocking(false);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(client.isRegistered()).isFalse();
            SelectionKey second = client.register(selector, SelectionKey.OP_READ);
            assertThat(second).isNotSameAs(first);
            pair.server().write(Providers.pattern(1, 1));
            Providers.awaitReady(selector, second, SelectionKey.OP_READ);
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void closingAChannelCancelsItsKeys(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            pair.client().configureBlocking(false);
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_READ);
            pair.client().close();
            assertThat(key.isValid()).isFalse();
            assertThat(selector.selectNow()).isZero();
            assertThat(selector.keys()).isEmpty();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void theSelectedSetGrowsBySelectionOnlyAndCountsWhatIsNew(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            pair.client().configureBlocking(false);
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            assertThat(selector.select()).isEqualTo(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
            assertThat(selector.select()).isZero(); // ready as before: no news, and no wait
            assertThatThrownBy(() -> selector.selectedKeys().add(key))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> selector.keys().clear()).isInstanceOf(UnsupportedOperationException.class);
            pair.server().write(Providers.pattern(1, 1));
            key.interestOps(SelectionKey.OP_READ);
            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            selector.selectedKeys().remove(key);
            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ);
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void anActionGetsTheKeysThatAreReady(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            pair.client().configureBlocking(false);
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            List<SelectionKey> seen = new ArrayList<>();
            assertThat(selector.select(seen::add)).isEqualTo(1);
            assertThat(selector.selectNow(seen::add)).isEqualTo(1);
            assertThat(selector.select(seen::add, 60_000)).isEqualTo(1);
            assertThat(seen).containsExactly(key, key, key);
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void interestChangedByAnotherThreadHoldsFromTheNextSelectionOn(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            pair.client().configureBlocking(false);
            SelectionKey key = pair.client().register(selector, 0);
            pair.server().write(Providers.pattern(1, 1));
            assertThat(selector.select(1)).isZero();
            Thread.ofPlatform().start(() -> {
                key.interestOpsOr(SelectionKey.OP_READ);
                selector.wakeup();
            });
            Providers.awaitReady(selector, key, SelectionKey.OP_READ);
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void aSlowReaderMakesWritesReturnZeroAndWritableComesLater(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider);
                Selector selector = provider.openSelector()) {
            pair.client().configureBlocking(false);
            ByteBuffer all = Providers.pattern(32 << 20, 5);
            int n = pair.client().write(all);
            while (n > 0) {
                n = pair.client().write(all);
            }
            SelectionKey key = pair.client().register(selector, SelectionKey.OP_WRITE);
            var reading = new FutureTask<>(
                    () -> Providers.readFully(pair.server(), 32 << 20).equals(Providers.pattern(32 << 20, 5)));
            Thread.ofPlatform().start(reading);
            while (all.hasRemaining()) {
                Providers.awaitReady(selector, key, SelectionKey.OP_WRITE);
                pair.client().write(all);
            }
            assertThat(reading.get()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void pipesDatagramsAndSocketsAreSelectedTogether(SelectorProvider provider) throws Exception {
        try (Selector selector = provider.openSelector();
                var pair = Providers.Pair.of(provider);
                DatagramChannel datagrams = provider.openDatagramChannel().bind(Providers.anyPort());
                DatagramChannel sender = provider.openDatagramChannel()) {
            Pipe pipe = provider.openPipe();
            pipe.source().configureBlocking(false);
            datagrams.configureBlocking(false);
            pair.client().configureBlocking(false);
            SelectionKey ofPipe = pipe.source().register(selector, SelectionKey.OP_READ, "pipe");
            SelectionKey ofDatagrams = datagrams.register(selector, SelectionKey.OP_READ);
            SelectionKey ofSocket = pair.client().register(selector, SelectionKey.OP_READ);
            assertThat(selector.keys()).containsExactlyInAnyOrder(ofPipe, ofDatagrams, ofSocket);
            assertThat(ofPipe.selector()).isSameAs(selector);
            assertThat(pipe.source().keyFor(selector)).isSameAs(ofPipe);

            pipe.sink().write(Providers.pattern(1, 1));
            Providers.awaitReady(selector, ofPipe, SelectionKey.OP_READ);
            sender.send(Providers.pattern(1, 1), datagrams.getLocalAddress());
            Providers.awaitReady(selector, ofDatagrams, SelectionKey.OP_READ);
            pair.server().write(Providers.pattern(1, 1));
            Providers.awaitReady(selector, ofSocket, SelectionKey.OP_READ);

            ofPipe.cancel();
            pipe.source().close();
            datagrams.close();
            selector.selectNow();
            assertThat(selector.keys()).containsExactly(ofSocket);
            // Its descriptor is closed too: the other end of the pipe finds no reader.
            assertThatThrownBy(() -> pipe.sink().write(Providers.pattern(1, 1))).isInstanceOf(IOException.class);
            pipe.sink().close();
        }
    }

    @ParameterizedTest
    @MethodSource(OWN)
    void sixtyFourConnectionsInOneSelectorEcho(SelectorProvider provider) throws Exception {
        int peers = 64;
        int bytes = 20_000;
        try (Selector selector = provider.openSelector();
                ServerSocketChannel listener =
                        provider.openServerSocketChannel().bind(Providers.anyPort())) {
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            Thread echo = Thread.ofPlatform().start(() -> echo(selector));
            Map<Integer, SocketChannel> clients = new HashMap<>();
            try (Selector own = provider.openSelector()) {
                for (int i = 0; i < peers; i++) {
                    SocketChannel client = provider.openSocketChannel();
                    clients.put(i, client);
                    client.connect(listener.getLocalAddress());
                    client.configureBlocking(false);
                    client.register(own, SelectionKey.OP_READ, ByteBuffer.allocate(bytes));
                    ByteBuffer from = Providers.pattern(bytes, i);
                    while (from.hasRemaining()) {
                        client.write(from);
                    }
                }
                int whole = 0;
                while (whole < peers) {
                    own.select(60_000);
                    for (SelectionKey key : own.selectedKeys()) {
                        var into = (ByteBuffer) key.attachment();
                        int n = ((SocketChannel) key.channel()).read(into);
                        assertThat(n).isNotNegative();
                        if (!into.hasRemaining() && key.interestOps() != 0) {
                            key.interestOps(0);
                            whole++;
                        }
                    }
                    own.selectedKeys().clear();
                }
                for (int i = 0; i < peers; i++) {
                    var into = (ByteBuffer) clients.get(i).keyFor(own).attachment();
                    assertThat(into.flip().equals(Providers.pattern(bytes, i))).isTrue();
                    clients.get(i).close();
                }
            }
            selector.close();
            echo.join();
        }
    }

    /// Answers what it reads, until the selector is closed.
    private static void echo(Selector selector) {
        try {
            while (selector.isOpen()) {
                selector.select(SelectorContractTest::onReady);
            }
        } catch (ClosedSelectorException e) {
            // the end
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void onReady(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel peer = ((ServerSocketChannel) key.channel()).accept();
                if (peer != null) {
                    peer.configureBlocking(false);
                    peer.register(key.selector(), SelectionKey.OP_READ, ByteBuffer.allocate(30_000));
                }
                return;
            }
            var peer = (SocketChannel) key.channel();
            var buffer = (ByteBuffer) key.attachment();
            if (key.isReadable() && peer.read(buffer) < 0) {
                peer.close();
                return;
            }
            buffer.flip();
            peer.write(buffer);
            key.interestOps(
                    buffer.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
            buffer.compact();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
