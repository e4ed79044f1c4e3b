package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.netty.NettyEnds.await;
import static verbena.netty.NettyEnds.next;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/// Buffers of registered memory are written without a copy, and released when the device is done with them.
@ParameterizedClass
@ValueSource(strings = {"shm", "rocev2", "iwarp"})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegisteredBuffersTest {
    @Parameter
    String device;

    private NettyEnds ends;
    private VerbenaByteBufAllocator allocator;

    @BeforeEach
    void open() {
        ends = new NettyEnds(device);
        allocator = new VerbenaByteBufAllocator(ends.clientDevice().allocateProtectionDomain());
    }

    @AfterEach
    void close() {
        ends.closeGroups();
        allocator.close();
        allocator.domain().close();
        ends.close();
    }

    private NettyEnds.Pair pair() throws InterruptedException {
        return ends.pair(server -> {}, client -> client.option(ChannelOption.ALLOCATOR, allocator));
    }

    private static byte[] random(int length) {
        var made = new byte[length];
        new Random(length).nextBytes(made);
        return made;
    }

    private static void awaitReleased(ByteBuf buffer) {
        while (buffer.refCnt() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aLongBufferGoesWithoutACopyAndIsReleased() throws Exception {
        NettyEnds.Pair pair = pair();
        for (int size : new int[] {4_096, 70_000, 1 << 20, 3_000_001}) {
            byte[] message = random(size);
            ByteBuf buffer = pair.client().alloc().directBuffer(size).writeBytes(message);
            long before = NettyCounters.DIRECT.sum();
            await(pair.client().writeAndFlush(buffer));
            assertThat(pair.atServer().take(size)).isEqualTo(message);
            assertThat(NettyCounters.DIRECT.sum() - before).isGreaterThan(size - 4_096L);
            awaitReleased(buffer);
        }
    }

    @Test
    void piecesOfAllKindsKeepTheirOrder() throws Exception {
        NettyEnds.Pair pair = pair();
        byte[] all = random(100_000);
        ByteBuf registered = allocator.directBuffer(100_000).writeBytes(all);
        CompositeByteBuf composite = allocator.compositeBuffer();
        composite.addComponent(true, Unpooled.wrappedBuffer(all, 0, 10));
        composite.addComponent(true, registered.retainedSlice(10, 50_000));
        composite.addComponent(true, allocator.directBuffer(7).writeBytes(all, 50_010, 7));
        composite.addComponent(true, Unpooled.directBuffer(20_000).writeBytes(all, 50_017, 20_000));
        var _ = pair.client().write(composite);
        var _ = pair.client().write(Unpooled.wrappedBuffer(all, 70_017, 13));
        var _ = pair.client().writeAndFlush(registered.retainedSlice(70_030, 29_970));
        assertThat(pair.atServer().take(all.length)).isEqualTo(all);
        assertThat(registered.refCnt()).isPositive();
        registered.release();
        awaitReleased(registered);
        assertThat(composite.refCnt()).isZero();
    }

    @Test
    void anEchoReadsIntoRegisteredMemoryAndWritesFromThere() throws Exception {
        NettyEnds.Pair pair = pair();
        var echo = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                var _ = context.writeAndFlush(message);
            }
        };
        // In the event loop: a handler that another thread adds misses what is read until the loop has come to
        // it.
        await(pair.client().eventLoop().submit(() -> pair.client().pipeline().addFirst(echo)));
        byte[] message = random(500_000);
        long before = NettyCounters.DIRECT.sum();
        var _ = pair.server().writeAndFlush(Unpooled.wrappedBuffer(message));
        assertThat(pair.atServer().take(message.length)).isEqualTo(message);
        assertThat(NettyCounters.DIRECT.sum()).isGreaterThan(before);
    }

    @Test
    void aChannelThatClosesReleasesWhatItHolds() throws Exception {
        NettyEnds.Pair pair = pair();
        pair.server().config().setAutoRead(false);
        List<ByteBuf> buffers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ByteBuf buffer = allocator.directBuffer(10_000).writeZero(10_000);
            buffers.add(buffer);
            var _ = pair.client().writeAndFlush(buffer);
        }
        await(pair.server().close());
        await(pair.client().close());
        buffers.forEach(RegisteredBuffersTest::awaitReleased);
    }

    /// Returns a pair whose server has written all that it will write.
    private NettyEnds.Pair pairWithSilentServer() throws Exception {
        NettyEnds.Pair pair = ends.pair(
                server -> {},
                client -> client.option(ChannelOption.ALLOCATOR, allocator)
                        .option(ChannelOption.ALLOW_HALF_CLOSURE, true));
        await(((SocketChannel) pair.server()).shutdownOutput());
        assertThat(next(pair.atClient().userEvents)).isSameAs(ChannelInputShutdownEvent.INSTANCE);
        return pair;
    }

    @Test
    void whatIsHeldIsReleasedWhenThePeerWritesNothingMore() throws Exception {
        NettyEnds.Pair pair = pairWithSilentServer();
        ByteBuf buffer = allocator.directBuffer(1 << 20).writeZero(1 << 20);
        await(pair.client().writeAndFlush(buffer));
        assertThat(pair.atServer().take(1 << 20)).hasSize(1 << 20);
        awaitReleased(buffer);
    }

    /// What is copied is acknowledged too, while the channel holds nothing and waits for nothing.
    @Test
    void soIsWhatIsHeldAfterBytesThatWereCopied() throws Exception {
        NettyEnds.Pair pair = pairWithSilentServer();
        for (int i = 0; i < 200; i++) {
            await(pair.client().writeAndFlush(allocator.directBuffer(2_000).writeZero(2_000)));
            assertThat(pair.atServer().take(2_000)).hasSize(2_000);
        }
        ByteBuf buffer = allocator.directBuffer(10_000).writeZero(10_000);
        await(pair.client().writeAndFlush(buffer));
        awaitReleased(buffer);
    }

    @Test
    void memoryIsUsedAgainAndBeyondTheLimitBuffersAreOrdinary() {
        try (var small = new VerbenaByteBufAllocator(allocator.domain(), 5 << 20)) {
            var one = small.directBuffer(3_000_000);
            assertThat(small.registeredBytes()).isEqualTo(RegisteredMemory.CHUNK_BYTES);
            var ordinary = small.directBuffer(3_000_000).writeZero(3_000_000);
            assertThat(small.memory().region(ordinary.nioBuffer())).isNull();
            assertThat(small.memory().region(one.nioBuffer(0, 1))).isNotNull();
            one.release();
            var again = small.directBuffer(4_000_000);
            assertThat(small.memory().region(again.nioBuffer(0, 1))).isNotNull();
            again.release();
            ordinary.release();
            var tooLong = small.directBuffer(RegisteredMemory.CHUNK_BYTES + 1).writeByte(1);
            assertThat(small.memory().region(tooLong.nioBuffer())).isNull();
            tooLong.release();
        }
    }

    @Test
    void piecesNeverOverlapAndGrowingKeepsWhatWasWritten() {
        var chance = new Random(5);
        List<ByteBuf> held = new ArrayList<>();
        List<byte[]> contents = new ArrayList<>();
        for (int round = 0; round < 3_000; round++) {
            if (held.size() < 200 && chance.nextInt(3) > 0) {
                byte[] content = new byte[chance.nextInt(chance.nextInt(10) == 0 ? 60_000 : 3_000)];
                chance.nextBytes(content);
                held.add(allocator
                        .directBuffer(chance.nextInt(content.length + 1) / 2)
                        .writeBytes(content));
                contents.add(content);
            } else if (!held.isEmpty()) {
                int which = chance.nextInt(held.size());
                ByteBuf buffer = held.remove(which);
                byte[] found = new byte[buffer.readableBytes()];
                buffer.readBytes(found);
                assertThat(found).isEqualTo(contents.remove(which));
                buffer.release();
            }
        }
        held.forEach(ByteBuf::release);
        assertThat(allocator.registeredBytes()).isBetween(1L, 64L << 20);
    }

    @Test
    void mistakesAreNamed() {
        assertThatThrownBy(() -> new VerbenaByteBufAllocator(allocator.domain(), -1))
                .hasMessageContaining("maxBytes");
        var choices = new StreamSocketConfig(new VerbenaSocketChannel()).choices;
        choices.set(VerbenaChannelOption.DEVICE, ends.serverDevice());
        assertThatThrownBy(() -> choices.stream(allocator)).hasMessageContaining("DEVICE");
        var closed = new VerbenaByteBufAllocator(allocator.domain());
        closed.close();
        assertThatThrownBy(() -> closed.directBuffer(10)).hasMessageContaining("closed");
        assertThat(allocator.memory().region(ByteBuffer.allocate(10_000))).isNull();
        assertThat(allocator.isDirectBufferPooled()).isTrue();
        assertThat(allocator.heapBuffer(5).release()).isTrue();
    }
}
