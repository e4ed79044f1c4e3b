package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.netty.NettyEnds.await;
import static verbena.netty.NettyEnds.next;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One event loop serves a thousand channels, and slow readers cost no memory but their rings.
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyChannelsTest {
    private static final int CHANNELS = 1_000;
    /// A device makes at most 128 connections of one address at a time.
    private static final int AT_ONCE = 50;

    /// Sends back what comes.
    private static final class Returning extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message);
        }
    }

    private static List<Channel> connect(Bootstrap client, Channel listener, int count) throws Exception {
        var made = new ArrayList<Channel>();
        while (made.size() < count) {
            var connecting = new ArrayList<ChannelFuture>();
            for (int i = 0; i < AT_ONCE; i++) {
                connecting.add(client.connect(listener.localAddress()));
            }
            for (ChannelFuture each : connecting) {
                await(each);
                made.add(each.channel());
            }
        }
        return made;
    }

    @Test
    void aThousandChannelsOfOneLoopAreAnswered() throws Exception {
        try (var ends = new NettyEnds(NettyEnds.NEAREST)) {
            ServerBootstrap server = ends.server(channel -> channel.pipeline().addLast(new Returning()));
            NettyEnds.small(server);
            Channel listener = ends.listen(server);
            BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
            Bootstrap client = ends.client(new SharedCount(answers));
            NettyEnds.small(client);
            List<Channel> channels = connect(client, listener, CHANNELS);
            for (int round = 0; round < 3; round++) {
                for (Channel each : channels) {
                    var _ = each.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
                }
                int bytes = 0;
                while (bytes < 100 * CHANNELS) {
                    bytes += next(answers);
                }
                assertThat(bytes).isEqualTo(100 * CHANNELS);
            }
        }
    }

    /// Counts what comes to any channel.
    @Sharable
    private static final class SharedCount extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Integer> counts;

        SharedCount(BlockingQueue<Integer> counts) {
            this.counts = counts;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var buffer = (ByteBuf) message;
            counts.add(buffer.readableBytes());
            buffer.release();
        }
    }

    @Test
    void slowReadersCostNoMoreMemoryEachTime() throws Exception {
        int count = 100;
        var memory = new PooledByteBufAllocator(true);
        try (var ends = new NettyEnds(NettyEnds.NEAREST)) {
            var accepted = new LinkedBlockingQueue<Channel>();
            BlockingQueue<Integer> arrivals = new LinkedBlockingQueue<>();
            var counter = new SharedCount(arrivals);
            ServerBootstrap server = ends.server(channel -> {
                        channel.pipeline().addLast(counter);
                        accepted.add(channel);
                    })
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childOption(ChannelOption.ALLOCATOR, memory);
            NettyEnds.small(server);
            Channel listener = ends.listen(server);
            Bootstrap client = ends.client(counter)
                    .option(ChannelOption.ALLOCATOR, memory)
                    .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(8_192, 16_384));
            NettyEnds.small(client);
            List<Channel> channels = connect(client, listener, count);
            var slow = new ArrayList<Channel>();
            for (int i = 0; i < count; i++) {
                slow.add(next(accepted));
            }
            long first = 0;
            for (int round = 0; round < 5; round++) {
                long written = writeUntilFull(channels);
                slow.forEach(each -> each.config().setAutoRead(true));
                long read = 0;
                while (read < written) {
                    read += next(arrivals);
                }
                assertThat(read).isEqualTo(written);
                slow.forEach(each -> each.config().setAutoRead(false));
                long used = memory.metric().usedDirectMemory();
                first = round == 0 ? used : first;
                assertThat(used).isLessThanOrEqualTo(first + memory.metric().chunkSize());
            }
        }
    }

    private static long writeUntilFull(List<Channel> channels) throws Exception {
        var written = new AtomicLong();
        for (Channel each : channels) {
            await(each.eventLoop().submit(() -> {
                while (each.isWritable()) {
                    ByteBuf next = each.alloc().directBuffer(4_096).writeZero(4_096);
                    written.addAndGet(next.readableBytes());
                    var _ = each.writeAndFlush(next);
                }
            }));
        }
        return written.get();
    }
}
