package verbena.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.Optional;
import verbena.netty.VerbenaByteBufAllocator;
import verbena.netty.VerbenaChannelOption;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// A transport of Netty.
///
/// @param device of Verbena's; none for the nearest, and for the others
/// @param allocator of registered memory; none for the transport's usual one
record NettyTransport(
        IoHandlerFactory loops,
        Class<? extends ServerChannel> listener,
        Class<? extends Channel> connection,
        Optional<Context> device,
        Optional<ByteBufAllocator> allocator) {
    /// The device of [#verbena()] as the options of the virtual machine name it.
    static final String DEVICE = "verbena.bench.device";
    /// Whether buffers are of memory that is registered there.
    static final String REGISTERED = "verbena.bench.registered";

    /// Returns Netty's own transport by epoll, where that works.
    static NettyTransport ofNetty() {
        return Epoll.isAvailable()
                ? new NettyTransport(
                        EpollIoHandler.newFactory(),
                        EpollServerSocketChannel.class,
                        EpollSocketChannel.class,
                        Optional.empty(),
                        Optional.empty())
                : new NettyTransport(
                        NioIoHandler.newFactory(),
                        NioServerSocketChannel.class,
                        NioSocketChannel.class,
                        Optional.empty(),
                        Optional.empty());
    }

    static NettyTransport verbena() {
        Optional<Context> device = Optional.ofNullable(System.getProperty(DEVICE))
                .map(name -> Device.named(name).open());
        return new NettyTransport(
                VerbenaIoHandler.newFactory(),
                VerbenaServerSocketChannel.class,
                VerbenaSocketChannel.class,
                device,
                device.filter(_ -> Boolean.getBoolean(REGISTERED))
                        .map(at -> new VerbenaByteBufAllocator(at.allocateProtectionDomain())));
    }

    EventLoopGroup group() {
        return new MultiThreadIoEventLoopGroup(1, loops);
    }

    ServerBootstrap server(EventLoopGroup group) {
        var made = new ServerBootstrap().group(group).channel(listener).childOption(ChannelOption.TCP_NODELAY, true);
        device.ifPresent(each -> made.option(VerbenaChannelOption.DEVICE, each));
        allocator.ifPresent(
                each -> made.option(ChannelOption.ALLOCATOR, each).childOption(ChannelOption.ALLOCATOR, each));
        return made;
    }

    Bootstrap client(EventLoopGroup group) {
        var made = new Bootstrap().group(group).channel(connection).option(ChannelOption.TCP_NODELAY, true);
        device.ifPresent(each -> made.option(VerbenaChannelOption.DEVICE, each));
        allocator.ifPresent(each -> made.option(ChannelOption.ALLOCATOR, each));
        return made;
    }
}
