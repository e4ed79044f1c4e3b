import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.handler.codec.string.StringEncoder;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;

/// An echo of lines. Pipelines and handlers are those of any Netty program: only the event loops and the two channel
/// classes are Verbena's.
///
/// Prints: hello by RDMA
public class NettyEcho {
    public static void main(String[] args) throws Exception {
        var group = new MultiThreadIoEventLoopGroup(VerbenaIoHandler.newFactory());
        var answer = new CompletableFuture<String>();
        try {
            Channel server = new ServerBootstrap()
                    .group(group)
                    .channel(VerbenaServerSocketChannel.class)
                    .childHandler(lines(new Returning()))
                    .bind(new InetSocketAddress("127.0.0.1", 0))
                    .sync()
                    .channel();
            Channel client = new Bootstrap()
                    .group(group)
                    .channel(VerbenaSocketChannel.class)
                    .handler(lines(new Taking(answer)))
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            client.writeAndFlush("hello by RDMA\n").sync();
            System.out.println(answer.get(60, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    private static ChannelInitializer<Channel> lines(SimpleChannelInboundHandler<String> last) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new LineBasedFrameDecoder(1024), new StringDecoder(), new StringEncoder(), last);
            }
        };
    }

    private static class Returning extends SimpleChannelInboundHandler<String> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, String line) {
            context.writeAndFlush(line + "\n");
        }
    }

    private static class Taking extends SimpleChannelInboundHandler<String> {
        private final CompletableFuture<String> answer;

        Taking(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, String line) {
            answer.complete(line);
        }
    }
}
