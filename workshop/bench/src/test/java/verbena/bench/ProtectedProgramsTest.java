package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.messages.Worker;
import verbena.netty.VerbenaChannelOption;
import verbena.netty.VerbenaIoHandler;
import verbena.netty.VerbenaServerSocketChannel;
import verbena.netty.VerbenaSocketChannel;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Programs that know nothing of PSP are protected by the environment alone: while they run, a program of others
/// records the wire, and finds nothing of what they send.
@Timeout(300)
class ProtectedProgramsTest {
    private static final String TEXT = "attack at dawn, by the north gate; ";
    private static final int BYTES = 200_000;
    private static final byte[] CONTENT =
            TEXT.repeat(BYTES / TEXT.length() + 1).substring(0, BYTES).getBytes(StandardCharsets.US_ASCII);

    /// A datagram behind all packets, so that the recorder is done with them when it has this one.
    private static final String LAST = "the end of the recording";

    /// Records the loopback of a namespace while the rest of the arguments runs.
    private static final String RECORD = "ip link set lo up || exit 9;"
            + " dumpcap -q -i lo -w \"$0\" 2>\"$0.log\" & recorder=$!;"
            + " until grep -q '^File:' \"$0.log\"; do kill -0 $recorder || exit 9; sleep 0.1; done;"
            + " \"$@\"; status=$?; [ $status -eq 0 ] && until grep -q '" + LAST + "' \"$0\"; do sleep 0.1; done;"
            + " kill -INT $recorder; wait $recorder; exit $status";

    @TempDir
    Path folder;

    /// The program of the child, by its first argument, between two devices whose names say nothing of PSP.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            try (Context server = Device.named("rocev2").open();
                    Context client = Device.named("rocev2").open();
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
                Callable<byte[]> arrived = switch (arguments[0]) {
                    case "connection" -> connection(server, client, at);
                    case "stream" -> stream(server, client, at);
                    case "messages" -> messages(server, client);
                    default -> netty(server, client, at);
                };
                byte[] content = threads.submit(arrived).get(60, TimeUnit.SECONDS);
                if (!Arrays.equals(content, CONTENT)) {
                    throw new AssertionError("other bytes arrived");
                }
                try (var socket = new DatagramSocket()) {
                    byte[] last = LAST.getBytes(StandardCharsets.US_ASCII);
                    socket.send(new DatagramPacket(last, last.length, InetAddress.getLoopbackAddress(), 9));
                }
                System.out.println("psp peers " + client.counters().getOrDefault("psp.peers.now", 0L));
            }
        }

        private static Callable<byte[]> connection(Context server, Context client, InetSocketAddress at) {
            return () -> {
                var options = ConnectionOptions.defaults();
                try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                        var listener = ConnectionListener.bind(at, options.withDevice(server))) {
                    var accepted = threads.submit((Callable<Connection>) listener::accept);
                    try (var near = Connection.connect(listener.localAddress(), options.withDevice(client));
                            var far = accepted.get(30, TimeUnit.SECONDS)) {
                        var there = far.allocate(BYTES, Access.remoteAll());
                        var here = near.allocate(BYTES);
                        here.segment().asByteBuffer().put(CONTENT);
                        near.write(here, there.remote());
                        byte[] content = new byte[BYTES];
                        there.segment().asByteBuffer().get(content);
                        return content;
                    }
                }
            };
        }

        private static Callable<byte[]> stream(Context server, Context client, InetSocketAddress at) {
            return () -> {
                var options = StreamOptions.defaults();
                try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                        var listener = StreamListener.bind(at, options.withDevice(server))) {
                    var read = threads.submit(() -> {
                        try (StreamChannel channel = listener.accept()) {
                            ByteBuffer into = ByteBuffer.allocate(BYTES);
                            while (into.hasRemaining() && channel.read(into) >= 0) {
                                // until all is there
                            }
                            return into.array();
                        }
                    });
                    try (var channel = StreamChannel.connect(listener.localAddress(), options.withDevice(client))) {
                        channel.write(ByteBuffer.wrap(CONTENT));
                        return read.get(30, TimeUnit.SECONDS);
                    }
                }
            };
        }

        private static Callable<byte[]> messages(Context server, Context client) {
            return () -> {
                try (var serving = Worker.open(server);
                        var asking = Worker.open(client);
                        var threads = Executors.newVirtualThreadPerTaskExecutor();
                        var listener = serving.listen(0)) {
                    serving.answerCalls(call -> MemorySegment.ofArray(call.bytes()));
                    var accepted = threads.submit(() -> listener.accept());
                    byte[] content = asking.connect(listener.localAddress()).call(CONTENT, Duration.ofSeconds(30));
                    accepted.get().close();
                    return content;
                }
            };
        }

        private static Callable<byte[]> netty(Context server, Context client, InetSocketAddress at) {
            return () -> {
                var group = new MultiThreadIoEventLoopGroup(1, VerbenaIoHandler.newFactory());
                var arrived = new CompletableFuture<byte[]>();
                try {
                    var listening = new ServerBootstrap()
                            .group(group)
                            .channel(VerbenaServerSocketChannel.class)
                            .option(VerbenaChannelOption.DEVICE, server)
                            .childHandler(new ChannelInitializer<SocketChannel>() {
                                @Override
                                protected void initChannel(SocketChannel channel) {
                                    channel.pipeline().addLast(new Collecting(arrived));
                                }
                            })
                            .bind(at)
                            .sync()
                            .channel();
                    var channel = new Bootstrap()
                            .group(group)
                            .channel(VerbenaSocketChannel.class)
                            .option(VerbenaChannelOption.DEVICE, client)
                            .handler(new Collecting(new CompletableFuture<>()))
                            .connect(listening.localAddress())
                            .sync()
                            .channel();
                    channel.writeAndFlush(Unpooled.wrappedBuffer(CONTENT)).sync();
                    byte[] content = arrived.get(30, TimeUnit.SECONDS);
                    channel.close().sync();
                    listening.close().sync();
                    return content;
                } finally {
                    group.shutdownGracefully(10, 1_000, TimeUnit.MILLISECONDS).sync();
                }
            };
        }
    }

    private static final class Collecting extends SimpleChannelInboundHandler<ByteBuf> {
        private final ByteBuf all = Unpooled.buffer(BYTES);
        private final CompletableFuture<byte[]> done;

        Collecting(CompletableFuture<byte[]> done) {
            this.done = done;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
            all.writeBytes(part);
            if (all.readableBytes() >= BYTES) {
                done.complete(Arrays.copyOf(all.array(), BYTES));
            }
        }
    }

    private Path policy() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        return Files.writeString(folder.resolve("psp"), "secret secret\ndefault required\n");
    }

    @ParameterizedTest
    @CsvSource({"connection", "stream", "messages", "netty"})
    void theWireShowsNothing(String program) throws Exception {
        Path protectedWire = folder.resolve("protected.pcapng");
        Path plainWire = folder.resolve("plain.pcapng");
        assertThat(run(program, protectedWire, policy().toString())).contains("psp peers 1");
        assertThat(run(program, plainWire, "off")).contains("psp peers 0");
        assertThat(shows(plainWire))
                .as("the recorder sees what is in the clear")
                .isTrue();
        assertThat(Files.size(protectedWire)).isGreaterThan(BYTES);
        assertThat(shows(protectedWire)).isFalse();
    }

    private static boolean shows(Path wire) throws IOException {
        return new String(Files.readAllBytes(wire), StandardCharsets.ISO_8859_1).contains(TEXT);
    }

    private String run(String program, Path wire, String psp) throws Exception {
        var builder = new ProcessBuilder(List.of(
                        "unshare",
                        "--net",
                        "sh",
                        "-c",
                        RECORD,
                        wire.toString(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        program))
                .redirectErrorStream(true);
        builder.environment().put("VERBENA_PSP", psp);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            assumeTrue(false, "no unshare: " + e.getMessage());
            throw e;
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        assumeTrue(status != 1 || !output.contains("unshare"), "no right to a network namespace");
        assumeTrue(status != 9, "no dumpcap, or no right to record: " + output);
        assertThat(status).as(output).isZero();
        return output;
    }
}
