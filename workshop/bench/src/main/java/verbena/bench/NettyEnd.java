package verbena.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.tools.report.Result;

/// Netty's echo over a transport: it sends back all that it receives.
final class NettyEnd implements WorkerEnd {
    private static final long TIMEOUT_SECONDS = 20;
    private static final int SAMPLES_MAX = 1_000_000;

    private final NettyTransport transport;
    private final EventLoopGroup group;

    NettyEnd(NettyTransport transport) {
        this.transport = transport;
        this.group = transport.group();
    }

    @Override
    public Object order(String[] words) throws Exception {
        if (words[0].equals("listen")) {
            return Map.of("port", listen());
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1]));
        int size = Integer.parseInt(words[2]);
        return echo(address, size, Double.parseDouble(words[3]), Integer.parseInt(words[4]));
    }

    private int listen() throws InterruptedException {
        Channel channel = transport
                .server(group)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel made) {
                        made.pipeline().addLast(new Echo());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private Result echo(InetSocketAddress address, int size, double seconds, int window) throws Exception {
        var client = new Client(size, seconds, window);
        Channel channel =
                transport.client(group).handler(client).connect(address).sync().channel();
        try {
            return client.result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } finally {
            channel.close().sync();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /// Keeps a window of messages under way until its time is over.
    private static final class Client extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Result> result = new CompletableFuture<>();
        private final int size;
        private final int window;
        private final double seconds;
        private final long[] nanos = new long[SAMPLES_MAX];
        private long start;
        private long sent;
        private long bytesBack;
        private long messages;
        private int samples;

        Client(int size, double seconds, int window) {
            this.size = size;
            this.seconds = seconds;
            this.window = window;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            start = sent = System.nanoTime();
            for (int i = 0; i < window; i++) {
                send(context);
            }
            context.flush();
        }

        private void send(ChannelHandlerContext context) {
            ByteBuf message = context.alloc().directBuffer(size, size);
            message.writerIndex(size);
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            bytesBack += ((ByteBuf) message).readableBytes();
            ReferenceCountUtil.release(message);
            while (bytesBack >= size) {
                bytesBack -= size;
                messages++;
                long now = System.nanoTime();
                if (window == 1 && samples < SAMPLES_MAX) {
                    nanos[samples++] = now - sent;
                }
                sent = now;
                if (now - start > seconds * 1e9) {
                    result.complete(
                            window == 1
                                    ? Figures.roundTrips(size, nanos, samples)
                                    : Figures.stream(size, messages, (now - start) / 1e9));
                    return;
                }
                send(context);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            result.completeExceptionally(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            result.completeExceptionally(new Child.Failed("Netty: the connection has ended"));
        }
    }
}
