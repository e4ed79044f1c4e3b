package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.netty.NettyEnds.await;
import static verbena.netty.NettyEnds.next;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// What a channel of this transport does is what a socket channel of Netty's does, over every kind of device.
@ParameterizedClass
@ValueSource(strings = {NettyEnds.NEAREST, "shm", "rocev2", "iwarp"})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransportTest {
    @Parameter
    String device;

    private NettyEnds ends;

    @BeforeEach
    void open() {
        ends = new NettyEnds(device);
    }

    @AfterEach
    void close() {
        ends.close();
    }

    private static byte[] random(int length) {
        var made = new byte[length];
        new Random(length).nextBytes(made);
        return made;
    }

    @Test
    void messagesOfAllSizesArriveAsTheyWere() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        for (int size : new int[] {1, 16, 1_000, 1 << 14, 1 << 16, 3_000_001}) {
            byte[] message = random(size);
            var _ = pair.client().writeAndFlush(Unpooled.wrappedBuffer(message));
            assertThat(pair.atServer().take(size)).isEqualTo(message);
            var _ = pair.server().writeAndFlush(Unpooled.directBuffer(size).writeBytes(message));
            assertThat(pair.atClient().take(size)).isEqualTo(message);
        }
    }

    @Test
    void aCompositeBufferArrivesPieceByPiece() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        byte[] message = random(300_000);
        CompositeByteBuf composite = ByteBufAllocator.DEFAULT.compositeBuffer(1_000);
        for (int i = 0; i < 300; i++) {
            ByteBuf piece = i % 2 == 0 ? Unpooled.buffer(1_000) : Unpooled.directBuffer(1_000);
            composite.addComponent(true, piece.writeBytes(message, i * 1_000, 1_000));
        }
        ChannelFuture written = pair.client().writeAndFlush(composite);
        assertThat(pair.atServer().take(message.length)).isEqualTo(message);
        await(written);
        assertThat(composite.refCnt()).isZero();
    }

    @Test
    void aFileArrives(@TempDir Path folder) throws Exception {
        NettyEnds.Pair pair = ends.pair();
        byte[] content = random(700_000);
        Path file = Files.write(folder.resolve("content"), content);
        var _ = pair.client().write(Unpooled.EMPTY_BUFFER);
        var _ = pair.client()
                .writeAndFlush(new DefaultFileRegion(
                        FileChannel.open(file, StandardOpenOption.READ), 100, content.length - 100));
        byte[] arrived = pair.atServer().take(content.length - 100);
        assertThat(arrived).isEqualTo(Arrays.copyOfRange(content, 100, content.length));
    }

    @Test
    void anEndCanBeHalfClosedAndReadOn() throws Exception {
        NettyEnds.Pair pair =
                ends.pair(server -> server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true), client -> {});
        var _ = pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1_000]));
        await(((SocketChannel) pair.client()).shutdownOutput());
        assertThat(pair.atServer().take(1_000)).hasSize(1_000);
        assertThat(next(pair.atServer().userEvents)).isSameAs(ChannelInputShutdownEvent.INSTANCE);
        assertThat(next(pair.atServer().userEvents)).isSameAs(ChannelInputShutdownReadComplete.INSTANCE);
        assertThat(((SocketChannel) pair.server()).isInputShutdown()).isTrue();
        byte[] answer = random(100_000);
        var _ = pair.server().writeAndFlush(Unpooled.wrappedBuffer(answer));
        assertThat(pair.atClient().take(answer.length)).isEqualTo(answer);
        await(pair.server().close());
        await(pair.client().closeFuture());
    }

    @Test
    void withoutHalfClosureTheEndOfInputClosesTheChannel() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        await(((SocketChannel) pair.client()).shutdownOutput());
        await(pair.server().closeFuture());
        await(pair.client().closeFuture());
    }

    @Test
    void aReaderThatDoesNotReadHoldsUpItsWriter() throws Exception {
        NettyEnds.Pair pair = ends.pair(
                server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(
                        ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1 << 16, 1 << 17)));
        byte[] message = random(4_000_000);
        ChannelFuture written = pair.client().writeAndFlush(Unpooled.wrappedBuffer(message));
        assertThat(next(pair.atClient().writability)).isFalse();
        assertThat(written.isDone()).isFalse();
        assertThat(pair.atServer().size()).isZero();
        pair.server().config().setAutoRead(true);
        assertThat(pair.atServer().take(message.length)).isEqualTo(message);
        await(written);
        boolean isWritable = false;
        while (!isWritable) {
            isWritable = next(pair.atClient().writability);
        }
    }

    @Test
    void oneReadGivesWhatOneReadMayGive() throws Exception {
        NettyEnds.Pair pair = ends.pair(server -> server.childOption(ChannelOption.AUTO_READ, false), client -> {});
        await(pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[100])));
        pair.server().read();
        assertThat(pair.atServer().take(100)).hasSize(100);
    }

    @Test
    void closingTellsThePeerAfterAllBytes() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        byte[] message = random(100_000);
        await(pair.client().writeAndFlush(Unpooled.wrappedBuffer(message)));
        await(pair.client().close());
        assertThat(pair.atServer().take(message.length)).isEqualTo(message);
        assertThat(pair.atServer().end.get(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
        assertThat(pair.atServer().failure).isNotDone();
        assertThat(pair.client().isOpen()).isFalse();
    }

    @Test
    void aLingerOfZeroResetsThePeer() throws Exception {
        NettyEnds.Pair pair = ends.pair(server -> {}, client -> client.option(ChannelOption.SO_LINGER, 0));
        await(pair.client().close());
        assertThat(pair.atServer().failure.get(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(IOException.class);
        await(pair.server().closeFuture());
    }

    @Test
    void aLingerWaitsUntilAllBytesAreThere() throws Exception {
        NettyEnds.Pair pair = ends.pair(server -> {}, client -> client.option(ChannelOption.SO_LINGER, 30));
        var _ = pair.client().writeAndFlush(Unpooled.wrappedBuffer(random(50_000)));
        await(pair.client().close());
        assertThat(pair.atServer().take(50_000)).isEqualTo(random(50_000));
        await(pair.server().closeFuture());
    }

    @Test
    void aPortWithoutListenerRefuses() throws Exception {
        Channel listener = ends.listen(ends.server(_ -> {}));
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        await(listener.close());
        ChannelFuture refused = ends.client(new Collected()).connect(ends.address(port));
        assertThatThrownBy(() -> await(refused)).isInstanceOf(ConnectException.class);
        await(refused.channel().closeFuture());
    }

    @Test
    void aChannelCanBeClosedWhileItConnects() throws Exception {
        Channel listener = ends.listen(ends.server(_ -> {}));
        for (int i = 0; i < 20; i++) {
            ChannelFuture connecting = ends.client(new Collected()).connect(listener.localAddress());
            await(connecting.channel().close());
            assertThat(connecting.await(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
            if (!connecting.isSuccess()) {
                assertThat(connecting.cause()).isInstanceOf(ClosedChannelException.class);
            }
        }
    }

    @Test
    void cancellingTheConnectClosesTheChannel() throws Exception {
        Channel listener = ends.listen(ends.server(_ -> {}));
        ChannelFuture connecting = ends.client(new Collected()).connect(listener.localAddress());
        if (connecting.cancel(false)) {
            await(connecting.channel().closeFuture());
        }
    }

    @Test
    void aPortIsTakenOnce() throws Exception {
        Channel listener = ends.listen(ends.server(_ -> {}));
        ChannelFuture second = ends.server(_ -> {}).bind(listener.localAddress());
        assertThatThrownBy(() -> await(second)).isInstanceOf(IOException.class);
    }

    @Test
    void addressesAreThoseOfTheConnection() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        assertThat(pair.server().remoteAddress()).isEqualTo(pair.client().localAddress());
        assertThat(pair.server().localAddress()).isEqualTo(pair.client().remoteAddress());
    }

    @Test
    void tasksOfOtherThreadsAndTimersWakeTheLoop() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        for (int i = 0; i < 500; i++) {
            var ran = new CompletableFuture<Boolean>();
            pair.client().eventLoop().execute(() -> ran.complete(true));
            assertThat(ran.get(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        await(pair.client().eventLoop().schedule(() -> true, 1, TimeUnit.MILLISECONDS));
    }

    @Test
    void endingTheGroupClosesItsChannels() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        await(ends.clientGroup.shutdownGracefully(
                NettyEnds.QUIET_MILLIS, NettyEnds.PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS));
        assertThat(pair.client().isOpen()).isFalse();
        await(pair.server().closeFuture());
    }

    @Test
    void writesWithoutAConnectionFail() throws Exception {
        ChannelFuture registered = ends.client(new Collected()).register();
        await(registered);
        ChannelFuture written = registered.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
        assertThatThrownBy(() -> await(written)).isInstanceOf(NotYetConnectedException.class);
        ChannelFuture other = registered.channel().writeAndFlush("text");
        assertThatThrownBy(() -> await(other)).isInstanceOf(UnsupportedOperationException.class);
        await(registered.channel().close());
    }

    @Test
    void nothingIsShutDownAfterTheClose() throws Exception {
        NettyEnds.Pair pair = ends.pair();
        var client = (SocketChannel) pair.client();
        ChannelFuture[] shut = client.eventLoop()
                .submit(() -> {
                    var _ = client.close(); // the stream is closed in another thread, perhaps later
                    return new ChannelFuture[] {client.shutdownInput(), client.shutdownOutput()};
                })
                .get();
        for (ChannelFuture each : shut) {
            assertThatThrownBy(() -> await(each)).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void aShutdownBeforeTheConnectionFailsAndChangesNothing() throws Exception {
        Channel listener = ends.listen(ends.server(channel -> {
            var _ = channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[10]));
        }));
        var atClient = new Collected();
        ChannelFuture registered = ends.client(atClient).register();
        await(registered);
        var client = (SocketChannel) registered.channel();
        ChannelFuture shut = client.shutdownInput();
        assertThatThrownBy(() -> await(shut)).isInstanceOf(NotYetConnectedException.class);
        await(client.connect(listener.localAddress()));
        assertThat(client.isInputShutdown()).isFalse();
        assertThat(atClient.take(10)).hasSize(10);
    }

    @Test
    void theEndIsToldWithoutAReadOnceAllIsRead() throws Exception {
        NettyEnds.Pair pair = ends.pair(
                server -> server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                        .childOption(ChannelOption.AUTO_READ, false),
                client -> {});
        await(pair.client().writeAndFlush(Unpooled.wrappedBuffer(random(1_000))));
        pair.server().read();
        assertThat(pair.atServer().take(1_000)).isEqualTo(random(1_000));
        await(((SocketChannel) pair.client()).shutdownOutput());
        assertThat(next(pair.atServer().userEvents)).isSameAs(ChannelInputShutdownEvent.INSTANCE);
        assertThat(next(pair.atServer().userEvents)).isSameAs(ChannelInputShutdownReadComplete.INSTANCE);
    }

    @Test
    void whatWasNotReadComesBeforeTheEnd() throws Exception {
        NettyEnds.Pair pair = ends.pair(server -> server.childOption(ChannelOption.AUTO_READ, false), client -> {});
        await(pair.client().writeAndFlush(Unpooled.wrappedBuffer(random(50_000))));
        await(pair.client().close());
        pair.server().config().setAutoRead(true);
        assertThat(pair.atServer().take(50_000)).isEqualTo(random(50_000));
        await(pair.server().closeFuture());
    }

    @Test
    void aResetIsToldWithoutARead() throws Exception {
        NettyEnds.Pair pair = ends.pair(
                server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.SO_LINGER, 0));
        await(pair.client().close());
        assertThat(pair.atServer().failure.get(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(IOException.class);
        await(pair.server().closeFuture());
    }

    @Test
    void aListenerOfTheConnectThatClosesLeavesBothEvents() throws Exception {
        Channel listener = ends.listen(ends.server(_ -> {}));
        var atClient = new Collected();
        ChannelFuture connecting =
                ends.client(atClient).connect(listener.localAddress()).addListener(ChannelFutureListener.CLOSE);
        await(connecting.channel().closeFuture());
        assertThat(atClient.end.get(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
        assertThat(atClient.begin).isCompleted();
    }

    @Test
    void aReadBeforeTheConnectionIsRemembered() throws Exception {
        var atClient = new Collected();
        Channel listener = ends.listen(ends.server(channel -> {
            var _ = channel.writeAndFlush(Unpooled.wrappedBuffer(random(100)));
        }));
        var client = ends.client(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(atClient);
                channel.read();
            }
        });
        Channel _ = NettyEnds.connect(client.option(ChannelOption.AUTO_READ, false), listener);
        assertThat(atClient.take(100)).isEqualTo(random(100));
    }

    @Test
    void aWildcardAddressIsThisHost() throws Exception {
        Channel listener = NettyEnds.listen(ends.server(_ -> {}), new InetSocketAddress(0));
        Bootstrap client = ends.client(new Collected());
        if (!device.equals(NettyEnds.NEAREST)) {
            client.option(VerbenaChannelOption.DEVICE, ends.serverDevice()); // its address is that of no other device
        }
        assertThat(NettyEnds.connect(client, listener).isActive()).isTrue();
    }

    @Test
    void anEndThatHasShutItsOutputCloses() throws Exception {
        for (int linger : new int[] {-1, 0, 1}) {
            NettyEnds.Pair pair = ends.pair(server -> {}, client -> client.option(ChannelOption.SO_LINGER, linger));
            var client = (SocketChannel) pair.client();
            await(client.shutdownOutput());
            assertThat(client.isOutputShutdown()).isTrue();
            ChannelFuture written = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
            assertThatThrownBy(() -> await(written)).isInstanceOf(IOException.class);
            await(pair.server().closeFuture());
            await(client.close());
            ChannelFuture again = client.shutdownOutput();
            assertThatThrownBy(() -> await(again)).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void aSuspendedEventLoopGoesOnInAnotherThread() throws Exception {
        for (int round = 0; round < 3; round++) {
            NettyEnds.Pair pair = ends.pair();
            await(pair.client().close());
            await(pair.server().closeFuture());
            suspend((SingleThreadIoEventLoop) ends.clientGroup.next());
        }
    }

    private static void suspend(SingleThreadIoEventLoop loop) {
        assertThat(loop.trySuspend()).isTrue();
        while (!loop.isSuspended()) {
            Thread.onSpinWait();
        }
    }
}
