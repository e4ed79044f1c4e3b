package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// UC queue pairs through the API.
class UnreliableConnectionTest {
    private final Pair pair = new Pair();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;
    private final QueuePair ua = a.domain.createQueuePair(QueuePairOptions.uc(a.cq));
    private final QueuePair ub = b.domain.createQueuePair(QueuePairOptions.uc(b.cq));

    UnreliableConnectionTest() {
        ua.connect(ub.endpoint());
        ub.connect(ua.endpoint());
    }

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void messagesAndWritesArrive() {
        a.memory.segment().asSlice(0, 10_000).fill((byte) 5);
        ub.postReceive(7, b.memory.slice(0, 10_000));
        ub.postReceive(8, b.memory.slice(0, 0));
        ua.postSend(1, a.memory.slice(0, 10_000));
        ua.postWriteWithImmediate(2, a.memory.slice(0, 9_000), b.memory.remote().slice(20_000, 9_000), 3);
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS", "2 SUCCESS");
        assertThat(b.completions()).containsExactly("7 SUCCESS", "8 SUCCESS");
        assertThat(b.memory
                        .segment()
                        .asSlice(0, 10_000)
                        .mismatch(a.memory.segment().asSlice(0, 10_000)))
                .isEqualTo(-1);
        assertThat(b.memory
                        .segment()
                        .asSlice(20_000, 9_000)
                        .mismatch(a.memory.segment().asSlice(0, 9_000)))
                .isEqualTo(-1);
    }

    @Test
    void whatIsLostIsLostWholeAndItsReceiveIsForTheNext() {
        int[] packets = {0};
        a.wire.loses = _ -> ++packets[0] == 2;
        ub.postReceive(7, b.memory.slice(0, 10_000));
        ua.postSend(1, a.memory.slice(0, 10_000));
        ua.postSend(2, a.memory.slice(0, 100));
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS", "2 SUCCESS");
        assertThat(b.completions()).containsExactly("7 SUCCESS");
        assertThat(b.context.counters()).containsEntry("dropped.message", 1L);
        assertThat(ub.state()).isEqualTo(QpState.RTS);
    }
}
