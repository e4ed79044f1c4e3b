package verbena.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static verbena.stream.StreamPair.bytes;
import static verbena.stream.StreamPair.text;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Waitable;
import verbena.verbs.Waiter;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// What a channel does is what a socket channel does, over every kind of device.
@ParameterizedClass
@ValueSource(strings = {"rocev2", "shm", "iwarp", "rocev2,weak=standard,seed=7"})
@Timeout(120)
class StreamChannelTest {
    /// A stream has more receives posted.
    private static final int RECEIVES_MIN = 16;

    @Parameter
    String device;

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void endThreads() {
        threads.close();
    }

    private StreamPair pair() throws IOException {
        return new StreamPair(device);
    }

    private StreamPair pair(UnaryOperator<StreamOptions> choices) throws IOException {
        return new StreamPair(device, choices);
    }

    private <T> Future<T> meanwhile(Callable<T> work) {
        return threads.submit(work);
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private static Throwable failure(Future<?> of) {
        try {
            of.get(60, TimeUnit.SECONDS);
            throw new AssertionError("it did not fail");
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    // ---- data

    /// A selecting thread asks while another thread closes.
    @Test
    void aClosedChannelStillNamesItsDevice() throws Exception {
        try (var pair = pair()) {
            Context its = pair.client.context();
            pair.client.close();
            assertThat(pair.client.context()).isSameAs(its);
        }
    }

    @Test
    void peersConnectWhileNoThreadAccepts() throws Exception {
        try (var pair = pair()) {
            assertThat(pair.client.isConnected()).isTrue();
            assertThat(pair.client.peerAddress()).contains(pair.listener.localAddress());
            assertThat(pair.server.peerAddress()).isEqualTo(pair.client.localAddress());
            assertThat(pair.client.context().device().name()).startsWith(device);
            pair.client.write(bytes("there"));
            pair.server.write(bytes("back"));
            assertThat(text(pair.server, 5)).isEqualTo("there");
            assertThat(text(pair.client, 4)).isEqualTo("back");
        }
    }

    @Test
    void allBytesComeInOrderBothWaysAtOnce() throws Exception {
        try (var pair = pair()) {
            int total = 3_000_000;
            Future<?> up = meanwhile(() -> pour(pair.client, 1, total));
            Future<?> down = meanwhile(() -> pour(pair.server, 2, total));
            Future<?> upHeard = meanwhile(() -> drink(pair.server, 1, total));
            Future<?> downHeard = meanwhile(() -> drink(pair.client, 2, total));
            get(up);
            get(down);
            get(upHeard);
            get(downHeard);
        }
    }

    /// The byte at a place, without a pattern that a ring's size divides.
    private static byte byteAt(long seed, int place) {
        return (byte) (((place * 31L + seed) * 0x9E37_79B9L) >>> 16);
    }

    private static Void pour(StreamChannel to, long seed, int total) throws IOException {
        var sizes = new Random(seed);
        boolean isDirect = seed % 2 == 0;
        for (int at = 0; at < total; ) {
            int size = Math.min(total - at, 1 + sizes.nextInt(sizes.nextInt(4) == 0 ? 300_000 : 3_000));
            ByteBuffer chunk = isDirect ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
            for (int i = 0; i < size; i++) {
                chunk.put(byteAt(seed, at + i));
            }
            assertThat(to.write(chunk.flip())).isEqualTo(size);
            at += size;
        }
        return null;
    }

    private static Void drink(StreamChannel from, long seed, int total) throws IOException {
        var sizes = new Random(seed + 100);
        for (int at = 0; at < total; ) {
            ByteBuffer into = ByteBuffer.allocate(1 + sizes.nextInt(100_000));
            assertThat(from.read(into)).isEqualTo(into.position()).isPositive();
            for (int i = 0; i < into.position(); i++) {
                if (into.get(i) != byteAt(seed, at + i)) {
                    throw new AssertionError("byte " + (at + i) + " is wrong");
                }
            }
            at += into.position();
        }
        return null;
    }

    @Test
    void severalBuffersAreGatheredAndScattered() throws Exception {
        try (var pair = pair()) {
            ByteBuffer[] from = {bytes("xx"), bytes("ab"), bytes(""), bytes("cdef"), bytes("yy")};
            assertThat(pair.client.write(from, 1, 3)).isEqualTo(6);
            assertThat(from[0].remaining()).isEqualTo(2);
            assertThat(from[3].remaining()).isZero();
            ByteBuffer[] into = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(0), ByteBuffer.allocate(9)};
            assertThat(pair.server.read(into)).isEqualTo(6);
            assertThat(into[0].get(0)).isEqualTo((byte) 'a');
            assertThat(into[2].position()).isEqualTo(5);
        }
    }

    @Test
    void noBytesAreNoWait() throws Exception {
        try (var pair = pair()) {
            assertThat(pair.client.read(ByteBuffer.allocate(0))).isZero();
            assertThat(pair.client.write(ByteBuffer.allocate(0))).isZero();
        }
    }

    // ---- non-blocking

    @Test
    void withoutBlockingACallMovesWhatItCan() throws Exception {
        try (var pair = pair()) {
            pair.client.configureBlocking(false);
            pair.server.configureBlocking(false);
            assertThat(pair.server.read(ByteBuffer.allocate(10))).isZero();
            ByteBuffer all = ByteBuffer.allocate(2_000_000);
            ByteBuffer into = ByteBuffer.allocate(2_000_000);
            int refused = 0;
            while (into.hasRemaining()) {
                refused += all.hasRemaining() && pair.client.write(all) == 0 ? 1 : 0;
                if (refused > 0) { // only then the peer takes something
                    assertThat(pair.server.read(into)).isNotNegative();
                }
            }
            assertThat(refused).isPositive();
        }
    }

    @Test
    void withoutBlockingAConnectionIsMadeInSteps() throws Exception {
        try (var pair = pair();
                var late = StreamChannel.open(pair.clientOptions)) {
            assertThatThrownBy(late::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            assertThatThrownBy(() -> late.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            pair.listener.configureBlocking(false);
            assertThat(pair.listener.accept()).isNull();
            late.configureBlocking(false);
            boolean isMade = late.connectTo(pair.listener.localAddress());
            while (!isMade) {
                isMade = late.finishConnect();
            }
            assertThatThrownBy(() -> late.connectTo(pair.listener.localAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
            try (var accepted = pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                late.write(bytes("steps"));
                assertThat(text(accepted, 5)).isEqualTo("steps");
            }
        }
    }

    /// The peer of a connection that is given up has none: exactly one of both ways to connect is taken.
    @Test
    void anAnswerThatIsNotWantedAnyMoreIsNoConnectionForEitherSide() throws Exception {
        assumeFalse(device.equals("iwarp"), "MPA has no word after the answer: the peer finds its connection reset");
        try (var pair = pair()) {
            var to = pair.listener.localAddress();
            for (int i = 0; i < 5; i++) {
                try (var late = StreamChannel.open(pair.clientOptions)) {
                    assertThatThrownBy(() -> late.connectTo(null, to, () -> false))
                            .isInstanceOf(ConnectException.class);
                }
            }
            try (var client = StreamChannel.connect(to, pair.clientOptions);
                    var accepted = pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                assertThat(accepted.peerAddress()).isEqualTo(client.localAddress());
                pair.listener.configureBlocking(false);
                assertThat(pair.listener.accept()).isNull();
            }
        }
    }

    // ---- the end

    @Test
    void whatWasWrittenArrivesBeforeTheEnd() throws Exception {
        try (var pair = pair()) {
            pair.client.write(ByteBuffer.allocate(50_000));
            pair.client.close();
            assertThat(text(pair.server, 60_000)).hasSize(50_000);
            assertThat(pair.server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> {
                        while (true) {
                            pair.server.write(bytes("too late"));
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    @Test
    void aCloseOnAnotherThreadDeliversWhatWasWritten() throws Exception {
        try (var pair = pair()) {
            pair.client.write(ByteBuffer.allocate(50_000));
            var closed = pair.client.closeLater();
            assertThat(text(pair.server, 60_000)).hasSize(50_000);
            assertThat(pair.server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(StreamChannel.awaitCloses(Duration.ofSeconds(30))).isTrue();
            assertThat(closed.isDone()).isTrue();
            assertThat(pair.client.isOpen()).isFalse();
        }
    }

    @Test
    void aStreamHasOneWaiter() throws Exception {
        try (var pair = pair();
                var waiter = new Waiter<Object>();
                var other = new Waiter<Object>()) {
            waiter.add(pair.server, pair.server);
            assertThatExceptionOfType(InvalidStateException.class)
                    .isThrownBy(() -> other.add(pair.server, pair.server))
                    .withMessageContaining("a waiter already");
            other.remove(pair.server);
            Future<Optional<Object>> waiting = meanwhile(waiter::await);
            pair.client.write(bytes("question"));
            assertThat(get(waiting)).contains(pair.server);
            waiter.remove(pair.server);
            other.add(pair.server, pair.server);
            assertThat(other.await()).contains(pair.server);
        }
    }

    @Test
    void oneThreadWaitsForStreamsAndTheirListener() throws Exception {
        try (var pair = pair();
                var waiter = new Waiter<Object>()) {
            waiter.add(pair.listener, pair.listener);
            waiter.add(pair.server, "server");
            waiter.add(pair.client, "client");
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
            for (int i = 0; i < 20; i++) {
                Future<Optional<Object>> first = meanwhile(waiter::await);
                pair.client.write(bytes("question"));
                assertThat(get(first)).contains("server");
                assertThat(text(pair.server, 8)).isEqualTo("question");
                Future<Optional<Object>> second = meanwhile(waiter::await);
                pair.server.write(bytes("answer"));
                assertThat(get(second)).contains("client");
                assertThat(text(pair.client, 6)).isEqualTo("answer");
            }
            Future<Optional<Object>> third = meanwhile(waiter::await);
            try (var late = StreamChannel.connect(pair.listener.localAddress(), pair.clientOptions)) {
                assertThat(get(third)).contains(pair.listener);
                pair.listener.accept().close();
                assertThat(late.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            Future<Optional<Object>> fourth = meanwhile(waiter::await);
            pair.server.close();
            assertThat(get(fourth)).isPresent();
            waiter.remove(pair.server); // which does nothing, or the client was first
            assertThat(waiter.await()).contains("client");
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void aWaiterWaitsForRoomToWrite() throws Exception {
        try (var pair = pair();
                var waiter = new Waiter<Object>()) {
            pair.client.configureBlocking(false);
            Waitable room = pair.client.writable();
            waiter.add(room, "room");
            waiter.add(pair.client, "bytes");
            assertThat(waiter.await()).contains("room");
            int written = 0;
            int now;
            do {
                now = pair.client.write(ByteBuffer.allocate(100_000));
                written += now;
            } while (now > 0);
            Future<Optional<Object>> waiting = meanwhile(waiter::await);
            assertThat(text(pair.server, written)).hasSize(written);
            assertThat(get(waiting)).contains("room");
            assertThat(pair.client.write(ByteBuffer.allocate(1))).isEqualTo(1);
            waiter.remove(pair.client.writable());
            pair.server.write(bytes("answer"));
            assertThat(waiter.await()).contains("bytes");
            assertThat(text(pair.client, 6)).isEqualTo("answer");
            waiter.add(room, "room");
            pair.client.close();
            assertThat(List.of(waiter.await().get(), waiter.await().get())).containsOnly("room", "bytes");
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void anInterruptEndsTheWaitAtAStream() throws Exception {
        try (var pair = pair();
                var waiter = new Waiter<Object>()) {
            waiter.add(pair.server, pair.server);
            var end = new CompletableFuture<Object>();
            var first = new CompletableFuture<Void>();
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    waiter.await();
                    assertThat(text(pair.server, 8)).isEqualTo("question");
                    first.complete(null);
                    end.complete(waiter.await());
                } catch (Throwable e) {
                    end.complete(e);
                }
            });
            pair.client.write(bytes("question"));
            get(first);
            thread.interrupt();
            assertThat(get(end)).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void oneDirectionEndsAndTheOtherGoesOn() throws Exception {
        try (var pair = pair()) {
            pair.client.write(bytes("last"));
            pair.client.shutdownOutput();
            assertThatThrownBy(() -> pair.client.write(bytes("more"))).isInstanceOf(ClosedChannelException.class);
            assertThat(text(pair.server, 100)).isEqualTo("last");
            pair.server.write(bytes("answer"));
            assertThat(text(pair.client, 6)).isEqualTo("answer");
            pair.server.shutdownOutput();
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void readingThatIsShutDownWakesTheThreadThatReads() throws Exception {
        try (var pair = pair()) {
            Future<Integer> reads = meanwhile(() -> pair.client.read(ByteBuffer.allocate(1)));
            pair.client.shutdownInput();
            assertThat(get(reads)).isEqualTo(-1);
            pair.client.write(bytes("still"));
            assertThat(text(pair.server, 5)).isEqualTo("still");
        }
    }

    @Test
    void withoutLingeringThePeerFindsTheConnectionReset() throws Exception {
        try (var pair = pair(options -> options.withLinger(Duration.ZERO))) {
            Future<Integer> reads = meanwhile(() -> pair.server.read(ByteBuffer.allocate(1)));
            pair.client.close();
            assertThat(failure(reads)).isInstanceOf(SocketException.class).hasMessageContaining("reset");
        }
    }

    @Test
    void aWriteAfterAResetFailsAndWhatCameBeforeIsRead() throws Exception {
        try (var pair = pair()) {
            long before = completions(pair);
            assertThat(pair.client.write(bytes("question"))).isEqualTo(8);
            assertThat(text(pair.server, 8)).isEqualTo("question");
            assertThat(pair.server.write(bytes("answer"))).isEqualTo(6);
            awaitCompletions(pair, before + 3); // three in all: a reset may overtake the answer
            pair.server.abandon();
            awaitCompletions(pair, before + 3 + RECEIVES_MIN); // those that the reset gives back
            assertThatThrownBy(() -> pair.client.write(bytes("more"))).isInstanceOf(SocketException.class);
            assertThat(text(pair.client, 6)).isEqualTo("answer");
            assertThatThrownBy(() -> pair.client.read(bytes("?"))).isInstanceOf(SocketException.class);
        }
    }

    /// As after the end of a process that has said its end before.
    @Test
    void aPeerThatHasSaidItsEndMayGoAsItLikes() throws Exception {
        try (var pair = pair()) {
            long before = completions(pair);
            assertThat(pair.server.write(bytes("answer"))).isEqualTo(6);
            pair.server.shutdownOutput();
            awaitCompletions(pair, before + 2); // a reset may overtake them
            pair.server.abandon();
            awaitCompletions(pair, before + 2 + RECEIVES_MIN);
            assertThat(text(pair.client, 6)).isEqualTo("answer");
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> pair.client.write(bytes("more"))).isInstanceOf(SocketException.class);
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    private static void awaitCompletions(StreamPair pair, long count) {
        while (completions(pair) < count) {
            Thread.onSpinWait();
        }
    }

    private static long completions(StreamPair pair) {
        return pair.clientDevice.counters().getOrDefault("completions", 0L);
    }

    @Test
    void closingEndsCallsThatWait() throws Exception {
        try (var pair = pair()) {
            Future<Integer> first = meanwhile(() -> pair.client.read(ByteBuffer.allocate(1)));
            Future<Integer> second = meanwhile(() -> pair.client.read(ByteBuffer.allocate(1)));
            Future<Integer> writes = meanwhile(() -> pair.client.write(ByteBuffer.allocate(5_000_000)));
            Future<StreamChannel> accepts = meanwhile(pair.listener::accept);
            pair.client.close();
            pair.listener.close();
            assertThat(failure(first)).isInstanceOf(ClosedChannelException.class);
            assertThat(failure(second)).isInstanceOf(ClosedChannelException.class);
            assertThat(failure(writes)).isInstanceOf(ClosedChannelException.class);
            assertThat(failure(accepts)).isInstanceOf(ClosedChannelException.class);
            assertThat(pair.client.isOpen()).isFalse();
        }
    }

    @Test
    void anInterruptionClosesTheChannel() throws Exception {
        try (var pair = pair()) {
            var ended = new CompletableFuture<Boolean>();
            Thread reader = Thread.startVirtualThread(() -> {
                try {
                    pair.client.read(ByteBuffer.allocate(1));
                    ended.complete(false);
                } catch (ClosedByInterruptException e) {
                    ended.complete(Thread.currentThread().isInterrupted());
                } catch (IOException e) {
                    ended.completeExceptionally(e);
                }
            });
            reader.interrupt();
            assertThat(get(ended)).isTrue();
            assertThat(text(pair.server, 1)).isEmpty(); // the end
            assertThat(pair.client.isOpen()).isFalse();
        }
    }

    // ---- what goes wrong

    @Test
    void aReadThatTakesTooLongFailsAndTheChannelGoesOn() throws Exception {
        try (var pair = pair(options -> options.withTimeout(Duration.ofMillis(20)))) {
            assertThatThrownBy(() -> pair.client.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(pair.listener.accept(Duration.ofMillis(20))).isEmpty();
            assertThat(pair.listener.accept(Duration.ZERO)).isEmpty();
            ByteBuffer much = ByteBuffer.allocate(5_000_000);
            assertThat(pair.client.write(much)).isEqualTo(much.position()).isLessThan(5_000_000);
            assertThatThrownBy(() -> pair.client.write(much)).isInstanceOf(SocketTimeoutException.class);
            assertThat(text(pair.server, 1_000)).hasSize(1_000);
        }
    }

    @Test
    void aPortWithoutAListenerRefuses() throws Exception {
        try (var pair = pair()) {
            InetSocketAddress port = pair.listener.localAddress();
            pair.listener.close();
            assertThatThrownBy(() -> StreamChannel.connect(port, pair.clientOptions))
                    .isInstanceOf(ConnectException.class);
            pair.client.write(bytes("stays"));
            assertThat(text(pair.server, 5)).isEqualTo("stays");
        }
    }

    /// As with a socket: a peer that finds no room in the backlog waits until a program accepts.
    @Test
    void whoFindsNoRoomInTheBacklogWaits() throws Exception {
        try (var pair = pair();
                var listener = StreamListener.bind(pair.at(0), pair.serverOptions, 2)) {
            var peers = new ArrayList<Future<StreamChannel>>();
            for (int i = 0; i < 8; i++) {
                peers.add(meanwhile(() -> StreamChannel.connect(listener.localAddress(), pair.clientOptions)));
            }
            var accepted = new ArrayList<StreamChannel>();
            accepted.add(listener.accept()); // from now on some have found no room
            while (accepted.size() < peers.size()) {
                accepted.add(listener.accept());
            }
            for (Future<StreamChannel> peer : peers) {
                get(peer).close();
            }
            accepted.forEach(StreamChannel::close);
        }
    }

    @Test
    void whoWaitsForRoomIsRefusedWhenTheListenerCloses() throws Exception {
        try (var pair = pair()) {
            var listener = StreamListener.bind(pair.at(0), pair.serverOptions, 1);
            var first = StreamChannel.connect(listener.localAddress(), pair.clientOptions);
            Future<StreamChannel> second =
                    meanwhile(() -> StreamChannel.connect(listener.localAddress(), pair.clientOptions));
            listener.close();
            assertThatThrownBy(() -> get(second)).hasCauseInstanceOf(ConnectException.class);
            first.close();
        }
    }

    @Test
    void aTimeLimitThatPassesNamesItselfAndItsLength() throws Exception {
        try (var pair = pair()) {
            var hasty = pair.clientOptions.withConnectTimeout(Duration.ofMillis(50));
            try (var listener = StreamListener.bind(pair.at(0), pair.serverOptions, 1);
                    var _ = StreamChannel.connect(listener.localAddress(), pair.clientOptions)) {
                assertThatThrownBy(() -> StreamChannel.connect(listener.localAddress(), hasty))
                        .isInstanceOf(SocketTimeoutException.class)
                        .hasMessageContaining("within 50 ms, the limit of StreamOptions.withConnectTimeout");
            }
        }
    }

    @Test
    void anotherProtocolIsRefused() throws Exception {
        try (var pair = pair()) {
            ConnectionOptions plain = ConnectionOptions.defaults();
            assertThatThrownBy(
                            () -> Connection.connect(pair.listener.localAddress(), plain.withDevice(pair.clientDevice)))
                    .isInstanceOf(ConnectionException.class);
            try (var other = ConnectionListener.bind(pair.at(0), plain.withDevice(pair.serverDevice))) {
                Future<Connection> accepts = meanwhile(other::accept);
                assertThatThrownBy(() -> StreamChannel.connect(other.localAddress(), pair.clientOptions))
                        .isInstanceOf(ProtocolException.class);
                get(accepts).close();
            }
        }
    }

    // ---- memory that cannot be used

    private static ByteBuffer closed() {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(10).asByteBuffer();
        }
    }

    /// A call that is refused takes no byte, also when its other buffers could have been filled.
    @Test
    void aReadIntoMemoryThatCannotBeWrittenTakesNothing() throws Exception {
        try (var pair = pair()) {
            pair.client.write(bytes("hello"));
            ByteBuffer good = ByteBuffer.allocate(2);
            ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
            assertThatThrownBy(() -> pair.server.read(readOnly)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.server.read(closed())).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> pair.server.read(new ByteBuffer[] {good, readOnly}))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.server.read(new ByteBuffer[] {good, closed()}))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(good.position()).isZero();
            assertThat(text(pair.server, 5)).isEqualTo("hello");
        }
    }

    /// What is refused is not sent, and what is sent later comes whole.
    @Test
    void aWriteFromMemoryThatCannotBeReadSendsNothing() throws Exception {
        try (var pair = pair()) {
            for (int i = 0; i < 2000; i++) { // more than there are credits, and room
                ByteBuffer good = bytes("good");
                assertThatThrownBy(() -> pair.client.write(closed())).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> pair.client.write(new ByteBuffer[] {good, closed()}))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(good.position()).isZero();
            }
            pair.client.write(bytes("hello"));
            pair.client.shutdownOutput();
            assertThat(text(pair.server, 100)).isEqualTo("hello");
        }
    }
}
