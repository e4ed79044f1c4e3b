package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.stream.StreamChannel;
import verbena.stream.StreamOptions;

/// Connections that begin by TCP, and go on by RDMA.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class MovingTest {
    private final RdmaSelectorProvider atOnce = new RdmaSelectorProvider(Pace.ofMillis(0, 0));

    private static void await(BooleanSupplier isSo) throws InterruptedException {
        long end = System.nanoTime() + Providers.LIMIT.toNanos();
        while (!isSo.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("time left").isNegative();
            Thread.onSpinWait();
        }
    }

    private static boolean isByRdma(SocketChannel channel) {
        return channel.toString().contains("begun by TCP, ");
    }

    private static void exchange(Providers.Pair pair, int bytes, long seed) throws IOException {
        ByteBuffer question = Providers.pattern(bytes, seed);
        pair.client().write(question.duplicate());
        assertThat(Providers.readFully(pair.server(), bytes)).isEqualTo(question);
        ByteBuffer answer = Providers.pattern(bytes, seed + 1);
        pair.server().write(answer.duplicate());
        assertThat(Providers.readFully(pair.client(), bytes)).isEqualTo(answer);
    }

    @Test
    void bothEndsMoveAndKeepTheirAddresses() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            InetSocketAddress at = (InetSocketAddress) pair.client().getLocalAddress();
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            exchange(pair, 100_000, 1);
            assertThat(pair.client().getLocalAddress()).isEqualTo(at);
            assertThat(pair.server().getRemoteAddress()).isEqualTo(at);
            assertThat(pair.client().getRemoteAddress())
                    .isEqualTo(pair.listener().getLocalAddress());
        }
    }

    /// Programs that ask before they read may ask for long.
    @Test
    void whatComesAfterTheMoveIsAvailable() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            InputStream in = pair.server().socket().getInputStream();
            assertThat(in.available()).isZero();
            pair.client().write(Providers.pattern(5, 1));
            long end = System.nanoTime() + Providers.LIMIT.toNanos();
            while (in.available() < 5) {
                assertThat(System.nanoTime() - end).as("time left").isNegative();
            }
            assertThat(in.readNBytes(5)).isEqualTo(Providers.pattern(5, 1).array());
            assertThat(in.available()).isZero();
        }
    }

    /// The end has come by TCP, and the room for bytes is at the stream.
    @Test
    void anEndThatWasReadStaysReadyBesideRoomToWrite() throws Exception {
        try (var pair = Providers.Pair.of(atOnce);
                Selector selector = atOnce.openSelector()) {
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            pair.client().shutdownOutput();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.server().configureBlocking(false);
            SelectionKey key = pair.server().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            assertThat(selector.select()).isOne();
            assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
    }

    @Test
    void whatAMoveSetsForItselfIsNoOptionOfTheProgram() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            for (SocketChannel each : new SocketChannel[] {pair.client(), pair.server()}) {
                assertThat(each.getOption(StandardSocketOptions.SO_KEEPALIVE)).isFalse();
                each.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
                assertThat(each.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            }
        }
    }

    /// The channel below judges, after it has looked at its own state.
    @Test
    void noBufferIsNoReasonToReadNoEnd() throws Exception {
        try (var pair = Providers.Pair.of(new RdmaSelectorProvider(Pace.ofMillis(Long.MAX_VALUE, 0)))) {
            assertThatThrownBy(() -> pair.server().read(new ByteBuffer[] {null}))
                    .isInstanceOf(NullPointerException.class);
            pair.server().shutdownInput();
            assertThat(pair.server().read(new ByteBuffer[] {null})).isEqualTo(-1);
        }
    }

    /// Over and over, because the move meets another byte each time.
    @RepeatedTest(50)
    void noByteIsLostOrDoubledWhileBothEndsWriteAndMove() throws Exception {
        writeBothWays(atOnce);
    }

    /// Connections that go back at once: the way back meets the way there at another byte each time.
    @RepeatedTest(20)
    void noByteIsLostOrDoubledWhileBothEndsWriteAndMoveThereAndBack() throws Exception {
        writeBothWays(new RdmaSelectorProvider(Pace.ofMillis(0, 1)));
    }

    private static void writeBothWays(SelectorProvider by) throws Exception {
        int bytes = 1 << 20;
        try (var pair = Providers.Pair.of(by)) {
            var sent = new FutureTask<Void>(() -> {
                writePieces(pair.client(), bytes, 7);
                pair.client().shutdownOutput();
                return null;
            });
            var answered = new FutureTask<Void>(() -> {
                writePieces(pair.server(), bytes, 8);
                pair.server().shutdownOutput();
                return null;
            });
            var read = new FutureTask<>(() -> readToEnd(pair.server(), bytes));
            Thread.ofPlatform().start(sent);
            Thread.ofPlatform().start(answered);
            Thread.ofVirtual().start(read);
            assertThat(readToEnd(pair.client(), bytes)).isEqualTo(Providers.pattern(bytes, 8));
            assertThat(read.get()).isEqualTo(Providers.pattern(bytes, 7));
            sent.get();
            answered.get();
        }
    }

    private static void writePieces(SocketChannel to, int bytes, long seed) throws IOException {
        ByteBuffer all = Providers.pattern(bytes, seed);
        var sizes = new Random(seed);
        while (all.hasRemaining()) {
            ByteBuffer piece = all.slice(all.position(), Math.min(all.remaining(), 1 + sizes.nextInt(5_000)));
            all.position(all.position() + piece.remaining());
            to.write(piece);
            assertThat(piece.hasRemaining()).isFalse();
        }
    }

    private static ByteBuffer readToEnd(SocketChannel from, int bytes) throws IOException {
        var into = ByteBuffer.allocate(bytes + 1);
        while (from.read(into) >= 0) {
            assertThat(into.hasRemaining()).as("no byte more").isTrue();
        }
        return into.flip();
    }

    /// The end of the data may come before the move, in the middle of it, and after it.
    @RepeatedTest(50)
    void anEndOfTheDataArrivesWheneverItIsSaid() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            pair.client().write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            pair.client().shutdownOutput();
            assertThat(readToEnd(pair.server(), 3).remaining()).isEqualTo(3);
            pair.server().write(ByteBuffer.wrap(new byte[] {4, 5}));
            pair.server().close();
            assertThat(readToEnd(pair.client(), 2).remaining()).isEqualTo(2);
        }
    }

    @RepeatedTest(10)
    void aSelectorSeesAllBytesOfAConnectionThatMoves() throws Exception {
        int bytes = 1 << 20;
        try (var pair = Providers.Pair.of(atOnce);
                Selector selector = atOnce.openSelector()) {
            pair.server().configureBlocking(false);
            SelectionKey key = pair.server().register(selector, SelectionKey.OP_READ);
            var sent = new FutureTask<Void>(() -> {
                writePieces(pair.client(), bytes, 9);
                pair.client().shutdownOutput();
                return null;
            });
            Thread.ofPlatform().start(sent);
            var into = ByteBuffer.allocate(bytes + 1);
            int got = 0;
            while (got >= 0) {
                Providers.awaitReady(selector, key, SelectionKey.OP_READ);
                got = pair.server().read(into);
            }
            assertThat(into.flip()).isEqualTo(Providers.pattern(bytes, 9));
            sent.get();
        }
    }

    /// The kernel reports the end of TCP to a selector for good: it is asked no more.
    @Test
    void aSelectorSleepsWhenBothDirectionsHaveMoved() throws Exception {
        try (var pair = Providers.Pair.of(atOnce);
                Selector selector = atOnce.openSelector()) {
            pair.server().configureBlocking(false);
            SelectionKey key = pair.server().register(selector, SelectionKey.OP_READ);
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            pair.client().write(ByteBuffer.wrap(new byte[] {1}));
            var into = ByteBuffer.allocate(2);
            while (into.position() == 0) {
                Providers.awaitReady(selector, key, SelectionKey.OP_READ);
                pair.server().read(into);
            }
            selector.selectedKeys().clear();
            if (selector.select(50) > 0) { // the byte came by TCP, and its end came behind
                assertThat(pair.server().read(into)).isZero();
                selector.selectedKeys().clear();
            }
            assertThat(selector.select(50)).isZero();
            pair.client().write(ByteBuffer.wrap(new byte[] {2}));
            Providers.awaitReady(selector, key, SelectionKey.OP_READ);
            assertThat(pair.server().read(into)).isEqualTo(1);
        }
    }

    /// Goes on until both have moved: a connection that goes back moves again when it is busy.
    private static void exchangeUntilMoved(Providers.Pair pair) throws IOException {
        for (int i = 0; !isByRdma(pair.client()) || !isByRdma(pair.server()); i++) {
            exchange(pair, 1_000, i);
        }
    }

    @Test
    void anIdleConnectionGoesBackToTcpAndMovesAgainWhenItIsBusy() throws Exception {
        try (var pair = Providers.Pair.of(new RdmaSelectorProvider(Pace.ofMillis(0, 20)))) {
            for (int i = 0; i < 5; i++) {
                exchangeUntilMoved(pair);
                await(() -> !isByRdma(pair.client()) && !isByRdma(pair.server()));
                exchange(pair, 1_000, i);
            }
        }
    }

    /// A thread that waits for bytes of the stream goes on waiting for those of TCP.
    @Test
    void threadsThatWaitForAnIdlePeerGoBackWithIt() throws Exception {
        try (var pair = Providers.Pair.of(new RdmaSelectorProvider(Pace.ofMillis(0, 20)))) {
            exchangeUntilMoved(pair);
            var read = new FutureTask<>(() -> Providers.readFully(pair.server(), 1_000));
            Thread.ofPlatform().start(read);
            await(() -> !isByRdma(pair.client()) && !isByRdma(pair.server()));
            ByteBuffer data = Providers.pattern(1_000, 3);
            pair.client().write(data.duplicate());
            assertThat(read.get()).isEqualTo(data);
        }
    }

    @Test
    void aSelectorWatchesTheKernelAgainWhenAConnectionHasGoneBack() throws Exception {
        try (var pair = Providers.Pair.of(new RdmaSelectorProvider(Pace.ofMillis(0, 20)));
                Selector selector = atOnce.openSelector()) {
            exchangeUntilMoved(pair);
            pair.server().configureBlocking(false);
            SelectionKey key = pair.server().register(selector, SelectionKey.OP_READ);
            while (isByRdma(pair.client()) || isByRdma(pair.server())) {
                if (selector.selectNow() > 0) { // the end of the stream
                    assertThat(pair.server().read(ByteBuffer.allocate(1))).isZero();
                    selector.selectedKeys().clear();
                }
            }
            pair.client().write(Providers.pattern(100, 5));
            var into = ByteBuffer.allocate(100);
            while (into.hasRemaining()) {
                Providers.awaitReady(selector, key, SelectionKey.OP_READ);
                pair.server().read(into);
            }
            assertThat(into.flip()).isEqualTo(Providers.pattern(100, 5));
        }
    }

    /// The end of the data is that of TCP, also of one that has moved.
    @Test
    void aConnectionThatHasMovedHasAnEndOfDataInEachDirection() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            pair.client().shutdownOutput();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.server().write(Providers.pattern(1_000, 4));
            pair.server().shutdownOutput();
            assertThat(readToEnd(pair.client(), 1_000)).isEqualTo(Providers.pattern(1_000, 4));
        }
    }

    /// Where the program asked for a reset, what lies in the kernel when TCP ends must still arrive.
    @Test
    void aConnectionWithLingerZeroMovesWithoutLoss() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.server().setOption(StandardSocketOptions.SO_LINGER, 0);
            for (int i = 0; i < 200; i++) {
                exchange(pair, 1_000, i);
            }
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            exchange(pair, 1_000, 200);
            pair.client().close();
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1))).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPeerWithoutTheAgentKeepsTcp(boolean isClientOurs) throws Exception {
        try (var listener = (isClientOurs ? Jdk.provider() : atOnce)
                        .openServerSocketChannel()
                        .bind(Providers.anyPort());
                SocketChannel client = (isClientOurs ? atOnce : Jdk.provider()).openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (var pair = new Providers.Pair(listener, client, listener.accept())) {
                for (int i = 0; i < 100; i++) {
                    exchange(pair, 1_000, i);
                }
                SocketChannel ours = isClientOurs ? client : pair.server();
                assertThat(isByRdma(ours)).isFalse();
                ours.shutdownOutput();
                assertThat((isClientOurs ? pair.server() : client).read(ByteBuffer.allocate(1)))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void aConnectionMovesWhenItIsOldAndBusyAndNotBefore() throws Exception {
        var patient = new RdmaSelectorProvider(new Pace(10_000, 0, 0));
        try (var pair = Providers.Pair.of(patient)) {
            exchange(pair, 100, 1);
            assertThat(isByRdma(pair.client())).isFalse();
            for (int i = 0; !isByRdma(pair.client()) || !isByRdma(pair.server()); i++) {
                exchange(pair, 1_000, i);
            }
            exchange(pair, 1_000, 0);
        }
    }

    /// A process may be told to begin by RDMA, and its peer not.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsThatBeginDifferentlyMeetByTcp(boolean movesClient) throws Exception {
        var byRdma = new RdmaSelectorProvider((Pace) null);
        try (var listener = (movesClient ? byRdma : atOnce)
                        .openServerSocketChannel()
                        .bind(Providers.anyPort());
                SocketChannel client = (movesClient ? atOnce : byRdma).openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (var pair = new Providers.Pair(listener, client, listener.accept())) {
                for (int i = 0; i < 100; i++) {
                    exchange(pair, 1_000, i);
                }
                assertThat(client.toString()).startsWith("RdmaSocketChannel[TCP by ");
                listener.configureBlocking(false);
                assertThat(listener.accept()).isNull();
            }
        }
    }

    @Test
    void aConnectionIsBusyAgainWhenItsUseHasDoubled() {
        var use = new Use(new Pace(10_000, 0, 0));
        assertThat(isBusyAfterRead(use, 9_000)).isFalse();
        assertThat(isBusyAfterRead(use, 0)).as("nothing has come").isFalse();
        assertThat(isBusyAfterRead(use, -1)).as("the end").isFalse();
        use.onWrite(500);
        assertThat(use.isBusy()).as("9,500 bytes and two calls").isTrue();
        use.onWrite(5_000);
        assertThat(use.isBusy()).isFalse();
        assertThat(isBusyAfterRead(use, 5_000)).isTrue();
        use.begin();
        assertThat(isBusyAfterRead(use, 9_000))
                .as("of a connection that has gone back")
                .isFalse();
        assertThat(isBusyAfterRead(use, 9_000)).isTrue();
        var young = new Use(Pace.ofMillis(Long.MAX_VALUE, Long.MAX_VALUE));
        assertThat(isBusyAfterRead(young, 1 << 20)).isFalse();
    }

    private static boolean isBusyAfterRead(Use use, long bytes) {
        use.onRead(bytes);
        return use.isBusy();
    }

    @Test
    void aConnectionIsNamedByBothItsAddresses() throws Exception {
        for (String host : new String[] {"10.1.2.3", "fe80::1234"}) {
            InetAddress at = InetAddress.ofLiteral(host);
            var addresses = new TcpAddresses(new InetSocketAddress(at, 65_535), new InetSocketAddress(at, 1));
            assertThat(TcpAddresses.parse(addresses.name())).contains(addresses);
        }
        assertThat(TcpAddresses.parse(ByteBuffer.allocate(TcpAddresses.BYTES))).isEmpty();
        assertThat(TcpAddresses.parse(ByteBuffer.allocate(3))).isEmpty();
    }

    /// Another program of the host may know both addresses, but not the connection.
    @Test
    void aStreamThatNamesNoConnectionOfTheListenerIsClosed() throws Exception {
        try (var pair = Providers.Pair.of(atOnce)) {
            await(() -> isByRdma(pair.client()) && isByRdma(pair.server()));
            var stranger = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1);
            var known = (InetSocketAddress) pair.listener().getLocalAddress();
            InetSocketAddress at = ChosenDevice.hasPortsOfTcp()
                    ? new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), MappedPort.ask(known, Providers.LIMIT))
                    : known;
            var options = StreamOptions.defaults().withApplication(TcpAddresses.PROTOCOL);
            try (var stream = StreamChannel.connect(at, ChosenDevice.choose(options))) {
                stream.write(new TcpAddresses(stranger, known).name());
                assertThat(stream.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            exchange(pair, 1_000, 3);
        }
    }
}
