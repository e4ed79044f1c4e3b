package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;

/// Two devices of one process talk over real UDP sockets on loopback.
class LoopbackTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final End a = new End();
    private final End b = new End();
    private final WorkCompletion wc = new WorkCompletion();

    private static final class End implements AutoCloseable {
        final Context context = Device.named("rocev2").open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(256);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        final MemoryRegion memory = domain.allocate(1 << 20, Access.remoteAll());

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    @BeforeEach
    void connect() {
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
        for (long i = 0; i < a.memory.length(); i++) {
            a.memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (3 * i + 1));
        }
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void expect(End end, long wrId, WcOpcode opcode) throws InterruptedException {
        assertThat(end.cq.await(wc, SOON)).as("a completion in time").isTrue();
        assertThat(wc.ok()).as(wc.toString()).isTrue();
        assertThat(wc.wrId()).isEqualTo(wrId);
        assertThat(wc.opcode()).isEqualTo(opcode);
    }

    @Test
    void aSendArrivesInAPostedReceive() throws InterruptedException {
        b.queuePair.postReceive(1, b.memory.slice(0, 10_000));
        a.queuePair.postSend(2, a.memory.slice(100, 9_000));
        expect(a, 2, WcOpcode.SEND);
        expect(b, 1, WcOpcode.RECV);
        assertThat(wc.byteLength()).isEqualTo(9_000);
        assertThat(b.memory
                        .segment()
                        .asSlice(0, 9_000)
                        .mismatch(a.memory.segment().asSlice(100, 9_000)))
                .isEqualTo(-1);
    }

    @Test
    void aWriteAndAReadMoveAMebibyteEach() throws InterruptedException {
        a.queuePair.postWrite(1, a.memory.slice(0, 1 << 20), b.memory.remote());
        expect(a, 1, WcOpcode.RDMA_WRITE);
        assertThat(b.memory.segment().mismatch(a.memory.segment())).isEqualTo(-1);
        a.memory.segment().fill((byte) 0);
        a.queuePair.postRead(2, b.memory.remote().slice(0, 1 << 20), a.memory.slice(0, 1 << 20));
        expect(a, 2, WcOpcode.RDMA_READ);
        assertThat(b.memory.segment().mismatch(a.memory.segment())).isEqualTo(-1);
    }

    @Test
    void atomicsReturnTheValueBefore() throws InterruptedException {
        b.memory.segment().set(ValueLayout.JAVA_LONG, 0, 40);
        a.queuePair.postFetchAdd(1, b.memory.remote(), 2, a.memory.slice(0, 8));
        expect(a, 1, WcOpcode.FETCH_ADD);
        assertThat(a.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        a.queuePair.postCompareSwap(2, b.memory.remote(), 42, -1, a.memory.slice(8, 8));
        expect(a, 2, WcOpcode.COMP_SWAP);
        assertThat(a.memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        assertThat(b.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-1);
    }
}
