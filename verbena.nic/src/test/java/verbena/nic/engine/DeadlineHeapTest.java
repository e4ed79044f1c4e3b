package verbena.nic.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

class DeadlineHeapTest {
    private final DeadlineHeap heap = new DeadlineHeap();

    private static final class Timed implements Protocol {
        final EngineTask task = new EngineTask(this, Transport.RC);
        long deadline;

        Timed(long deadline) {
            this.deadline = deadline;
        }

        @Override
        public long deadlineNanos() {
            return deadline;
        }

        @Override
        public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
            throw new AssertionError("no packets here");
        }

        @Override
        public boolean poll(Frame frame, long nowNanos) {
            return false;
        }

        @Override
        public void onDeadline(long nowNanos) {}
    }

    private Timed scheduled(long deadline) {
        var timed = new Timed(deadline);
        heap.schedule(timed.task);
        return timed;
    }

    @Test
    void aDeadlineThatMovedLaterCountsAsItIsOnceSettled() {
        Timed first = scheduled(10);
        scheduled(30);
        first.deadline = 20;
        heap.schedule(first.task);
        assertThat(heap.earliestNanos()).isEqualTo(10);

        heap.settle();
        assertThat(heap.earliestNanos()).isEqualTo(20);
        first.deadline = Protocol.NEVER;
        heap.settle();
        assertThat(heap.earliestNanos()).isEqualTo(30);
        assertThat(heap.pollDue(20)).isNull();
    }

    @Test
    void theEarliestIsFirstWhateverHasMoved() {
        var random = new Random(1);
        var all = new ArrayList<Timed>();
        for (int i = 0; i < 200; i++) {
            all.add(scheduled(random.nextInt(1_000)));
        }
        for (int i = 0; i < 2_000; i++) {
            Timed one = all.get(random.nextInt(all.size()));
            one.deadline = random.nextInt(10) == 0 ? Protocol.NEVER : random.nextInt(1_000);
            heap.schedule(one.task);
            heap.settle();
            assertThat(heap.earliestNanos())
                    .isEqualTo(
                            all.stream().mapToLong(Timed::deadlineNanos).min().orElseThrow());
        }
    }

    /// Its code has failed before, so it is not called again.
    @Test
    void aTaskThatIsLostGoes() {
        Timed lost = scheduled(10);
        scheduled(20);
        lost.task.isLost = true;
        heap.settle();
        assertThat(heap.earliestNanos()).isEqualTo(20);
    }
}
