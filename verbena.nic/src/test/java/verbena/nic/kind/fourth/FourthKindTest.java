package verbena.nic.kind.fourth;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.nic.device.DeviceContext;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// A fourth kind of device, [TubeKind], has a fast path of its own for short messages. It changes nothing in the
/// transport, the engine, links or frames ([decision
/// 17](../../../../../../../../docs/decisions/17-shared-memory.md)).
class FourthKindTest {
    private static final int SLOT = 64;
    private static final int SLOTS = 64;

    private long nanos = 1_000_000_000;
    private final End a = new End("10.0.0.1");
    private final End b = new End("10.0.0.2");

    /// One device, which the test drives, with a queue pair.
    private final class End implements AutoCloseable {
        final TubeLink link;
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemoryRegion region;
        final QueuePair queuePair;
        int posted;

        End(String address) {
            link = new TubeLink(address);
            context = DeviceContext.open(
                    new TubeDevice("tube-" + address, link),
                    List.of(link),
                    host -> new TubeKind(host, link),
                    Mtu.MTU_1024,
                    () -> nanos,
                    new SplittableRandom(address.hashCode()));
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(4 * SLOTS);
            MemorySegment memory = Arena.ofAuto().allocate((long) SLOT * SLOTS, 8);
            region = domain.register(memory, Set.of(Access.LOCAL_WRITE));
            queuePair = domain.createQueuePair(QueuePairOptions.of(QpType.RC, completions));
        }

        /// Sends a number in a message of so many bytes.
        void send(int number, int bytes) {
            region.segment().set(ValueLayout.JAVA_INT, (long) posted * SLOT, number);
            queuePair.postSend(number, region.slice((long) posted++ * SLOT, bytes));
        }

        void receive() {
            queuePair.postReceive(posted, region.slice((long) posted++ * SLOT, SLOT));
        }

        /// The numbers of what has completed; of receives, those in the messages.
        List<Long> completed(boolean areReceives) {
            var numbers = new ArrayList<Long>();
            var wc = new WorkCompletion();
            while (completions.poll(wc)) {
                assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
                numbers.add(areReceives ? region.segment().get(ValueLayout.JAVA_INT, wc.wrId() * SLOT) : wc.wrId());
            }
            return numbers;
        }

        @Override
        public void close() {
            queuePair.close();
            region.close();
            completions.close();
            domain.close();
            context.close();
        }
    }

    @BeforeEach
    void connect() {
        TubeLink.join(a.link, b.link);
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void settle() {
        boolean any = true;
        while (any) {
            any = a.context.drive();
            any |= b.context.drive();
        }
    }

    @Test
    void aShortMessageNeedsNoPacket() {
        b.receive();
        a.send(7, 8);
        assertThat(a.link.telegramsSent).as("by the thread that posts").isEqualTo(1);
        settle();
        assertThat(b.completed(true)).containsExactly(7L);
        assertThat(a.completed(false)).containsExactly(7L);
        assertThat(a.link.packetsSent + b.link.packetsSent).isZero();
    }

    @Test
    void shortAndLongMessagesArriveInTheirOrder() {
        for (int i = 0; i < 20; i++) {
            b.receive();
        }
        for (int i = 0; i < 20; i++) {
            a.send(i, i % 3 == 0 ? 16 : 8);
            if (i % 7 == 0) {
                settle();
            }
        }
        settle();
        assertThat(b.completed(true)).hasSize(20).isSorted();
        assertThat(a.completed(false)).hasSize(20).isSorted();
        assertThat(a.link.telegramsSent).isPositive();
        assertThat(a.link.packetsSent).isPositive();
    }

    @Test
    void whatThePeerDoesNotTakeGoesByPackets() {
        a.send(7, 8);
        settle();
        assertThat(a.completed(false)).as("there is no receive").isEmpty();
        assertThat(a.link.packetsSent).isPositive();
        b.receive();
        nanos += 1_000_000_000;
        settle();
        assertThat(b.completed(true)).containsExactly(7L);
        assertThat(a.completed(false)).containsExactly(7L);
        assertThat(a.link.telegramsSent).isEqualTo(1);
    }

    @Test
    void aMessageThatIsUnderWayIsFlushedAtAnError() {
        a.send(7, 8);
        a.queuePair.modify(new QpModification().withState(QpState.ERR));
        settle();
        var wc = new WorkCompletion();
        assertThat(a.completions.poll(wc)).isTrue();
        assertThat(wc.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        assertThat(a.completions.poll(wc)).isFalse();
    }
}
