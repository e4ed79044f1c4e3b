package verbena.transport.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.transport.memory.Region;
import verbena.transport.queue.SendRequest;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// All operations between two ends of ours, over streams of every kind: with CRCs and markers or without, and of
/// segments of every size (RFC 5040 5.2; RFC 5044 4.1, 4.2, 4.3, 4.4).
class IwarpConnectionTest {
    private static final int MAX = 200_000;

    /// Both ends of a stream; `cut` bytes at most are delivered at once.
    private static final class Pair {
        final IwarpEnd a = new IwarpEnd("a", 1);
        final IwarpEnd b = new IwarpEnd("b", 2);
        private final Random random = new Random(3);
        private final int cut;
        private final boolean straight;

        Pair(boolean crc, boolean markers, int emss, Rtr rtr, int cut, boolean straight) {
            this.cut = cut;
            this.straight = straight;
            int mulpdu = Fpdu.mulpdu(emss, markers);
            a.connection.start(new StreamTerms(true, crc, markers, markers, mulpdu, 4, 4, rtr), 0);
            b.connection.start(new StreamTerms(false, crc, markers, markers, mulpdu, 4, 4, rtr), 0);
        }

        void run() {
            boolean moved;
            do {
                moved = carry(a, b);
                moved |= carry(b, a);
            } while (moved);
        }

        private boolean carry(IwarpEnd from, IwarpEnd to) {
            byte[] bytes = from.sent();
            for (int at = 0; at < bytes.length; ) {
                int n = Math.min(bytes.length - at, cut == 0 ? bytes.length : 1 + random.nextInt(cut));
                to.arrive(Arrays.copyOfRange(bytes, at, at + n), straight);
                at += n;
            }
            return bytes.length > 0;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "false, false, 1448, NONE, 0, false",
        "false, false, 1448, WRITE, 7, false",
        "false, false, 1448, READ, 3000, true",
        "false, false, 65483, SEND, 100000, true",
        "true, false, 1448, NONE, 0, false",
        "true, false, 65483, WRITE, 5000, true",
        "false, true, 1448, READ, 0, false",
        "true, true, 1448, WRITE, 999, true",
        "true, true, 536, SEND, 5, false",
        "true, true, 65483, NONE, 70000, false",
    })
    void everyOperationGoesThrough(boolean crc, boolean markers, int emss, Rtr rtr, int cut, boolean straight) {
        var pair = new Pair(crc, markers, emss, rtr, cut, straight);
        IwarpEnd a = pair.a;
        IwarpEnd b = pair.b;
        Region from = a.region(MAX);
        Region into = b.region(MAX);
        Region back = a.region(MAX);
        IwarpEnd.fill(from, 9);

        b.receive(1, into, 100_000, 50_000);
        a.post(SendOperation.WRITE, 10, from, 0, 70_001, into.key(), into.iova() + 5);
        a.post(SendOperation.SEND, 11, from, 300, 5_000, 0, 0);
        pair.run();
        assertThat(b.completed()).containsExactly("1 RECV 5000");
        assertThat(a.completed()).containsExactly("10 RDMA_WRITE 70001", "11 SEND 5000");
        assertThat(IwarpEnd.bytes(into, 5, 70_001)).isEqualTo(IwarpEnd.bytes(from, 0, 70_001));
        assertThat(IwarpEnd.bytes(into, 100_000, 5_000)).isEqualTo(IwarpEnd.bytes(from, 300, 5_000));

        a.post(SendOperation.READ, 12, back, 1, 66_000, into.key(), into.iova() + 5);
        a.post(SendOperation.WRITE, 13, from, 0, 0, 0, 0);
        pair.run();
        assertThat(a.completed()).containsExactly("12 RDMA_READ 66000", "13 RDMA_WRITE 0");
        assertThat(IwarpEnd.bytes(back, 1, 66_000)).isEqualTo(IwarpEnd.bytes(from, 0, 66_000));

        SendRequest immediate =
                a.prepare(SendOperation.WRITE_WITH_IMMEDIATE, 14, from, 7, 3_000, into.key(), into.iova());
        immediate.immediateOrKey = 0xCAFE_F00D;
        a.post(immediate);
        b.receive(2, into, 150_000, 0);
        pair.run();
        assertThat(a.completed()).containsExactly("14 RDMA_WRITE 3000");
        assertThat(b.completed()).containsExactly("2 RECV_RDMA_WITH_IMM 3000 imm 0xcafef00d");

        into.memory().set(ValueLayout.JAVA_LONG, 64, 100);
        SendRequest add = a.prepare(SendOperation.FETCH_ADD, 15, back, 0, 8, into.key(), into.iova() + 64);
        add.operand = 5;
        a.post(add);
        SendRequest swap = a.prepare(SendOperation.COMPARE_SWAP, 16, back, 8, 8, into.key(), into.iova() + 64);
        swap.operand = 105;
        swap.swap = -7;
        a.post(swap);
        pair.run();
        assertThat(a.completed()).containsExactly("15 FETCH_ADD 8", "16 COMP_SWAP 8");
        assertThat(back.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(100);
        assertThat(back.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(105);
        assertThat(into.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(-7);

        a.receive(3, back, 0, 4_096);
        b.post(SendOperation.SEND, 20, into, 5, 4_096, 0, 0);
        pair.run();
        assertThat(a.completed()).containsExactly("3 RECV 4096");
        assertThat(b.completed()).containsExactly("20 SEND 4096");

        a.connection.finish(0);
        pair.run();
        assertThat(a.connection.isFinished()).isTrue();
        b.connection.onEnd(0);
        assertThat(b.connection.isFinished()).isTrue();
        assertThat(b.connection.rootCause()).isEqualTo("the peer closed the connection");
        assertThat(b.parameters.state).isEqualTo(QpState.ERR);
        assertThat(a.events).isEmpty();
        assertThat(b.events).isEmpty();
        assertThat(straight && !crc && !markers ? b.direct : 1).isPositive();
    }
}
