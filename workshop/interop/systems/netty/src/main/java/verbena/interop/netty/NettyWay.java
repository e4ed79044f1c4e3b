package verbena.interop.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.concurrent.TimeUnit;

/// A transport of Netty, as a system under test uses it.
public interface NettyWay {
    /// The unmodified one, to which the agent gives other channels.
    NettyWay NIO = new NettyWay() {
        @Override
        public IoHandlerFactory loops() {
            return NioIoHandler.newFactory();
        }

        @Override
        public ServerBootstrap on(ServerBootstrap server) {
            return server.channel(NioServerSocketChannel.class);
        }

        @Override
        public Bootstrap on(Bootstrap client) {
            return client.channel(NioSocketChannel.class);
        }

        @Override
        public void end() {}
    };

    /// For a group of event loops.
    IoHandlerFactory loops();

    /// Chooses the channels of a server.
    ServerBootstrap on(ServerBootstrap server);

    /// Chooses the channel of a client.
    Bootstrap on(Bootstrap client);

    /// Frees what it has, after its event loops have ended.
    void end() throws Exception;

    /// Ends a group, and then this.
    default void end(MultiThreadIoEventLoopGroup group) throws Exception {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        end();
    }
}
