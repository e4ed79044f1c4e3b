package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.netty.NettyEnds.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.stream.StreamChannel;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// The code of docs/netty.md is here, and works.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NettyDocTest {
    private static final String CODE = """
            var group = new MultiThreadIoEventLoopGroup(VerbenaIoHandler.newFactory());
            new ServerBootstrap().group(group).channel(VerbenaServerSocketChannel.class)
            new Bootstrap().group(group).channel(VerbenaSocketChannel.class)
            """;

    private static final String REGISTERED = """
            var allocator = new VerbenaByteBufAllocator(device.allocateProtectionDomain());
            .option(ChannelOption.ALLOCATOR, allocator).childOption(ChannelOption.ALLOCATOR, allocator)
            new Bootstrap().option(ChannelOption.ALLOCATOR, allocator)
            """;

    /// Sends back what comes.
    private static final class Returning extends ChannelInitializer<SocketChannel> {
        @Override
        protected void initChannel(SocketChannel channel) {
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    var _ = context.writeAndFlush(message);
                }
            });
        }
    }

    @Test
    void theLinesOfTheDocumentAreThoseThatWork() throws Exception {
        String document = Files.readString(Path.of(System.getProperty("verbena.root"), "docs", "netty.md"));
        CODE.lines().forEach(line -> assertThat(document).contains(line));
        var group = new MultiThreadIoEventLoopGroup(VerbenaIoHandler.newFactory());
        ChannelFuture bound = new ServerBootstrap()
                .group(group)
                .channel(VerbenaServerSocketChannel.class)
                .childHandler(new Returning())
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        await(bound);
        var hears = new Collected();
        ChannelFuture connected = new Bootstrap()
                .group(group)
                .channel(VerbenaSocketChannel.class)
                .handler(hears)
                .connect(bound.channel().localAddress());
        await(connected);
        Channel client = connected.channel();
        var _ = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1, 2, 3}));
        assertThat(hears.take(3)).containsExactly(1, 2, 3);
        await(group.shutdownGracefully(
                NettyEnds.QUIET_MILLIS, NettyEnds.PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS));
    }

    @Test
    void theExamplePrintsWhatItSays() throws Exception {
        Path example = Path.of(System.getProperty("verbena.root"), "examples", "netty", "NettyEcho.java");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        example.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(Files.readString(example)).contains("/// Prints: " + said);
            assertThat(program.waitFor()).isZero();
        } finally {
            program.destroyForcibly();
        }
    }

    @Test
    void theLinesOfTheDocumentForRegisteredMemoryAreThoseThatWork() throws Exception {
        String document = Files.readString(Path.of(System.getProperty("verbena.root"), "docs", "netty.md"));
        REGISTERED.lines().forEach(line -> assertThat(document).contains(line));
        byte[] message = new byte[100_000];
        new Random(1).nextBytes(message);
        try (Context device = Device.named("shm").open()) {
            var allocator = new VerbenaByteBufAllocator(device.allocateProtectionDomain());
            var group = new MultiThreadIoEventLoopGroup(VerbenaIoHandler.newFactory());
            ChannelFuture bound = new ServerBootstrap()
                    .group(group)
                    .channel(VerbenaServerSocketChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator)
                    .childOption(ChannelOption.ALLOCATOR, allocator)
                    .childHandler(new Returning())
                    .bind(new InetSocketAddress(device.gid(1, 0).gid().address(), 0));
            await(bound);
            var hears = new Collected();
            ChannelFuture connected = new Bootstrap()
                    .group(group)
                    .channel(VerbenaSocketChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator)
                    .handler(hears)
                    .connect(bound.channel().localAddress());
            await(connected);
            long before = NettyCounters.DIRECT.sum();
            await(connected.channel().writeAndFlush(allocator.directBuffer().writeBytes(message)));
            assertThat(hears.take(message.length)).isEqualTo(message);
            assertThat(NettyCounters.DIRECT.sum() - before)
                    .as("client, and for the most part the server's echo")
                    .isGreaterThan(message.length);
            await(group.shutdownGracefully(
                    NettyEnds.QUIET_MILLIS, NettyEnds.PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS));
            assertThat(StreamChannel.awaitCloses(Duration.ofSeconds(NettyEnds.PATIENCE_SECONDS)))
                    .isTrue();
            allocator.close();
            allocator.domain().close();
        }
    }
}
