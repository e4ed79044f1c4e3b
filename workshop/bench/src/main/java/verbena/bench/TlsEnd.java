package verbena.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.tools.report.Result;

/// One end of a stream of TLS 1.3 over Netty's own transport. The last message of a stream ends with a byte that is
/// not zero, and the server answers it.
final class TlsEnd implements WorkerEnd {
    /// The names in the file of keys.
    static final String ALIAS = "bench";

    static final String PASSWORD = "not a secret";

    private static final String SUITE = "TLS_AES_128_GCM_SHA256";
    /// The bytes that wait to be sent.
    private static final int WINDOW = 1 << 20;

    private static final long TIMEOUT_SECONDS = 20;

    private final SslProvider provider;
    private final NettyTransport transport = NettyTransport.ofNetty();
    private final EventLoopGroup group = transport.group();

    TlsEnd(SslProvider provider) {
        if (provider == SslProvider.OPENSSL && !OpenSsl.isAvailable()) {
            throw new Child.Failed("netty-tcnative has no library for this machine");
        }
        this.provider = provider;
    }

    /// Takes the orders `listen KEYS` and `stream PORT SIZE SECONDS`.
    @Override
    public Object order(String[] words) throws Exception {
        if (words[0].equals("listen")) {
            return Map.of("port", listen(new File(words[1])));
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1]));
        return stream(address, Integer.parseInt(words[2]), Double.parseDouble(words[3]));
    }

    private SslContextBuilder tls(SslContextBuilder made) {
        SslContextBuilder same = made.sslProvider(provider).protocols("TLSv1.3");
        return provider == SslProvider.JDK ? same.ciphers(List.of(SUITE)) : same; // BoringSSL has no choice of them
    }

    private int listen(File file) throws Exception {
        KeyStore keys = KeyStore.getInstance(file, PASSWORD.toCharArray());
        SslContext context = tls(SslContextBuilder.forServer(
                        (PrivateKey) keys.getKey(ALIAS, PASSWORD.toCharArray()),
                        (X509Certificate) keys.getCertificate(ALIAS)))
                .build();
        Channel channel = transport
                .server(group)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel made) {
                        made.pipeline().addLast(context.newHandler(made.alloc()), new Sink());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private Result stream(InetSocketAddress address, int size, double seconds) throws Exception {
        SslContext context = tls(SslContextBuilder.forClient())
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .build();
        var source = new Source(size, seconds);
        Channel channel = transport
                .client(group)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(WINDOW / 2, WINDOW))
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel made) {
                        made.pipeline().addLast(context.newHandler(made.alloc()), source);
                    }
                })
                .connect(address)
                .sync()
                .channel();
        try {
            return source.result.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } finally {
            channel.close().sync();
        }
    }

    /// Throws away what it receives, and answers the end.
    private static final class Sink extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            boolean isEnd = bytes.isReadable() && bytes.getByte(bytes.writerIndex() - 1) != 0;
            bytes.release();
            if (isEnd) {
                context.writeAndFlush(context.alloc().directBuffer(1).writeByte(1));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    /// Sends as much as there is room for until its time is over, and waits for the answer to the end.
    private static final class Source extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Result> result = new CompletableFuture<>();
        private final int size;
        private final double seconds;
        private final ByteBuf message;
        private final ByteBuf last;
        private long start;
        private long messages;
        private boolean isOver;

        Source(int size, double seconds) {
            this.size = size;
            this.seconds = seconds;
            message = Unpooled.directBuffer(size).writeZero(size);
            last = Unpooled.directBuffer(size).writeZero(size - 1).writeByte(1);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (!(event instanceof SslHandshakeCompletionEvent done)) {
                return;
            }
            if (!done.isSuccess()) {
                result.completeExceptionally(done.cause());
                return;
            }
            String suite = context.pipeline()
                    .get(SslHandler.class)
                    .engine()
                    .getSession()
                    .getCipherSuite();
            if (!suite.equals(SUITE)) {
                result.completeExceptionally(new Child.Failed("TLS: agreed on " + suite + ", not " + SUITE));
                return;
            }
            start = System.nanoTime();
            send(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send(context);
        }

        private void send(ChannelHandlerContext context) {
            while (start != 0 && !isOver && context.channel().isWritable()) {
                isOver = System.nanoTime() - start > seconds * 1e9;
                messages++;
                context.writeAndFlush((isOver ? last : message).retainedDuplicate());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object answer) {
            ReferenceCountUtil.release(answer);
            result.complete(Figures.stream(size, messages, (System.nanoTime() - start) / 1e9));
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            message.release();
            last.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            result.completeExceptionally(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            result.completeExceptionally(new Child.Failed("TLS: the connection has ended"));
        }
    }
}
