package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A selecting thread sleeps at the device of its streams, and what else it waits for wakes it there.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SelectorSleepTest {
    private static final int ROUNDS = 500;
    /// Half of what the smallest object for each round trip would take, in bytes.
    private static final int LITTLE = ROUNDS * 8;

    private final SelectorProvider provider = new RdmaSelectorProvider();

    /// A selector with one stream, which has been ready once.
    private final class Watched implements AutoCloseable {
        final Providers.Pair pair = Providers.Pair.of(provider);
        final Selector selector = provider.openSelector();
        final SelectionKey key;

        Watched() throws IOException {
            pair.client().configureBlocking(false);
            key = pair.client().register(selector, SelectionKey.OP_READ);
            hear();
        }

        /// The peer writes a byte, and the selector finds it.
        void hear() throws IOException {
            pair.server().write(ByteBuffer.wrap(new byte[1]));
            Providers.awaitReady(selector, key, SelectionKey.OP_READ);
            assertThat(pair.client().read(ByteBuffer.allocate(2))).isEqualTo(1);
            selector.selectedKeys().clear();
        }

        @Override
        public void close() throws IOException {
            selector.close();
            pair.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noWakeupOfAnotherThreadIsLost(boolean hasListener) throws Exception {
        try (var watched = new Watched();
                ServerSocketChannel listener =
                        provider.openServerSocketChannel().bind(Providers.anyPort())) {
            if (hasListener) {
                listener.configureBlocking(false);
                listener.register(watched.selector, SelectionKey.OP_ACCEPT);
            }
            var asked = new AtomicInteger();
            var done = new AtomicInteger();
            var waking = CompletableFuture.runAsync(() -> {
                for (int i = 1; i <= ROUNDS; i++) {
                    asked.set(i);
                    watched.selector.wakeup();
                    while (done.get() < i) {
                        Thread.onSpinWait();
                    }
                }
            });
            while (done.get() < ROUNDS) {
                assertThat(watched.selector.select(Providers.LIMIT.toMillis())).isZero();
                done.set(asked.get());
            }
            waking.get();
            watched.hear();
        }
    }

    @Test
    void theKernelsChannelsWakeAThreadThatSleepsAtTheDevice() throws Exception {
        try (var watched = new Watched()) {
            Pipe pipe = provider.openPipe();
            pipe.source().configureBlocking(false);
            SelectionKey key = pipe.source().register(watched.selector, SelectionKey.OP_READ);
            for (int i = 0; i < ROUNDS; i++) {
                var written = CompletableFuture.supplyAsync(() -> write(pipe));
                Providers.awaitReady(watched.selector, key, SelectionKey.OP_READ);
                assertThat(written.get()).isEqualTo(1);
                assertThat(pipe.source().read(ByteBuffer.allocate(2))).isEqualTo(1);
                watched.selector.selectedKeys().clear();
                watched.hear();
            }
            pipe.sink().close();
            pipe.source().close();
        }
    }

    private static int write(Pipe to) {
        try {
            return to.sink().write(ByteBuffer.wrap(new byte[1]));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void moreKernelChannelsThanAThreadWatchesAtTheDeviceAreHeardToo() throws Exception {
        try (var watched = new Watched()) {
            List<Pipe> pipes = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Pipe pipe = provider.openPipe();
                pipes.add(pipe);
                pipe.source().configureBlocking(false);
                pipe.source().register(watched.selector, SelectionKey.OP_READ);
            }
            Pipe last = pipes.getLast();
            SelectionKey key = last.source().keyFor(watched.selector);
            for (int i = 0; i < 20; i++) {
                var written = CompletableFuture.supplyAsync(() -> write(last));
                Providers.awaitReady(watched.selector, key, SelectionKey.OP_READ);
                assertThat(written.get()).isEqualTo(1);
                assertThat(last.source().read(ByteBuffer.allocate(2))).isEqualTo(1);
                watched.selector.selectedKeys().clear();
                watched.hear();
            }
            for (Pipe pipe : pipes) {
                pipe.sink().close();
                pipe.source().close();
            }
        }
    }

    @Test
    void severalSelectorsOfAProcessAllHearTheirStreams() throws Exception {
        int selectors = 4;
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < selectors; i++) {
            var done = new CompletableFuture<Void>();
            all.add(done);
            Thread.ofPlatform().start(() -> {
                try (var pair = Providers.Pair.of(provider);
                        Selector here = provider.openSelector();
                        Selector there = provider.openSelector()) {
                    var echo = Thread.ofPlatform().start(() -> answer(pair.server(), there));
                    pair.client().configureBlocking(false);
                    SelectionKey key = pair.client().register(here, SelectionKey.OP_READ);
                    for (int round = 0; round < ROUNDS; round++) {
                        exchange(pair.client(), here, key, 16);
                    }
                    pair.client().close();
                    echo.join();
                    done.complete(null);
                } catch (IOException | InterruptedException | AssertionError e) {
                    done.completeExceptionally(e);
                }
            });
        }
        for (var each : all) {
            each.get();
        }
    }

    private static void exchange(SocketChannel channel, Selector selector, SelectionKey key, int bytes)
            throws IOException {
        assertThat(channel.write(ByteBuffer.allocate(bytes))).isEqualTo(bytes);
        ByteBuffer back = ByteBuffer.allocate(bytes);
        while (back.hasRemaining()) {
            Providers.awaitReady(selector, key, SelectionKey.OP_READ);
            assertThat(channel.read(back)).isPositive();
            selector.selectedKeys().clear();
        }
    }

    /// Echoes until the end.
    private static void answer(SocketChannel channel, Selector selector) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(4_096);
        try {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
            while (true) {
                selector.select(Providers.LIMIT.toMillis());
                selector.selectedKeys().clear();
                if (channel.read(buffer.clear()) < 0) {
                    return;
                }
                channel.write(buffer.flip());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aMessageThatIsSelectedReadAndAnsweredMakesNothing() throws Exception {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (var pair = Providers.Pair.of(provider);
                Selector here = provider.openSelector();
                Selector there = provider.openSelector()) {
            var echo = Thread.ofPlatform().start(() -> answer(pair.server(), there));
            pair.client().configureBlocking(false);
            pair.client().register(here, SelectionKey.OP_READ);
            ByteBuffer buffer = ByteBuffer.allocateDirect(16);
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 200 && least >= LITTLE; attempt++) { // the compiler needs some
                long before = threads.getTotalThreadAllocatedBytes();
                for (int i = 0; i < ROUNDS; i++) {
                    pair.client().write(buffer.clear());
                    buffer.clear();
                    while (buffer.hasRemaining()) {
                        here.select();
                        here.selectedKeys().clear();
                        pair.client().read(buffer);
                    }
                }
                least = Math.min(least, threads.getTotalThreadAllocatedBytes() - before);
            }
            // A thread that finds a lock taken makes a node to wait in, on a busy machine in some of the rounds.
            assertThat(least).as("bytes for %d round trips", ROUNDS).isLessThan(LITTLE);
            pair.client().close();
            echo.join();
        }
    }
}
