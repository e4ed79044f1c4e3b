package verbena.tools.weak;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import verbena.check.Rule;
import verbena.messages.PeerMemory;
import verbena.messages.Received;
import verbena.messages.RemoteWorker;
import verbena.messages.TagFilter;
import verbena.messages.Worker;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.nio.RdmaSelectorProvider;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.tools.Background;
import verbena.tools.Cli;
import verbena.tools.SourcePrograms;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Pending;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// The short programs: all examples, and one of each integration and tool.
final class OwnPrograms {
    /// The name of [#control].
    static final String CONTROL = "control";

    /// A stream closes when its peer has said that it is over. What is under way then is room that it offers.
    private static final Set<Rule> STREAMS = Set.of(Rule.CLOSE_BUSY);

    /// The rules that examples break on purpose: a write that the peer refuses is what two of them show.
    private static final Map<String, Set<Rule>> MEANT =
            Map.of("BlockServer", Set.of(Rule.NO_ACCESS), "RawVerbs", Set.of(Rule.NO_ACCESS), "Streams", STREAMS);

    private static final int LOOKS = 5_000; // on a busy machine most of them come too late to see it

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int MESSAGES = 20;
    private static final int BYTES_MAX = 100_000;
    private static final int STREAM_BYTES = 300_000;

    private OwnPrograms() {}

    /// Returns the programs whose names are wanted.
    ///
    /// @param folder for their files
    /// @param isVirtual whether it is those that run in virtual time, or the others
    static List<OwnProgram> all(Path folder, Predicate<String> wanted, boolean isVirtual) throws IOException {
        var all = new ArrayList<OwnProgram>(examples(folder, wanted));
        all.add(new OwnProgram("messages", true, OwnPrograms::messages));
        all.add(new OwnProgram("stream", true, STREAMS, OwnPrograms::stream));
        all.add(new OwnProgram("nio", false, STREAMS, OwnPrograms::nio));
        all.add(new OwnProgram("netty", false, STREAMS, OwnPrograms::netty));
        all.add(new OwnProgram("cp", true, seed -> copy(Files.createTempDirectory(folder, "cp"), seed)));
        all.add(new OwnProgram("rping", true, _ -> ping()));
        all.add(new OwnProgram("store", false, seed -> StoreProgram.run(folder.resolve("store"), seed)));
        all.removeIf(each -> !wanted.test(each.name()) || each.isVirtual() != isVirtual);
        return all;
    }

    private static List<OwnProgram> examples(Path folder, Predicate<String> wanted) throws IOException {
        List<String> examples = SourcePrograms.examples().stream()
                .filter(each -> wanted.test(exampleName(each)))
                .toList();
        Path classes = folder.resolve("classes");
        if (!examples.isEmpty()) {
            Files.createDirectory(classes);
            SourcePrograms.compile(examples, classes);
        }
        return examples.stream()
                .map(each -> new OwnProgram(
                        exampleName(each),
                        true,
                        MEANT.getOrDefault(SourcePrograms.name(each), Set.of()),
                        _ -> assertThat(SourcePrograms.printed(List.of(each), classes))
                                .isEqualTo(SourcePrograms.promised(each))))
                .toList();
    }

    private static String exampleName(String source) {
        return "examples/" + SourcePrograms.name(source);
    }

    /// Returns a program that looks at memory when its WRITE has completed. That is luck on a card, so it has to be
    /// found.
    ///
    /// @param isVirtual whether it runs in virtual time
    static OwnProgram control(boolean isVirtual) {
        return new OwnProgram(CONTROL, isVirtual, _ -> lookTooEarly());
    }

    private static void lookTooEarly() {
        var wc = new WorkCompletion();
        try (Context device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(16);
                var local = domain.allocate(64, Access.local());
                var remote = domain.allocate(64, Access.remoteAll());
                var here = domain.createQueuePair(QueuePairOptions.rc(queue));
                var there = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            for (long i = 1; i <= LOOKS; i++) {
                local.segment().set(ValueLayout.JAVA_LONG, 0, i);
                here.postWrite(i, local.slice(0, Long.BYTES), remote.remote());
                while (!queue.poll(wc)) {
                    Thread.onSpinWait();
                }
                assertThat(remote.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            }
        }
    }

    private static byte[] bytes(Random random, int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    // ---- messages

    private static void messages(long seed) throws Exception {
        var random = new Random(seed);
        try (Context a = Device.named("rocev2").open();
                Context b = Device.named("rocev2").open();
                Worker server = Worker.open(a);
                Worker client = Worker.open(b);
                Arena arena = Arena.ofShared();
                var shared = server.share(arena.allocate(BYTES_MAX, 8), Access.remoteAll());
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = server.listen(0)) {
            server.answerCalls(
                    call -> call.request().byteSize() == 0 ? MemorySegment.ofArray(shared.token()) : call.request());
            var accepted = threads.submit(() -> listener.accept());
            RemoteWorker toServer = client.connect(listener.localAddress());
            RemoteWorker toClient = accepted.get();
            for (int i = 0; i < MESSAGES; i++) {
                boolean isToServer = random.nextBoolean();
                byte[] sent = bytes(random, random.nextInt(random.nextBoolean() ? 100 : BYTES_MAX));
                MemorySegment into = MemorySegment.ofArray(new byte[sent.length]);
                Worker at = isToServer ? server : client;
                RemoteWorker to = isToServer ? toServer : toClient;
                Pending<Void> send;
                Pending<Received> receive;
                if (random.nextBoolean()) {
                    receive = at.postReceive(TagFilter.exactly(i), into);
                    send = to.postSend(i, sent);
                } else { // it arrives unexpected
                    send = to.postSend(i, sent);
                    receive = at.postReceive(TagFilter.exactly(i), into);
                }
                Received came = receive.await();
                send.await();
                assertThat(came.length()).isEqualTo(sent.length);
                assertThat(into.mismatch(MemorySegment.ofArray(sent))).isEqualTo(-1);
                byte[] asked = bytes(random, 1 + random.nextInt(BYTES_MAX));
                assertThat(toServer.call(asked, LIMIT)).isEqualTo(asked);
            }
            PeerMemory there = toServer.memory(toServer.call(new byte[0], LIMIT));
            long sum = 0;
            for (int i = 0; i < MESSAGES; i++) {
                MemorySegment put = MemorySegment.ofArray(bytes(random, 8 * (1 + random.nextInt(BYTES_MAX / 16))));
                Pending<Void> _ = there.postWrite(put, 8);
                MemorySegment got = MemorySegment.ofArray(new byte[(int) put.byteSize()]);
                there.postRead(8, got).await();
                assertThat(got.mismatch(put)).isEqualTo(-1);
                there.postFlush().await();
                assertThat(shared.segment().asSlice(8, put.byteSize()).mismatch(put))
                        .isEqualTo(-1);
                assertThat(there.postFetchAdd(0, i).await()).isEqualTo(sum);
                sum += i;
                assertThat(there.postCompareSwap(0, sum, sum + 1).await()).isEqualTo(sum);
                sum++;
            }
            toServer.call(new byte[1], LIMIT); // its owner knows what the atomics did
            assertThat(shared.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(sum);
            toClient.close();
        }
    }

    // ---- streams

    private static void stream(long seed) throws Exception {
        try (Context device = Device.named("rocev2").open()) {
            stream(
                    StreamOptions.defaults().withDevice(device),
                    device.gid(1, 0).gid().address(),
                    seed);
        }
        stream(StreamOptions.defaults(), ANY_PORT.getAddress(), seed); // the nearest
        awaitStreams();
    }

    private static void stream(StreamOptions options, InetAddress at, long seed) throws Exception {
        try (StreamListener listener = StreamListener.bind(new InetSocketAddress(at, 0), options);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var server = threads.submit(() -> {
                try (StreamChannel channel = listener.accept()) {
                    echo(channel);
                }
                return true;
            });
            try (StreamChannel channel = StreamChannel.connect(listener.localAddress(), options)) {
                exchange(channel, channel::shutdownOutput, seed);
            }
            server.get();
        }
    }

    private static void awaitStreams() throws InterruptedException {
        assertThat(StreamChannel.awaitCloses(LIMIT)).as("streams are closed").isTrue();
    }

    private static void echo(ByteChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(50_000);
        while (channel.read(buffer.clear()) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    private interface End {
        void run() throws IOException;
    }

    /// Writes bytes in pieces by one thread, and takes them back by another.
    private static void exchange(ByteChannel channel, End end, long seed) throws Exception {
        var random = new Random(seed);
        byte[] all = bytes(random, STREAM_BYTES);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var writer = threads.submit(() -> {
                int at = 0;
                while (at < all.length) {
                    int piece = Math.min(1 + random.nextInt(random.nextBoolean() ? 64 : 40_000), all.length - at);
                    ByteBuffer buffer = ByteBuffer.wrap(all, at, piece);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                    at += piece;
                }
                end.run();
                return true;
            });
            ByteBuffer back = ByteBuffer.allocate(all.length + 1);
            int count = 0;
            while (count >= 0) {
                count = channel.read(back);
            }
            writer.get();
            assertThat(back.position()).isEqualTo(all.length);
            assertThat(back.flip().mismatch(ByteBuffer.wrap(all))).isEqualTo(-1);
        }
    }

    // ---- channels of the JDK

    private static void nio(long seed) throws Exception {
        var provider = new RdmaSelectorProvider();
        try (ServerSocketChannel listener = provider.openServerSocketChannel().bind(ANY_PORT);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var server = threads.submit(() -> {
                try (var channel = listener.accept()) {
                    selectedEcho(provider, channel);
                }
                return true;
            });
            try (var channel = provider.openSocketChannel()) {
                channel.connect(listener.getLocalAddress());
                exchange(channel, channel::shutdownOutput, seed);
            }
            server.get();
        }
        awaitStreams();
    }

    private static void selectedEcho(RdmaSelectorProvider provider, java.nio.channels.SocketChannel channel)
            throws IOException {
        channel.configureBlocking(false);
        try (Selector selector = provider.openSelector()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            ByteBuffer buffer = ByteBuffer.allocate(50_000);
            boolean isOver = false;
            while (!isOver) {
                selector.select(LIMIT.toMillis());
                selector.selectedKeys().clear();
                isOver = channel.read(buffer) < 0;
                buffer.flip();
                channel.write(buffer);
                buffer.compact();
                isOver = isOver && buffer.position() == 0;
                key.interestOps((buffer.hasRemaining() ? SelectionKey.OP_READ : 0)
                        | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
            }
        }
    }

    // ---- Netty

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var _ = context.writeAndFlush(message);
        }
    }

    private static final class Sink extends ChannelInboundHandlerAdapter {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final CompletableFuture<byte[]> all = new CompletableFuture<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            var buffer = (ByteBuf) message;
            var taken = new byte[buffer.readableBytes()];
            buffer.readBytes(taken);
            buffer.release();
            bytes.writeBytes(taken);
            if (bytes.size() >= STREAM_BYTES) {
                all.complete(bytes.toByteArray());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            all.completeExceptionally(cause);
        }
    }

    private static void netty(long seed) throws Exception {
        var random = new Random(seed);
        byte[] all = bytes(random, STREAM_BYTES);
        var group = new MultiThreadIoEventLoopGroup(1, VerbenaIoHandler.newFactory());
        try {
            var listener = new ServerBootstrap()
                    .group(group)
                    .channel(VerbenaServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    })
                    .bind(ANY_PORT)
                    .sync()
                    .channel();
            var sink = new Sink();
            var client = new Bootstrap()
                    .group(group)
                    .channel(VerbenaSocketChannel.class)
                    .handler(sink)
                    .connect(listener.localAddress())
                    .sync()
                    .channel();
            int at = 0;
            while (at < all.length) {
                int piece = Math.min(1 + random.nextInt(random.nextBoolean() ? 64 : 40_000), all.length - at);
                var _ = client.writeAndFlush(Unpooled.wrappedBuffer(all, at, piece));
                at += piece;
            }
            assertThat(sink.all.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(all);
        } finally {
            group.shutdownGracefully(10, LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    .sync();
        }
        awaitStreams();
    }

    // ---- tools

    private static void copy(Path folder, long seed) throws Exception {
        Path served = Files.createDirectory(folder.resolve("served"));
        byte[] content = bytes(new Random(seed), STREAM_BYTES);
        Path file = Files.write(folder.resolve("file"), content);
        Path back = folder.resolve("back");
        String mode = seed % 2 == 0 ? "read" : "write";
        Background server = Background.run("serve " + served + " --writable -P 0");
        String port = Integer.toString(server.port());
        done(Cli.run("cp", "-q", "--mode", mode, "--chunk", "8192", "-P", port, file.toString(), "127.0.0.1:there"));
        done(Cli.run("cp", "-q", "--mode", mode, "--chunk", "8192", "-P", port, "127.0.0.1:there", back.toString()));
        server.interrupt();
        done(server.result());
        assertThat(Files.readAllBytes(served.resolve("there"))).isEqualTo(content);
        assertThat(Files.readAllBytes(back)).isEqualTo(content);
    }

    private static void ping() throws Exception {
        Background server = Background.run("rping -s -S 1000 -p 0 -a 127.0.0.1");
        done(Cli.run(("rping -c -a 127.0.0.1 -V -S 1000 -C 5 -p " + server.port()).split(" ", -1)));
        done(server.result());
    }

    /// A command that fails may have met a time limit, which is no mistake on a busy machine.
    private static void done(Cli cli) {
        if (cli.status() != 0) {
            throw new IllegalStateException(cli.toString());
        }
    }
}
