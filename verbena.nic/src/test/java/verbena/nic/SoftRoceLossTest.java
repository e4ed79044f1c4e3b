package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import verbena.verbs.EndpointOptions;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;

/// Connections with a Linux kernel's soft-RoCE while `.ci/lab` makes the network lose packets. All requests of a
/// reliable connection are done once and in order. Each message of an unreliable one arrives whole or not at all.
/// The test also passes without loss.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceLossTest extends SoftRoceLab {
    private static final int ROUNDS = 60;
    /// Two packets.
    private static final int MESSAGE_BYTES = 1_500;

    private static final Pattern COMPLETION =
            Pattern.compile("\"status\": ([0-9]+), \"opcode\": [0-9]+, \"len\": ([0-9]+), \"wr_id\": ([0-9]+)");
    private static final int COUNTER = 120_000;

    /// A message that shows its number, and where it was cut if it was.
    private static byte[] numbered(int number) {
        byte[] data = new byte[MESSAGE_BYTES];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (number * 31 + i * 7 + (i >>> 8));
        }
        return ByteBuffer.wrap(data).putInt(number).array();
    }

    @Test
    void everythingWeAskForIsDoneOnce() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        setTheirs(COUNTER, new byte[8]);
        for (int i = 0; i < ROUNDS; i++) {
            MemorySegment.copy(MemorySegment.ofArray(numbered(i)), 0, memory.segment(), 0, MESSAGE_BYTES);
            try (var batch = queuePair.sendBatch()) {
                batch.write(1, theirAddress, theirKey).sge(memory, 0, MESSAGE_BYTES);
                batch.read(2, theirAddress, theirKey).sge(memory, 10_000, MESSAGE_BYTES);
                batch.fetchAdd(3, theirAddress + COUNTER, theirKey, 1)
                        .sge(memory, 20_000, 8)
                        .signaled();
                batch.submit();
            }
            expect(3, WcStatus.SUCCESS);
            assertThat(ours(10_000, MESSAGE_BYTES)).isEqualTo(numbered(i));
            assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 20_000)).isEqualTo(i);
        }
    }

    @Test
    void everythingTheyAskForIsDoneOnce() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults(), "timeout", 12);
        memory.segment().set(ValueLayout.JAVA_LONG, COUNTER, 0);
        long key = Integer.toUnsignedLong(memory.rkey());
        for (int i = 0; i < ROUNDS / 3; i++) {
            setTheirs(0, numbered(i));
            theyWrite(MESSAGE_BYTES, memory.address(), memory.rkey());
            theyPost(
                    "read",
                    MESSAGE_BYTES,
                    "offset",
                    10_000,
                    "raddr",
                    memory.address(),
                    "rkey",
                    Integer.toUnsignedLong(memory.rkey()));
            theyPost("fetch_add", 8, "offset", 20_000, "add", 1, "raddr", memory.address() + COUNTER, "rkey", key);
            for (int k = 0; k < 3; k++) {
                expectThere(WcStatus.SUCCESS);
            }
            assertThat(theirs(10_000, MESSAGE_BYTES)).isEqualTo(numbered(i));
            assertThat(memory.segment().get(ValueLayout.JAVA_LONG, COUNTER)).isEqualTo(i + 1);
        }
    }

    @Test
    void whatTheySendUnreliablyArrivesWholeOrNotAtAll() throws Exception {
        connect(QpType.UC, EndpointOptions.defaults());
        for (int i = 0; i < ROUNDS; i++) {
            queuePair.postReceive(i, memory.slice((long) i * MESSAGE_BYTES, MESSAGE_BYTES));
        }
        for (int i = 0; i < ROUNDS; i++) {
            setTheirs(0, numbered(i));
            theyPost("send", MESSAGE_BYTES);
            expectThere(WcStatus.SUCCESS);
        }
        int arrived = 0;
        int last = -1;
        while (cq.await(wc, Duration.ofMillis(500))) { // then nothing more comes
            assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
            assertThat(wc.wrId()).as("a receive is not skipped").isEqualTo(arrived);
            byte[] message = ours(arrived * MESSAGE_BYTES, MESSAGE_BYTES);
            int number = ByteBuffer.wrap(message).getInt();
            assertThat(number).isGreaterThan(last);
            assertThat(message).isEqualTo(numbered(number));
            last = number;
            arrived++;
        }
        checkArrived(arrived);
    }

    @Test
    void whatWeSendUnreliablyArrivesWholeOrNotAtAll() throws Exception {
        connect(QpType.UC, EndpointOptions.defaults());
        for (int i = 0; i < ROUNDS; i++) {
            call(
                    "post_recv",
                    "qp",
                    theirQp,
                    "mr",
                    theirMr,
                    "offset",
                    i * MESSAGE_BYTES,
                    "length",
                    MESSAGE_BYTES,
                    "wr_id",
                    i);
        }
        for (int i = 0; i < ROUNDS; i++) {
            MemorySegment.copy(MemorySegment.ofArray(numbered(i)), 0, memory.segment(), 0, MESSAGE_BYTES);
            queuePair.postSend(i, memory.slice(0, MESSAGE_BYTES));
            expect(i, WcStatus.SUCCESS);
        }
        Matcher completions = COMPLETION.matcher(call("poll", "qp", theirQp, "n", ROUNDS, "timeout", 1));
        int arrived = 0;
        int last = -1;
        while (completions.find()) {
            assertThat(completions.group(1)).as("status").isEqualTo("0");
            byte[] message = theirs(Integer.parseInt(completions.group(3)) * MESSAGE_BYTES, MESSAGE_BYTES);
            int number = ByteBuffer.wrap(message).getInt();
            assertThat(number).isGreaterThan(last);
            assertThat(message).isEqualTo(numbered(number));
            last = number;
            arrived++;
        }
        checkArrived(arrived);
    }

    private static void checkArrived(int arrived) {
        System.out.println(arrived + " of " + ROUNDS + " messages of an unreliable connection have arrived");
        if (Boolean.getBoolean("verbena.lab.loss")) {
            assertThat(arrived).isBetween(1, ROUNDS);
        } else {
            assertThat(arrived).isEqualTo(ROUNDS);
        }
    }
}
