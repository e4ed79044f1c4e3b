package verbena.nio.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// An echo over Netty's NIO transport. `server` prints its port and ends with its input; `client PORT BYTES`
/// compares what comes back; `time PORT ROUNDS` prints the median of round trips of 16 bytes, in microseconds.
public final class NettyEcho {
    private static final String HOST = System.getProperty("host", "127.0.0.1");

    private NettyEcho() {}

    public static void main(String[] args) throws Exception {
        var group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            switch (args[0]) {
                case "server" -> serve(group);
                case "client" -> exchange(group, Integer.parseInt(args[1]), Integer.parseInt(args[2]));
                default -> time(group, Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            }
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    private static void serve(MultiThreadIoEventLoopGroup group) throws Exception {
        Channel listener = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(with(() -> new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        var _ = context.write(message);
                    }

                    @Override
                    public void channelReadComplete(ChannelHandlerContext context) {
                        context.flush();
                    }
                }))
                .bind(HOST, 0)
                .sync()
                .channel();
        System.out.println(((InetSocketAddress) listener.localAddress()).getPort());
        while (System.in.read() >= 0) {}
        listener.close().sync();
    }

    private static ChannelInitializer<SocketChannel> with(Supplier<ChannelInboundHandlerAdapter> handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(handler.get());
            }
        };
    }

    private static Channel connect(MultiThreadIoEventLoopGroup group, int port, ChannelInboundHandlerAdapter handler)
            throws Exception {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(with(() -> handler))
                .connect(HOST, port)
                .sync()
                .channel();
    }

    private static void exchange(MultiThreadIoEventLoopGroup group, int port, int bytes) throws Exception {
        byte[] all = new byte[bytes];
        new Random(1).nextBytes(all);
        byte[] back = new byte[bytes];
        var done = new CompletableFuture<Void>();
        Channel channel = connect(group, port, new ChannelInboundHandlerAdapter() {
            private int at;

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                var buffer = (ByteBuf) message;
                int n = buffer.readableBytes();
                buffer.readBytes(back, at, n);
                buffer.release();
                at += n;
                if (at == bytes) {
                    done.complete(null);
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                done.completeExceptionally(new IllegalStateException("closed after " + at + " bytes"));
            }
        });
        for (int at = 0; at < bytes; ) {
            int n = Math.min(bytes - at, 1 + (at * 7 + 13) % 60_000);
            var _ = channel.write(Unpooled.wrappedBuffer(all, at, n));
            at += n;
        }
        channel.flush();
        done.get();
        if (!Arrays.equals(all, back)) {
            throw new IllegalStateException("the echo differs");
        }
        channel.close().sync();
        System.out.println("same");
    }

    private static void time(MultiThreadIoEventLoopGroup group, int port, int rounds) throws Exception {
        long[] nanos = new long[rounds];
        var done = new CompletableFuture<Void>();
        Channel channel = connect(group, port, new ChannelInboundHandlerAdapter() {
            private int round;
            private int left = 16;
            private long start;

            @Override
            public void channelActive(ChannelHandlerContext context) {
                start = System.nanoTime();
                var _ = context.writeAndFlush(Unpooled.wrappedBuffer(new byte[16]));
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                var buffer = (ByteBuf) message;
                left -= buffer.readableBytes();
                buffer.release();
                if (left > 0) {
                    return;
                }
                long now = System.nanoTime();
                nanos[round++] = now - start;
                if (round == rounds) {
                    done.complete(null);
                    return;
                }
                left = 16;
                start = now;
                var _ = context.writeAndFlush(Unpooled.wrappedBuffer(new byte[16]));
            }
        });
        done.get();
        channel.close().sync();
        long[] later = Arrays.copyOfRange(nanos, rounds / 2, rounds);
        Arrays.sort(later);
        System.out.printf("p50 %.1f p99 %.1f%n", later[later.length / 2] / 1e3, later[later.length * 99 / 100] / 1e3);
    }
}
