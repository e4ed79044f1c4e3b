package verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.netty.NettyEnds.await;
import static verbena.netty.NettyEnds.next;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Handlers above the channel, TLS for one, are as with any transport.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TlsTest {
    private static final String PASSWORD = "no secret";

    /// A key of its own for the test, by the JDK's keytool.
    private static KeyStore makeKey(Path folder) throws Exception {
        Path file = folder.resolve("keys");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-alias",
                        "test",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        byte[] _ = keytool.getInputStream().readAllBytes();
        assertThat(keytool.waitFor(NettyEnds.PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
        assertThat(keytool.exitValue()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    @Test
    void encryptedBytesArriveAsTheyWere(@TempDir Path folder) throws Exception {
        KeyStore keys = makeKey(folder);
        KeyManagerFactory ours = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        ours.init(keys, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        SslContext atServer = SslContextBuilder.forServer(ours).build();
        SslContext atClient =
                SslContextBuilder.forClient().trustManager(trusted).build();
        try (var ends = new NettyEnds(NettyEnds.NEAREST)) {
            var accepted = new LinkedBlockingQueue<Channel>();
            var serverHears = new Collected();
            Channel listener = ends.listen(ends.server(channel -> {
                channel.pipeline().addLast(atServer.newHandler(channel.alloc()), serverHears);
                accepted.add(channel);
            }));
            var clientHears = new Collected();
            Channel client = NettyEnds.connect(
                    ends.client(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(atClient.newHandler(channel.alloc(), "localhost", 1), clientHears);
                        }
                    }),
                    listener);
            await(client.pipeline().get(SslHandler.class).handshakeFuture());
            var message = new byte[500_000];
            new Random(1).nextBytes(message);
            var _ = client.writeAndFlush(Unpooled.wrappedBuffer(message));
            assertThat(serverHears.take(message.length)).isEqualTo(message);
            var _ = next(accepted).writeAndFlush(Unpooled.wrappedBuffer(message));
            assertThat(clientHears.take(message.length)).isEqualTo(message);
            await(client.close());
        }
    }
}
