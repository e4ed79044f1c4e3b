package verbena.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.stream.StreamPair.bytes;
import static verbena.stream.StreamPair.text;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.ConnectionException;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;

/// A peer that says what no peer should: while it connects, and as immediate data. A channel either carries on or
/// ends with an [IOException], and the listener and its other connections do not notice.
@Timeout(120)
class HostilePeerTest {
    private static final int HELLO_BYTES = 40;
    private StreamPair pair;

    @BeforeEach
    void begin() throws IOException {
        pair = new StreamPair(
                "rocev2", options -> options.withTimeout(Duration.ofMillis(50)).withLinger(Duration.ofMillis(50)));
    }

    @AfterEach
    void nothingIsLeftAndOthersDidNotNotice() throws IOException {
        pair.client.write(bytes("unhurt"));
        assertThat(text(pair.server, 6)).isEqualTo("unhurt");
        try (var another = StreamChannel.connect(pair.listener.localAddress(), pair.clientOptions);
                var accepted = pair.listener.accept()) {
            accepted.write(bytes("open"));
            assertThat(text(another, 4)).isEqualTo("open");
        }
        pair.close();
    }

    private Connection connect(byte[] hello) throws InterruptedException {
        return Connection.connect(
                pair.listener.localAddress(),
                ConnectionOptions.defaults().withDevice(pair.clientDevice).withPrivateData(PrivateData.of(hello)));
    }

    @RepeatedTest(20)
    void whateverAPeerSaysOfItselfHarmsNobody(RepetitionInfo repetition) throws Exception {
        var chance = new Random(repetition.getCurrentRepetition());
        byte[] hello = new byte[chance.nextInt(HELLO_BYTES + 10)];
        chance.nextBytes(hello);
        if (hello.length > 0 && chance.nextBoolean()) {
            hello[0] = 1; // the version
        }
        try (Connection _ = connect(hello)) {
            try (StreamChannel accepted =
                    pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                writeAndRead(accepted);
            }
        } catch (ConnectionException e) {
            assertThat(e.reason()).isNotNull(); // refused
        }
    }

    /// What a channel does with such a peer may fail, and only as channels do.
    private static void writeAndRead(StreamChannel channel) {
        try {
            int _ = channel.write(ByteBuffer.allocate(300_000));
            int _ = channel.read(ByteBuffer.allocate(300_000));
        } catch (IOException e) {
            assertThat(e).isNotNull();
        }
    }

    /// A peer that tells of data that it has not written and of credits that it does not give.
    @RepeatedTest(40)
    void whateverAPeerSendsHarmsNobody(RepetitionInfo repetition) throws Exception {
        var chance = new Random(repetition.getCurrentRepetition());
        try (Connection plain = connect(hello(4, 1, 1, 0, 1, 1))) {
            try (StreamChannel accepted =
                    pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                for (int i = 0; i < 100; i++) {
                    say(plain, message(chance));
                }
                writeAndRead(accepted);
                writeAndRead(accepted);
            }
        }
    }

    private static int message(Random chance) {
        return switch (chance.nextInt(4)) {
            case 0 -> chance.nextInt();
            case 1 -> chance.nextInt(8) << 29 | chance.nextInt(4); // each kind, with a small value
            case 2 -> 4 << 29 | chance.nextInt(0x1_0000); // credits, and no entry
            default -> chance.nextInt(3_000); // data that were not written
        };
    }

    private static void say(Connection by, int message) {
        try (SendBatch batch = by.queuePair().sendBatch()) {
            batch.writeWithImmediate(1, 0, 0, message).submit();
        } catch (VerbsException e) {
            assertThat(e).isNotNull(); // the other side has ended the connection, or the queue is full
        }
    }

    private static byte[] hello(int credits, long targets, int targetsKey, long buffer, int bufferKey, int bytes) {
        return ByteBuffer.allocate(HELLO_BYTES)
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) credits)
                .putInt(0)
                .putLong(targets)
                .putInt(targetsKey)
                .putInt(2)
                .putLong(buffer)
                .putInt(bufferKey)
                .putInt(bytes)
                .array();
    }

    @Test
    void moreDataThanThereWasRoomForEndTheConnection() throws Exception {
        try (Connection liar = connect(hello(100, 0, 0, 0, 0, 1))) {
            try (StreamChannel accepted =
                    pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                say(liar, 140_000); // the ring has 128 KiB, of which one half or both are shown by now
                IOException failure = null;
                try {
                    int _ = accepted.read(ByteBuffer.allocate(1));
                } catch (IOException e) {
                    failure = e;
                }
                assertThat(failure).hasMessageContaining("broken the protocol");
            }
        }
    }

    /// The list of targets that a peer shows may name memory that it does not have: its own queue pair refuses.
    @Test
    void aBufferThatThePeerDoesNotHaveEndsTheConnection() throws Exception {
        try (Connection _ = connect(hello(100, 4_096, 7, 4_096, 7, 1 << 20))) {
            try (StreamChannel accepted =
                    pair.listener.accept(Duration.ofSeconds(30)).orElseThrow()) {
                IOException failure = null;
                try {
                    accepted.write(ByteBuffer.allocate(10));
                    int _ = accepted.read(ByteBuffer.allocate(1));
                } catch (IOException e) {
                    failure = e;
                }
                assertThat(failure).isInstanceOf(SocketException.class);
            }
        }
    }
}
