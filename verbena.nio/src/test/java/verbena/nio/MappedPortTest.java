package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Questions about ports, and their answers.
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class MappedPortTest {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int NUMBER = 8;
    private static final int PORT = 16;

    /// A port that is free now, of UDP and of TCP. It is drawn below those that the system gives to other programs.
    private static int free() throws IOException {
        int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
        try (var _ = new DatagramSocket(new InetSocketAddress(HERE, port));
                var _ = new ServerSocket(port, 1, HERE)) {
            return port;
        } catch (BindException _) {
            return free();
        }
    }

    private static DatagramPacket receive(DatagramSocket from) throws IOException {
        var packet = new DatagramPacket(new byte[100], 100);
        from.receive(packet);
        return packet;
    }

    @Test
    void theAnswerNamesThePort() throws IOException {
        int port = free();
        try (var _ = new MappedPort(List.of(HERE), port, 0xFEDC)) {
            assertThat(MappedPort.ask(new InetSocketAddress(HERE, port), LONG)).isEqualTo(0xFEDC);
        }
    }

    @Test
    void whereNobodyAnswersTheKernelSaysSoAtOnce() throws IOException {
        var at = new InetSocketAddress(HERE, free());
        assertThatThrownBy(() -> MappedPort.ask(at, LONG)).isInstanceOf(PortUnreachableException.class);
    }

    @Test
    void aProgramThatDoesNotAnswerCostsAsLongAsItMay() throws IOException {
        try (var silent = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
            var at = (InetSocketAddress) silent.getLocalSocketAddress();
            assertThatThrownBy(() -> MappedPort.ask(at, Duration.ofMillis(1)))
                    .isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void aLostQuestionIsAskedAgainAndTheAnswerToAnotherIsNone() throws Exception {
        try (var peer = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
            var asking = new FutureTask<>(() -> MappedPort.ask((InetSocketAddress) peer.getLocalSocketAddress(), LONG));
            Thread.ofVirtual().start(asking);
            DatagramPacket lost = receive(peer);
            DatagramPacket again = receive(peer);
            assertThat(again.getLength()).isEqualTo(lost.getLength());
            assertThat(again.getData()).isEqualTo(lost.getData());
            var answer = ByteBuffer.wrap(again.getData());
            long number = answer.getLong(NUMBER);
            answer.putLong(NUMBER, number + 1).putShort(PORT, (short) 1_111);
            peer.send(again);
            again.setLength(PORT);
            answer.putLong(NUMBER, number);
            peer.send(again);
            again.setLength(PORT + 2);
            answer.putShort(PORT, (short) 2_222);
            peer.send(again);
            assertThat(asking.get()).isEqualTo(2_222);
        }
    }

    @Test
    void whatIsNoQuestionGetsNoAnswer() throws IOException {
        int port = free();
        var at = new InetSocketAddress(HERE, port);
        try (var _ = new MappedPort(List.of(HERE), port, 4_711);
                var peer = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
            byte[] question = "verbena012345678\0\0".getBytes(StandardCharsets.US_ASCII);
            byte[] longer = Arrays.copyOf(question, question.length + 1);
            byte[] other = question.clone();
            other[0] = 'V';
            for (byte[] each : List.of(new byte[0], longer, other, question)) {
                peer.send(new DatagramPacket(each, each.length, at));
            }
            DatagramPacket answer = receive(peer);
            assertThat(answer.getLength()).isEqualTo(question.length);
            assertThat(ByteBuffer.wrap(answer.getData()).getShort(PORT)).isEqualTo((short) 4_711);
            peer.send(new DatagramPacket(question, question.length, at));
            assertThat(receive(peer).getLength()).as("one answer to a question").isEqualTo(question.length);
        }
    }

    @Test
    void aPortThatAnotherProgramHasIsLeftToItAndTheOthersAreFreed() throws IOException {
        InetAddress other = InetAddress.ofLiteral("127.0.0.2");
        try (var taken = new DatagramSocket(new InetSocketAddress(HERE, 0))) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> new MappedPort(List.of(other, HERE), port, 1))
                    .isInstanceOf(BindException.class);
            new DatagramSocket(new InetSocketAddress(other, port)).close();
        }
    }

    /// Only where a device with ports of TCP is named.
    @Test
    void aListenerWhoseUdpPortIsTakenListensByTcp() throws Exception {
        assumeTrue(ChosenDevice.hasPortsOfTcp(), "verbena.nio.device names no iwarp");
        var ours = new RdmaSelectorProvider();
        var at = new InetSocketAddress(HERE, free());
        try (var taken = new DatagramSocket(at);
                ServerSocketChannel listener = ours.openServerSocketChannel().bind(at)) {
            var reading = new FutureTask<>(() -> {
                try (SocketChannel server = listener.accept()) {
                    return Providers.readFully(server, 1_000);
                }
            });
            Thread.ofPlatform().start(reading);
            try (SocketChannel client = ours.openSocketChannel()) {
                client.connect(at);
                assertThat(client.toString()).contains("TCP");
                client.write(Providers.pattern(1_000, 1));
                assertThat(reading.get()).isEqualTo(Providers.pattern(1_000, 1));
            }
            assertThat(taken.isClosed()).isFalse();
        }
    }
}
