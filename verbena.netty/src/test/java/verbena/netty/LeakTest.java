package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.netty.NettyEnds.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.ResourceLeakDetector;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/// Channels that end in the middle of writes give back each buffer, which Netty follows by its detector of leaks
/// here.
@ParameterizedClass
@CsvSource({"shm, true", "shm, false", "rocev2, true", "rocev2, false", "iwarp, true", "iwarp, false"})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeakTest {
    private static final int BUFFERS = 40;
    private static final int BYTES = 50_000;

    @Parameter(0)
    String device;

    @Parameter(1)
    boolean isRegistered;

    private final ResourceLeakDetector.Level before = ResourceLeakDetector.getLevel();
    private final List<ByteBuf> written = new ArrayList<>();
    private NettyEnds ends;
    private Optional<VerbenaByteBufAllocator> registered;

    @BeforeEach
    void open() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ends = new NettyEnds(device);
        registered = isRegistered
                ? Optional.of(new VerbenaByteBufAllocator(ends.clientDevice().allocateProtectionDomain()))
                : Optional.empty();
    }

    @AfterEach
    void close() {
        ends.closeGroups();
        registered.ifPresent(each -> {
            each.close();
            each.domain().close();
        });
        ends.close();
        ResourceLeakDetector.setLevel(before);
    }

    private ByteBufAllocator allocator() {
        return registered.<ByteBufAllocator>map(each -> each).orElse(PooledByteBufAllocator.DEFAULT);
    }

    /// The peer does not read, so that most of it waits.
    private NettyEnds.Pair writing(int lingerSeconds) throws InterruptedException {
        NettyEnds.Pair pair = ends.pair(
                server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.ALLOCATOR, allocator())
                        .option(ChannelOption.SO_LINGER, lingerSeconds));
        for (int i = 0; i < BUFFERS; i++) {
            ByteBuf next = allocator().directBuffer(BYTES).writeZero(BYTES);
            written.add(next);
            ChannelFuture _ = pair.client().write(next);
        }
        pair.client().flush();
        return pair;
    }

    private void assertReleased() {
        for (ByteBuf each : written) {
            while (each.refCnt() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void closingInTheMiddleOfWritesReleasesAll() throws Exception {
        NettyEnds.Pair pair = writing(-1);
        ChannelFuture closing = pair.client().close();
        pair.server().config().setAutoRead(true);
        await(closing);
        assertReleased();
    }

    @Test
    void abandoningInTheMiddleOfWritesReleasesAll() throws Exception {
        NettyEnds.Pair pair = writing(0);
        await(pair.client().close());
        assertReleased();
        await(pair.server().close());
    }

    @Test
    void aPeerThatResetsReleasesAll() throws Exception {
        NettyEnds.Pair pair = writing(-1);
        var _ = pair.server().config().setOption(ChannelOption.SO_LINGER, 0);
        await(pair.server().close());
        await(pair.client().closeFuture());
        assertReleased();
    }

    @Test
    void anEventLoopThatEndsReleasesAll() throws Exception {
        NettyEnds.Pair pair = writing(-1);
        var _ = pair.server().config().setOption(ChannelOption.SO_LINGER, 0);
        ChannelFuture closed = pair.client().closeFuture();
        var _ = ends.clientGroup.shutdownGracefully(
                NettyEnds.QUIET_MILLIS, NettyEnds.PATIENCE_SECONDS * 1_000, TimeUnit.MILLISECONDS);
        await(pair.server().close());
        await(closed);
        assertReleased();
        assertThat(pair.client().isOpen()).isFalse();
    }
}
