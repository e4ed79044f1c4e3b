package verbena.interop.grpcnative;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.Optional;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.grpc.GrpcCalls;
import verbena.interop.grpc.GrpcWay;
import verbena.interop.nettynative.NativeWay;
import verbena.netty.VerbenaChannelOption;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.verbs.Context;

/// gRPC over Verbena's own transport of Netty.
public final class NativeGrpc implements SystemUnderTest {
    private final GrpcCalls exercise = new GrpcCalls(new Verbena());

    /// Made by its name.
    public NativeGrpc() {}

    private static final class Verbena implements GrpcWay {
        private final NativeWay netty = new NativeWay();
        private final Optional<Context> device = netty.device();
        private final MultiThreadIoEventLoopGroup group =
                new MultiThreadIoEventLoopGroup(2, VerbenaIoHandler.newFactory());

        @Override
        public NettyServerBuilder on(NettyServerBuilder server) {
            device.ifPresent(each -> server.withOption(VerbenaChannelOption.DEVICE, each));
            return server.channelType(VerbenaServerSocketChannel.class)
                    .bossEventLoopGroup(group)
                    .workerEventLoopGroup(group);
        }

        @Override
        public NettyChannelBuilder on(NettyChannelBuilder client) {
            device.ifPresent(each -> client.withOption(VerbenaChannelOption.DEVICE, each));
            return client.channelType(VerbenaSocketChannel.class).eventLoopGroup(group);
        }

        @Override
        public void end() throws Exception {
            netty.end(group);
        }
    }

    @Override
    public Serving serve(Job job) throws Exception {
        return exercise.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return exercise.use(server, job);
    }
}
