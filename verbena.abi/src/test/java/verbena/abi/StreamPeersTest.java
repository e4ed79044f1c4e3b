package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.abi.Programs.Ended;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// Channels of Java and rsockets of C are peers.
@Timeout(180)
class StreamPeersTest {
    private static final Path SOURCE = Path.of(System.getProperty("verbena.root"), "verbena.abi/src/test/c/echo.c");
    private static final int TOTAL = 1_000_000;

    private final Programs programs = Programs.over("rocev2_lo");
    private final Context device = Device.named("rocev2@127.0.0.1").open();
    private final StreamOptions options = StreamOptions.defaults().withDevice(device);
    private String program = "";

    @BeforeEach
    void compile() {
        program = programs.compile(SOURCE).toString();
    }

    @AfterEach
    void endAll() {
        programs.close();
        device.close();
    }

    @Test
    void aChannelTalksToAnRsocketThatListens() throws IOException {
        String port = Programs.freePort();
        var serves = programs.start(program, "serve", port);
        var data = ByteBuffer.allocate(TOTAL);
        for (int i = 0; i < TOTAL; i++) {
            data.put((byte) ((i * 17) >> 2));
        }
        var back = ByteBuffer.allocate(TOTAL);
        try (StreamChannel channel =
                connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(port)), serves)) {
            data.flip();
            while (data.hasRemaining()) {
                int upTo = Math.min(TOTAL, data.position() + 30_000);
                channel.write(data.duplicate().limit(upTo));
                data.position(upTo);
                while (back.position() < upTo) {
                    assertThat(channel.read(back)).isPositive();
                }
            }
            channel.shutdownOutput();
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
        assertThat(back.array()).isEqualTo(data.array());
        Ended served = serves.await();
        assertThat(served.code()).as(served.toString()).isZero();
    }

    /// A client that comes too early comes again.
    private StreamChannel connect(InetSocketAddress to, Programs.Running server) throws IOException {
        while (true) {
            try {
                return StreamChannel.connect(to, options);
            } catch (ConnectException e) {
                assertThat(server.process().isAlive()).as(e.getMessage()).isTrue();
            }
        }
    }

    @Test
    void anRsocketTalksToAListener() throws Exception {
        try (var listener =
                StreamListener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), options)) {
            String port = Integer.toString(listener.localAddress().getPort());
            var asks = CompletableFuture.supplyAsync(() -> programs.run(program, "ask", port));
            try (StreamChannel channel = listener.accept()) {
                var buffer = ByteBuffer.allocate(30_000);
                while (channel.read(buffer.clear()) >= 0) {
                    channel.write(buffer.flip());
                }
            }
            Ended asked = asks.get();
            assertThat(asked.code()).as(asked.toString()).isZero();
        }
    }
}
