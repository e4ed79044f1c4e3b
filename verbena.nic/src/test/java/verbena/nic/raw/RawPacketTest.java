package verbena.nic.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.FlowField;
import verbena.verbs.FlowRule;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.PacketFlow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Whole frames on loopback, of types that are for experiments (IEEE 802: 0x88B5 and 0x88B6).
class RawPacketTest {
    private static final String ADDRESSES = "020000000002" + "020000000001";
    private static final FlowRule ONE = FlowRule.everything().with(FlowField.ETHER_TYPE, 0x88B5);
    private static final FlowRule OTHER = FlowRule.everything().with(FlowField.ETHER_TYPE, 0x88B6);
    private static final int AREA = 2048;

    private Context context;
    private ProtectionDomain domain;
    private MemoryRegion memory;
    private End a;
    private End b;

    /// A queue pair, its completions, and its part of the memory.
    private final class End implements AutoCloseable {
        final CompletionQueue cq = context.createCompletionQueue(64);
        final QueuePair qp = domain.createQueuePair(QueuePairOptions.rawPacket(cq));
        final long area;

        End(int number) {
            area = (long) number * 2 * AREA;
            start();
        }

        void start() {
            qp.modify(new QpModification().withState(QpState.INIT).withPort(1));
            qp.modify(new QpModification().withState(QpState.RTR));
            qp.modify(new QpModification().withState(QpState.RTS));
        }

        void send(String frame) throws InterruptedException {
            byte[] bytes = HexFormat.of().parseHex(frame);
            memory.segment().asSlice(area, bytes.length).copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes));
            qp.postSend(1, memory.slice(area, bytes.length));
            assertThat(take().status()).isEqualTo(WcStatus.SUCCESS);
        }

        void receive(int length) {
            qp.postReceive(2, memory.slice(area + AREA, length));
        }

        String bytes(WorkCompletion wc) {
            assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
            assertThat(wc.opcode()).isEqualTo(WcOpcode.RECV);
            return HexFormat.of()
                    .formatHex(memory.segment()
                            .asSlice(area + AREA, wc.byteLength())
                            .toArray(ValueLayout.JAVA_BYTE));
        }

        WorkCompletion take() throws InterruptedException {
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, Duration.ofSeconds(20)))
                    .as("a completion comes")
                    .isTrue();
            return wc;
        }

        @Override
        public void close() {
            qp.close();
            cq.close();
        }
    }

    @BeforeEach
    void open() {
        context = Device.named("rocev2_lo").open();
        assumeTrue(context.attributes().has(Capability.RAW_PACKET), "raw packets need CAP_NET_RAW");
        domain = context.allocateProtectionDomain();
        memory = domain.allocate(4L * AREA, Access.local());
        a = new End(0);
        b = new End(1);
    }

    @AfterEach
    void close() {
        if (b != null) {
            a.close();
            b.close();
            memory.close();
            domain.close();
        }
        context.close();
    }

    /// Sends a frame until it comes: a kernel that is short of time or room may lose it.
    private static String delivered(End from, End to, String frame) throws InterruptedException {
        var arrival = new WorkCompletion();
        to.receive(AREA);
        do {
            from.send(frame);
        } while (!to.cq.await(arrival, Duration.ofSeconds(2)));
        return to.bytes(arrival);
    }

    private void sendUntilItIsCounted(PacketFlow flow, String frame) throws InterruptedException {
        long before = flow.packets();
        while (flow.packets() == before) {
            a.send(frame);
            long sent = System.nanoTime();
            while (flow.packets() == before && System.nanoTime() - sent < 2_000_000_000L) {
                Thread.onSpinWait();
            }
        }
    }

    private static String frame(String type, int number) {
        return ADDRESSES + type + "%08x".formatted(number) + "00".repeat(42);
    }

    @Test
    void aFrameComesAsItWasSentByTheFlowThatItFits() throws InterruptedException {
        try (PacketFlow one = a.qp.attachFlow(ONE);
                PacketFlow other = b.qp.attachFlow(OTHER)) {
            for (int i = 0; i < 100; i++) {
                assertThat(delivered(a, b, frame("88b6", i))).isEqualTo(frame("88b6", i));
                assertThat(delivered(b, a, frame("88b5", i))).isEqualTo(frame("88b5", i));
            }
            assertThat(one.packets()).isEqualTo(100);
            assertThat(other.packets()).isEqualTo(100);
            assertThat(other.bytes()).isEqualTo(6000);
        }
    }

    @Test
    void aFrameKeepsItsTag() throws InterruptedException {
        String tagged = ADDRESSES + "8100" + "2005" + "88b5" + "00".repeat(44);
        try (PacketFlow _ = b.qp.attachFlow(ONE.with(FlowField.VLAN_TAG, 5, 0xFFF))) {
            assertThat(delivered(a, b, tagged)).isEqualTo(tagged);
        }
    }

    @Test
    void withoutAReceiveAFrameIsLostAndCounted() throws InterruptedException {
        try (PacketFlow flow = b.qp.attachFlow(ONE)) {
            sendUntilItIsCounted(flow, frame("88b5", 1));
            b.receive(16); // too small for the next, and there for the one after it
            sendUntilItIsCounted(flow, frame("88b5", 2));
            long lost = flow.packets();
            assertThat(delivered(a, b, ADDRESSES + "88b5" + "0003")).isEqualTo(ADDRESSES + "88b5" + "0003");
            assertThat(b.qp.counters()).containsEntry("dropped.message", lost);
        }
    }

    @Test
    void framesThatNoInterfaceSendsEndTheRequest() throws InterruptedException {
        a.qp.postSend(7, memory.slice(a.area, 13));
        WorkCompletion failed = a.take();
        assertThat(failed.status()).isEqualTo(WcStatus.LOC_LEN_ERR);
        assertThat(failed.cause()).contains("14 bytes at least");
        assertThat(a.qp.state()).isEqualTo(QpState.SQE);
        a.qp.modify(new QpModification().withState(QpState.RTS));
        a.send(frame("88b5", 1));
    }

    @Test
    void thereIsNoOtherRequest() {
        assertThatThrownBy(() -> a.qp.postWrite(1, memory.slice(0, 64), new RemoteMemory(0, 0, 64)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RAW_PACKET has no such request");
        assertThatThrownBy(() -> a.qp.connect(a.qp.endpoint()))
                .isInstanceOf(InvalidStateException.class)
                .hasMessageContaining("has no peer");
    }

    @Test
    void aQueuePairIsUsedAgainAfterReset() throws InterruptedException {
        try (PacketFlow _ = b.qp.attachFlow(ONE)) {
            b.qp.modify(new QpModification().withState(QpState.RESET));
            b.start();
            assertThat(delivered(a, b, frame("88b5", 9))).isEqualTo(frame("88b5", 9));
        }
    }

    @Test
    void flowsAreOfQueuePairsOfFramesAndCloseBeforeThem() {
        try (CompletionQueue cq = context.createCompletionQueue(4);
                QueuePair rc = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            assertThatThrownBy(() -> rc.attachFlow(ONE))
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("is of type RC");
        }
        try (PacketFlow _ = a.qp.attachFlow(ONE)) {
            assertThatThrownBy(a.qp::close).isInstanceOf(InUseException.class);
        }
    }

    @Test
    void errorFlushesWhatIsPosted() throws InterruptedException {
        a.receive(AREA);
        a.qp.modify(new QpModification().withState(QpState.ERR));
        assertThat(a.take().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    }
}
