package verbena.interop.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// A transport of Netty: an echo of messages of several sizes, one after the other and many at once.
public final class NettyEcho implements SystemUnderTest {
    private static final int[] SIZES = {16, 1 << 10, 16 << 10, 64 << 10};
    private static final int AT_ONCE = 64;
    private static final long PATIENCE_SECONDS = 20;

    private final NettyWay way;

    /// Made by its name.
    public NettyEcho() {
        this(NettyWay.NIO);
    }

    /// The same over another transport.
    public NettyEcho(NettyWay way) {
        this.way = way;
    }

    @Override
    public Serving serve(Job job) throws Exception {
        var group = new MultiThreadIoEventLoopGroup(2, way.loops());
        Channel listener = way.on(new ServerBootstrap().group(group))
                .childHandler(new Returning())
                .bind("127.0.0.1", 0)
                .sync()
                .channel();
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        return new Serving(port, () -> way.end(group));
    }

    /// Sends back what comes.
    private static final class Returning extends ChannelInitializer<SocketChannel> {
        @Override
        protected void initChannel(SocketChannel channel) {
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                    var _ = context.write(message);
                }

                @Override
                public void channelReadComplete(ChannelHandlerContext context) {
                    context.flush();
                }
            });
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int rounds = job.size(100, 2_000);
        var group = new MultiThreadIoEventLoopGroup(1, way.loops());
        var arrivals = new LinkedBlockingQueue<byte[]>();
        try {
            Channel channel = way.on(new Bootstrap().group(group))
                    .handler(new Receiving(arrivals))
                    .connect(server)
                    .sync()
                    .channel();
            for (int i = 0; i < rounds; i++) {
                if (i == rounds / 2) {
                    job.halfway();
                }
                for (int size : SIZES) {
                    exchange(channel, arrivals, Job.pattern(size, i));
                }
            }
            for (int i = 0; i < rounds; i += AT_ONCE) {
                exchange(channel, arrivals, Job.pattern(AT_ONCE * SIZES[1], i), AT_ONCE);
            }
            channel.close().sync();
        } finally {
            way.end(group);
        }
        return rounds * SIZES.length + " messages of 16 B to 64 KiB, and " + AT_ONCE + " at once, each byte compared";
    }

    /// Hands over what comes; an end of the connection as no bytes.
    private static final class Receiving extends SimpleChannelInboundHandler<ByteBuf> {
        private final LinkedBlockingQueue<byte[]> arrivals;

        Receiving(LinkedBlockingQueue<byte[]> arrivals) {
            this.arrivals = arrivals;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            var bytes = new byte[message.readableBytes()];
            message.readBytes(bytes);
            arrivals.add(bytes);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            arrivals.add(new byte[0]);
        }
    }

    private static void exchange(Channel channel, LinkedBlockingQueue<byte[]> arrivals, byte[] sent) throws Exception {
        exchange(channel, arrivals, sent, 1);
    }

    private static void exchange(Channel channel, LinkedBlockingQueue<byte[]> arrivals, byte[] sent, int pieces)
            throws Exception {
        int size = sent.length / pieces;
        for (int i = 0; i < pieces; i++) {
            var _ = channel.write(Unpooled.wrappedBuffer(sent, i * size, size));
        }
        channel.flush();
        var arrived = new byte[sent.length];
        int length = 0;
        while (length < sent.length) {
            byte[] next = arrivals.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new IOException("no answer for " + PATIENCE_SECONDS + " s");
            }
            if (next.length == 0) {
                throw new IOException("the server has closed the connection");
            }
            System.arraycopy(next, 0, arrived, length, next.length);
            length += next.length;
        }
        Job.same(sent, arrived, "the echo of " + sent.length + " bytes");
    }
}
