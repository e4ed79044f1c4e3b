package verbena.interop.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrame;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// Netty's HTTP/2: streams of one connection, several at a time, whose bodies come back as they were sent.
public final class NettyHttp2 implements SystemUnderTest {
    private static final int AT_ONCE = 8;
    private static final int BODY = 30_000;
    private static final int WINDOW = 1 << 20;
    private static final long PATIENCE_SECONDS = 20;

    private final NettyWay way;

    /// Made by its name.
    public NettyHttp2() {
        this(NettyWay.NIO);
    }

    /// The same over another transport.
    public NettyHttp2(NettyWay way) {
        this.way = way;
    }

    @Override
    public Serving serve(Job job) throws Exception {
        var group = new MultiThreadIoEventLoopGroup(2, way.loops());
        Channel listener = way.on(new ServerBootstrap().group(group))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forServer()
                                                .initialSettings(settings())
                                                .build(),
                                        new Http2MultiplexHandler(new Returning()));
                    }
                })
                .bind("127.0.0.1", 0)
                .sync()
                .channel();
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        return new Serving(port, () -> way.end(group));
    }

    private static Http2Settings settings() {
        return Http2Settings.defaultSettings().initialWindowSize(WINDOW);
    }

    /// Sends the frames of a stream back.
    @ChannelHandler.Sharable
    private static final class Returning extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof Http2HeadersFrame) {
                var _ = context.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200")));
            } else if (message instanceof Http2DataFrame data) {
                var _ = context.write(new DefaultHttp2DataFrame(data.content(), data.isEndStream()));
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int rounds = job.size(20, 200);
        var group = new MultiThreadIoEventLoopGroup(1, way.loops());
        try {
            Channel connection = way.on(new Bootstrap().group(group))
                    .handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(
                                            Http2FrameCodecBuilder.forClient()
                                                    .initialSettings(settings())
                                                    .build(),
                                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                        }
                    })
                    .connect(server)
                    .sync()
                    .channel();
            for (int i = 0; i < rounds; i++) {
                if (i == rounds / 2) {
                    job.halfway();
                }
                round(connection, i);
            }
            connection.close().sync();
        } finally {
            way.end(group);
        }
        return rounds * AT_ONCE + " streams of up to 30 kB, " + AT_ONCE + " at a time, each body compared";
    }

    private static void round(Channel connection, int round) throws Exception {
        List<CompletableFuture<byte[]>> answers = new ArrayList<>();
        List<byte[]> bodies = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            byte[] body = Job.pattern(BODY * (i + 1) / AT_ONCE, (long) round * AT_ONCE + i);
            var answer = new CompletableFuture<byte[]>();
            Http2StreamChannel stream = new Http2StreamChannelBootstrap(connection)
                    .handler(new Receiving(answer))
                    .open()
                    .sync()
                    .getNow();
            var headers = new DefaultHttp2Headers().method("POST").path("/echo").scheme("http");
            var _ = stream.write(new DefaultHttp2HeadersFrame(headers));
            var _ = stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(body), true));
            answers.add(answer);
            bodies.add(body);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            Job.same(bodies.get(i), answers.get(i).get(PATIENCE_SECONDS, TimeUnit.SECONDS), "body " + round);
        }
    }

    /// Gathers the body of one answer.
    private static final class Receiving extends SimpleChannelInboundHandler<Http2StreamFrame> {
        private final CompletableFuture<byte[]> answer;
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();

        Receiving(CompletableFuture<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Http2StreamFrame frame) throws IOException {
            if (frame instanceof Http2DataFrame data) {
                ByteBuf content = data.content();
                content.readBytes(body, content.readableBytes());
                if (data.isEndStream()) {
                    answer.complete(body.toByteArray());
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            answer.completeExceptionally(new IOException("the stream has ended early"));
        }
    }
}
