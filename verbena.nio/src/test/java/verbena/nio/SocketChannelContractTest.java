package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the javadoc of [SocketChannel] and [ServerSocketChannel] promises. The JDK's own channels keep it too.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@SuppressWarnings("try") // closing is what some tests are about
class SocketChannelContractTest {
    private static final String ALL = "verbena.nio.Providers#all";

    @ParameterizedTest
    @MethodSource(ALL)
    void bytesGoBothWays(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            pair.client().write(ByteBuffer.wrap("ask".getBytes(StandardCharsets.UTF_8)));
            assertThat(Providers.readFully(pair.server(), 3))
                    .isEqualTo(ByteBuffer.wrap("ask".getBytes(StandardCharsets.UTF_8)));
            pair.server().write(ByteBuffer.wrap("answer".getBytes(StandardCharsets.UTF_8)));
            assertThat(Providers.readFully(pair.client(), 6))
                    .isEqualTo(ByteBuffer.wrap("answer".getBytes(StandardCharsets.UTF_8)));
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void bothEndsKnowBothAddresses(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            assertThat(pair.client().getRemoteAddress())
                    .isEqualTo(pair.listener().getLocalAddress());
            assertThat(pair.server().getRemoteAddress()).isEqualTo(pair.client().getLocalAddress());
            assertThat(pair.server().socket().getRemoteSocketAddress())
                    .isEqualTo(pair.client().socket().getLocalSocketAddress());
            assertThat(pair.client().socket().getPort())
                    .isEqualTo(pair.listener().socket().getLocalPort());
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void tenMegabytesArriveWholeBothWaysAtOnce(SelectorProvider provider) throws Exception {
        int bytes = 10 << 20;
        try (var pair = Providers.Pair.of(provider)) {
            var sending = new FutureTask<Void>(() -> {
                pair.client().write(Providers.pattern(bytes, 1));
                return null;
            });
            var answering = new FutureTask<Void>(() -> {
                pair.server().write(Providers.pattern(bytes, 2));
                return null;
            });
            var reading = new FutureTask<>(() -> Providers.readFully(pair.server(), bytes));
            Thread.ofPlatform().start(sending);
            Thread.ofPlatform().start(answering);
            Thread.ofPlatform().start(reading);
            assertThat(Providers.readFully(pair.client(), bytes).equals(Providers.pattern(bytes, 2)))
                    .isTrue();
            assertThat(reading.get().equals(Providers.pattern(bytes, 1))).isTrue();
            sending.get();
            answering.get();
        }
    }

    /// Much more than a socket or a ring takes, while the reader has not begun.
    @ParameterizedTest
    @MethodSource(ALL)
    void aBlockingWriteHandsOverAllOfIt(SelectorProvider provider) throws Exception {
        int bytes = 20_000_000;
        ByteBuffer all = Providers.pattern(bytes, 3);
        try (var pair = Providers.Pair.of(provider)) {
            var writing = new FutureTask<>(() -> pair.client().write(all.duplicate()));
            var answering = new FutureTask<>(() -> pair.server().write(inPieces(all)));
            awaitSleep(Thread.ofPlatform().start(writing));
            awaitSleep(Thread.ofPlatform().start(answering));
            assertThat(Providers.readFully(pair.server(), bytes).equals(all)).isTrue();
            assertThat(writing.get()).isEqualTo(bytes);
            assertThat(Providers.readFully(pair.client(), bytes).equals(all)).isTrue();
            assertThat(answering.get()).isEqualTo(bytes);
        }
    }

    /// Short ones, long ones and empty ones.
    private static ByteBuffer[] inPieces(ByteBuffer all) {
        List<ByteBuffer> pieces = new ArrayList<>();
        for (int at = 0, i = 0; at < all.limit(); i++) {
            int length = Math.min(all.limit() - at, i == 4 ? 1 << 20 : i % 900 * 100);
            pieces.add(all.slice(at, length));
            at += length;
        }
        return pieces.toArray(ByteBuffer[]::new);
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void theBytesOfAWriteStayTogether(SelectorProvider provider) throws Exception {
        int bytes = 8_000_000;
        try (var pair = Providers.Pair.of(provider)) {
            var first = new FutureTask<>(() -> pair.client().write(filled(bytes, 1)));
            var second = new FutureTask<>(() -> pair.client().write(new ByteBuffer[] {filled(bytes, 2)}));
            Thread.ofPlatform().start(first);
            Thread.ofPlatform().start(second);
            ByteBuffer half = Providers.readFully(pair.server(), bytes);
            assertThat(half.equals(filled(bytes, half.get(0)))).isTrue();
            ByteBuffer rest = Providers.readFully(pair.server(), bytes);
            assertThat(rest.equals(filled(bytes, 3 - half.get(0)))).isTrue();
            assertThat(first.get() + second.get()).isEqualTo(2L * bytes);
        }
    }

    private static ByteBuffer filled(int bytes, int value) {
        var made = new byte[bytes];
        Arrays.fill(made, (byte) value);
        return ByteBuffer.wrap(made);
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void gatheredBytesAreScattered(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            ByteBuffer[] from = {Providers.pattern(10, 1), Providers.pattern(0, 1), Providers.pattern(700, 2)};
            assertThat(pair.client().write(from)).isEqualTo(710);
            ByteBuffer[] into = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(509), ByteBuffer.allocate(200)};
            long n = 0;
            while (n < 710) {
                n += pair.server().read(into);
            }
            var all = ByteBuffer.allocate(710);
            for (ByteBuffer each : into) {
                all.put(each.flip());
            }
            var expected =
                    ByteBuffer.allocate(710).put(Providers.pattern(10, 1)).put(Providers.pattern(700, 2));
            assertThat(all.flip()).isEqualTo(expected.flip());
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void afterShutdownOfOutputThePeerReadsTheEndAndMayStillWrite(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            pair.client().write(Providers.pattern(1_000, 1));
            pair.client().shutdownOutput();
            assertThat(Providers.readFully(pair.server(), 2_000)).isEqualTo(Providers.pattern(1_000, 1));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.server().write(Providers.pattern(500, 2));
            assertThat(Providers.readFully(pair.client(), 500)).isEqualTo(Providers.pattern(500, 2));
            assertThatThrownBy(() -> pair.client().write(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
            assertThat(pair.client().isOpen()).isTrue();
            assertThat(pair.client().socket().isOutputShutdown()).isTrue();
            assertThat(pair.client().socket().isInputShutdown()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void afterShutdownOfInputAReadFindsTheEnd(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider)) {
            var reading = new FutureTask<>(() -> pair.client().read(ByteBuffer.allocate(1)));
            Thread reader = Thread.ofPlatform().start(reading);
            awaitSleep(reader);
            pair.client().shutdownInput();
            assertThat(reading.get()).isEqualTo(-1);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.client().write(Providers.pattern(5, 1));
            assertThat(Providers.readFully(pair.server(), 5)).isEqualTo(Providers.pattern(5, 1));
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void thePeersCloseIsTheEnd(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            pair.client().write(Providers.pattern(20_000, 3));
            pair.client().close();
            assertThat(Providers.readFully(pair.server(), 20_000)).isEqualTo(Providers.pattern(20_000, 3));
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void aReaderEndsWhenAnotherThreadCloses(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider)) {
            var reading = new FutureTask<>(() -> pair.client().read(ByteBuffer.allocate(1)));
            awaitSleep(Thread.ofPlatform().start(reading));
            pair.client().close();
            assertThatThrownBy(reading::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseExactlyInstanceOf(AsynchronousCloseException.class);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void anInterruptedReaderClosesTheChannel(SelectorProvider provider) throws Exception {
        try (var pair = Providers.Pair.of(provider)) {
            var status = new CompletableFuture<Boolean>();
            var reading = new FutureTask<>(() -> {
                try {
                    return pair.client().read(ByteBuffer.allocate(1));
                } finally {
                    status.complete(Thread.currentThread().isInterrupted());
                }
            });
            Thread reader = Thread.ofPlatform().start(reading);
            awaitSleep(reader);
            reader.interrupt();
            assertThatThrownBy(reading::get).hasCauseExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(status.get()).isTrue();
            assertThat(pair.client().isOpen()).isFalse();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void aBlockedAcceptEndsWhenAnotherThreadClosesOrInterrupts(SelectorProvider provider) throws Exception {
        for (boolean interrupts : new boolean[] {false, true}) {
            try (ServerSocketChannel listener =
                    provider.openServerSocketChannel().bind(Providers.anyPort())) {
                var accepting = new FutureTask<>(listener::accept);
                Thread acceptor = Thread.ofPlatform().start(accepting);
                awaitSleep(acceptor);
                if (interrupts) {
                    acceptor.interrupt();
                } else {
                    listener.close();
                }
                assertThatThrownBy(accepting::get)
                        .hasCauseExactlyInstanceOf(
                                interrupts ? ClosedByInterruptException.class : AsynchronousCloseException.class);
                assertThat(listener.isOpen()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void nothingToReadIsZeroInNonBlockingMode(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            pair.client().configureBlocking(false);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
            pair.listener().configureBlocking(false);
            assertThat(pair.listener().accept()).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void aSlowReaderFillsTheWayAndNothingIsLost(SelectorProvider provider) throws IOException {
        try (var pair = Providers.Pair.of(provider)) {
            pair.client().configureBlocking(false);
            ByteBuffer all = Providers.pattern(32 << 20, 5);
            int n = pair.client().write(all);
            while (n > 0) {
                n = pair.client().write(all);
            }
            int sent = all.position();
            assertThat(sent).isBetween(1, (32 << 20) - 1);
            ByteBuffer expected = Providers.pattern(32 << 20, 5).limit(sent);
            assertThat(Providers.readFully(pair.server(), sent).equals(expected))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void stateIsCheckedAsTheJavadocHasIt(SelectorProvider provider) throws IOException {
        try (SocketChannel channel = provider.openSocketChannel()) {
            assertThat(channel.getRemoteAddress()).isNull();
            assertThat(channel.isConnected()).isFalse();
            assertThat(channel.isConnectionPending()).isFalse();
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            assertThatThrownBy(() -> channel.connect(InetSocketAddress.createUnresolved("nowhere", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
        }
        try (var pair = Providers.Pair.of(provider)) {
            assertThat(pair.client().isConnected()).isTrue();
            assertThat(pair.client().finishConnect()).isTrue();
            assertThatThrownBy(() -> pair.client().connect(pair.listener().getLocalAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            pair.client().close();
            pair.client().close();
            assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> pair.client().getRemoteAddress()).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> pair.client().getOption(StandardSocketOptions.TCP_NODELAY))
                    .isInstanceOf(ClosedChannelException.class);
        }
        try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
            assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
            assertThat(listener.getLocalAddress()).isNull();
            listener.close();
            assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void whereNoProgramListensTheConnectionIsRefusedAndTheChannelClosed(SelectorProvider provider) throws IOException {
        InetSocketAddress nowhere;
        try (ServerSocketChannel gone = provider.openServerSocketChannel().bind(Providers.anyPort())) {
            nowhere = (InetSocketAddress) gone.getLocalAddress();
        }
        try (SocketChannel channel = provider.openSocketChannel()) {
            assertThatThrownBy(() -> channel.connect(nowhere)).isInstanceOf(ConnectException.class);
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void optionsThatAreSetWhileItConnectsHold(SelectorProvider provider) throws IOException {
        try (ServerSocketChannel listener = provider.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel channel = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            channel.configureBlocking(false);
            boolean isConnected = channel.connect(listener.getLocalAddress());
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_LINGER, 7);
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            if (!isConnected) {
                Providers.awaitReady(selector, key, SelectionKey.OP_CONNECT);
            }
            assertThat(channel.finishConnect()).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(7);
        }
    }

    /// Else its peer would wait for ever.
    @Test
    void aConnectionWhoseListenerIsClosedWhileItIsAcceptedIsClosed() throws IOException {
        try (var pair = Providers.Pair.of(Jdk.provider())) {
            pair.listener().close();
            var accepted = new Carrier.ByTcp(pair.server(), Usage.NONE);
            assertThatThrownBy(() -> RdmaSocketChannel.accepted(
                            new RdmaSelectorProvider(), new Jdk.Sockets(null), accepted, pair.listener()))
                    .isInstanceOf(ClosedChannelException.class);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void optionsHoldBeforeAndAfterConnecting(SelectorProvider provider) throws IOException {
        try (ServerSocketChannel listener = provider.openServerSocketChannel().bind(Providers.anyPort());
                SocketChannel channel = provider.openSocketChannel()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true)
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            channel.connect(listener.getLocalAddress());
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.socket().getKeepAlive()).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            channel.socket().setSoLinger(true, 5);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(5);
            assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isPositive();
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isPositive();
            assertThat(channel.supportedOptions()).contains(StandardSocketOptions.TCP_NODELAY);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channel.setOption(null, 1)).isInstanceOf(NullPointerException.class);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void aFileIsTransferredIntoAChannelAndOut(SelectorProvider provider, @TempDir Path folder) throws Exception {
        int bytes = 1 << 20;
        Path from = folder.resolve("from");
        Files.write(from, Providers.pattern(bytes, 7).array());
        Path to = folder.resolve("to");
        try (var pair = Providers.Pair.of(provider);
                var source = FileChannel.open(from);
                var target = FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            var receiving = new FutureTask<>(() -> {
                long n = 0;
                while (n < bytes) {
                    n += target.transferFrom(pair.server(), n, bytes - n);
                }
                return n;
            });
            Thread.ofPlatform().start(receiving);
            long n = 0;
            while (n < bytes) {
                n += source.transferTo(n, bytes - n, pair.client());
            }
            assertThat(receiving.get()).isEqualTo(bytes);
        }
        assertThat(Files.mismatch(from, to)).isEqualTo(-1);
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void theAdaptorHasStreamsAndATimeLimit(SelectorProvider provider) throws Exception {
        try (ServerSocketChannel listener = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            listener.socket().bind(Providers.anyPort());
            listener.socket().setSoTimeout(1);
            assertThatThrownBy(() -> listener.socket().accept()).isInstanceOf(SocketTimeoutException.class);
            listener.socket().setSoTimeout(0);
            client.socket().connect(listener.getLocalAddress(), 60_000);
            try (var server = listener.socket().accept()) {
                server.getOutputStream().write("line".getBytes(StandardCharsets.UTF_8));
                assertThat(client.socket().getInputStream().readNBytes(4))
                        .isEqualTo("line".getBytes(StandardCharsets.UTF_8));
                client.socket().setSoTimeout(1);
                assertThatThrownBy(() -> client.socket().getInputStream().read())
                        .isInstanceOf(SocketTimeoutException.class);
                client.socket().setSoTimeout(60_000);
                var reading =
                        new FutureTask<>(() -> client.socket().getInputStream().read());
                awaitSleep(Thread.ofPlatform().start(reading));
                server.getOutputStream().write(42);
                assertThat(reading.get()).isEqualTo(42);
            }
            assertThat(client.socket().isConnected()).isTrue();
            assertThat(client.socket().isBound()).isTrue();
            assertThat(client.socket().getChannel()).isSameAs(client);
        }
    }

    @ParameterizedTest
    @MethodSource(ALL)
    void manyThreadsAcceptAndConnect(SelectorProvider provider) throws Exception {
        int peers = 16;
        try (ServerSocketChannel listener = provider.openServerSocketChannel().bind(Providers.anyPort())) {
            var served = new CountDownLatch(peers);
            Thread.startVirtualThread(() -> {
                for (int i = 0; i < peers; i++) {
                    try {
                        SocketChannel peer = listener.accept();
                        Thread.startVirtualThread(() -> {
                            try (peer) {
                                peer.write(Providers.readFully(peer, 8));
                                served.countDown();
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        });
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
            for (int i = 0; i < peers; i++) {
                try (SocketChannel client = provider.openSocketChannel()) {
                    client.connect(listener.getLocalAddress());
                    client.write(Providers.pattern(8, i));
                    assertThat(Providers.readFully(client, 8)).isEqualTo(Providers.pattern(8, i));
                }
            }
            assertThat(served.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    /// Returns when the thread waits, wherever that is; a thread that reads by a system call is runnable.
    private static void awaitSleep(Thread thread) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200);
        while (System.nanoTime() - end < 0
                && thread.getState() != Thread.State.WAITING
                && thread.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
    }
}
