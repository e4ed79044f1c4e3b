package verbena.interop.nettysuitenative;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import verbena.interop.nettynative.NativeWay;

/// Our channels, where a test of the suite asks for all that there are.
final class NativeChannels extends SocketTestPermutation {
    static final NativeChannels ALL = new NativeChannels();

    final NativeWay way = new NativeWay();
    private final EventLoopGroup group =
            new MultiThreadIoEventLoopGroup(NUM_THREADS, new DefaultThreadFactory("suite", true), way.loops());

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return List.of(() -> way.on(new ServerBootstrap().group(group)));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return List.of(() -> way.on(new Bootstrap().group(group)));
    }
}
