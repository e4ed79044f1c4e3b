package verbena.interop.nettynative;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.IoHandlerFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import verbena.interop.netty.NettyWay;
import verbena.netty.VerbenaChannelOption;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.stream.StreamChannel;
import verbena.stream.StreamOptions;
import verbena.verbs.Context;
import verbena.verbs.Counters;
import verbena.verbs.Device;

/// Verbena's own transport. The runner names the device and the file for the counters, by system properties.
public final class NativeWay implements NettyWay {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Optional<Context> device = Optional.ofNullable(System.getProperty("interop.device"))
            .map(name -> Device.named(name).open());

    @Override
    public IoHandlerFactory loops() {
        return VerbenaIoHandler.newFactory();
    }

    @Override
    public ServerBootstrap on(ServerBootstrap server) {
        device.ifPresent(each -> server.option(VerbenaChannelOption.DEVICE, each));
        return server.channel(VerbenaServerSocketChannel.class);
    }

    @Override
    public Bootstrap on(Bootstrap client) {
        device.ifPresent(each -> client.option(VerbenaChannelOption.DEVICE, each));
        return client.channel(VerbenaSocketChannel.class);
    }

    /// Returns the device that the runner has named; empty for the nearest.
    public Optional<Context> device() {
        return device;
    }

    /// Choices of a stream that is to be the other end.
    public StreamOptions options() {
        return device.map(StreamOptions.defaults()::withDevice).orElseGet(StreamOptions::defaults);
    }

    /// Returns the counters in the form of the summary of `verbena.nio`.
    private static String summary() {
        var all = Counters.ofProcess();
        return "rdma-connections=" + all.get("netty.connections") + " rdma-in=" + all.get("netty.in.bytes")
                + " rdma-out=" + all.get("netty.out.bytes") + " rdma-direct=" + all.get("netty.out.direct.bytes");
    }

    /// Closing the device shows that nothing was left behind.
    @Override
    public void end() throws IOException, InterruptedException {
        if (!StreamChannel.awaitCloses(PATIENCE)) {
            throw new IOException("connections are still being closed after " + PATIENCE.toSeconds() + " s");
        }
        device.ifPresent(Context::close);
        Files.writeString(
                Path.of(System.getProperty("interop.summary")),
                summary() + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
