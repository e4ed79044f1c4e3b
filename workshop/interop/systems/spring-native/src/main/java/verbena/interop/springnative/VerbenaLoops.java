package verbena.interop.springnative;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import java.util.Optional;
import reactor.netty.resources.LoopResources;
import verbena.netty.VerbenaChannelOption;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.verbs.Context;

/// Event loops and channels of our transport for Reactor Netty.
final class VerbenaLoops implements LoopResources {
    private final MultiThreadIoEventLoopGroup group;
    private final Optional<Context> device;

    /// @param device for all channels; empty for the nearest
    VerbenaLoops(MultiThreadIoEventLoopGroup group, Optional<Context> device) {
        this.group = group;
        this.device = device;
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return group;
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        Channel made =
                type == ServerSocketChannel.class ? new VerbenaServerSocketChannel() : new VerbenaSocketChannel();
        device.ifPresent(each -> made.config().setOption(VerbenaChannelOption.DEVICE, each));
        return type.cast(made);
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        return (type == ServerSocketChannel.class ? VerbenaServerSocketChannel.class : VerbenaSocketChannel.class)
                .asSubclass(type);
    }
}
