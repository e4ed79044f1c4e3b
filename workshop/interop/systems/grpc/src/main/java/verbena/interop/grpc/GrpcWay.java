package verbena.interop.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;

/// A transport of gRPC's Netty, as a system under test uses it.
public interface GrpcWay {
    /// The unmodified one, to which the agent gives other channels.
    GrpcWay NIO = new GrpcWay() {
        @Override
        public NettyServerBuilder on(NettyServerBuilder server) {
            return server;
        }

        @Override
        public NettyChannelBuilder on(NettyChannelBuilder client) {
            return client;
        }

        @Override
        public void end() {}
    };

    /// Chooses event loops and channels of a server.
    NettyServerBuilder on(NettyServerBuilder server);

    /// Chooses event loops and channel of a client.
    NettyChannelBuilder on(NettyChannelBuilder client);

    /// Frees what it has, after its server or its client has ended.
    void end() throws Exception;
}
