package verbena.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import verbena.stream.StreamChannel;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// A server and clients with an event loop each, over a device of a name at both ends, or over the nearest.
final class NettyEnds implements AutoCloseable {
    static final long PATIENCE_SECONDS = 60;
    static final String NEAREST = "nearest";
    /// With none, an event loop may end without closing its channels in order.
    static final long QUIET_MILLIS = 10;

    private final Optional<Context> serverDevice;
    private final Optional<Context> clientDevice;
    final MultiThreadIoEventLoopGroup serverGroup = new MultiThreadIoEventLoopGroup(1, VerbenaIoHandler.newFactory());
    final MultiThreadIoEventLoopGroup clientGroup = new MultiThreadIoEventLoopGroup(1, VerbenaIoHandler.newFactory());

    NettyEnds(String device) {
        boolean isNearest = device.equals(NEAREST);
        serverDevice =
                isNearest ? Optional.empty() : Optional.of(Device.named(device).open());
        clientDevice =
                isNearest ? Optional.empty() : Optional.of(Device.named(device).open());
    }

    Context serverDevice() {
        return serverDevice.orElseThrow();
    }

    Context clientDevice() {
        return clientDevice.orElseThrow();
    }

    static void await(Future<?> future) throws InterruptedException {
        if (!future.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("not done in " + PATIENCE_SECONDS + " s");
        }
        future.sync();
    }

    static <T> T next(BlockingQueue<T> of) throws InterruptedException {
        T found = of.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (found == null) {
            throw new AssertionError("nothing in " + PATIENCE_SECONDS + " s");
        }
        return found;
    }

    InetSocketAddress address(int port) {
        return serverDevice
                .map(each -> new InetSocketAddress(each.gid(1, 0).gid().address(), port))
                .orElse(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /// How many requests have completed at the server's device.
    long serverCompletions() {
        return serverDevice.orElseThrow().counters().getOrDefault("completions", 0L);
    }

    /// Not bound yet.
    ServerBootstrap server(Consumer<SocketChannel> onAccepted) {
        var made = new ServerBootstrap()
                .group(serverGroup)
                .channel(VerbenaServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        onAccepted.accept(channel);
                    }
                });
        serverDevice.ifPresent(device -> made.option(VerbenaChannelOption.DEVICE, device));
        return made;
    }

    Channel listen(ServerBootstrap server) throws InterruptedException {
        return listen(server, address(0));
    }

    static Channel listen(ServerBootstrap server, InetSocketAddress at) throws InterruptedException {
        var bound = server.bind(at);
        await(bound);
        return bound.channel();
    }

    /// Not connected yet.
    Bootstrap client(ChannelHandler handler) {
        var made = new Bootstrap()
                .group(clientGroup)
                .channel(VerbenaSocketChannel.class)
                .handler(handler);
        clientDevice.ifPresent(device -> made.option(VerbenaChannelOption.DEVICE, device));
        return made;
    }

    static Channel connect(Bootstrap client, Channel listener) throws InterruptedException {
        var connected = client.connect(listener.localAddress());
        await(connected);
        return connected.channel();
    }

    /// A connection, and what happens at its ends.
    record Pair(Channel client, Collected atClient, Channel server, Collected atServer) {}

    Pair pair() throws InterruptedException {
        return pair(server -> {}, client -> {});
    }

    Pair pair(Consumer<ServerBootstrap> serverOptions, Consumer<Bootstrap> clientOptions) throws InterruptedException {
        var atServer = new Collected();
        var accepted = new LinkedBlockingQueue<Channel>();
        ServerBootstrap server = server(channel -> {
            channel.pipeline().addLast(atServer);
            accepted.add(channel);
        });
        serverOptions.accept(server);
        Channel listener = listen(server);
        var atClient = new Collected();
        Bootstrap client = client(atClient);
        clientOptions.accept(client);
        Channel connected = connect(client, listener);
        var pair = new Pair(connected, atClient, next(accepted), atServer);
        await(listener.close());
        return pair;
    }

    /// Rings of 16 KiB, for tests with many channels.
    static void small(Bootstrap client) {
        client.option(ChannelOption.SO_SNDBUF, 1 << 14).option(ChannelOption.SO_RCVBUF, 1 << 14);
    }

    static void small(ServerBootstrap server) {
        server.option(ChannelOption.SO_SNDBUF, 1 << 14).option(ChannelOption.SO_RCVBUF, 1 << 14);
    }

    /// Closing the devices shows that nothing was left behind.
    @Override
    public void close() {
        closeGroups();
        clientDevice.ifPresent(Context::close);
        serverDevice.ifPresent(Context::close);
    }

    /// Closes all channels.
    void closeGroups() {
        try {
            end();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private void end() throws InterruptedException {
        Future<?> client =
                clientGroup.shutdownGracefully(QUIET_MILLIS, PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS);
        Future<?> server =
                serverGroup.shutdownGracefully(QUIET_MILLIS, PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS);
        await(client);
        await(server);
        if (!StreamChannel.awaitCloses(Duration.ofSeconds(PATIENCE_SECONDS))) {
            throw new AssertionError("streams are still being closed");
        }
    }
}
