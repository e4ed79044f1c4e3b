package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.sim.NetworkFaults;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;

/// Goal N5 with unreliable connections.
class UnreliableWrapTest extends Wraps {
    /// Messages carry their number as immediate data: those that come are whole, and in order.
    @ParameterizedTest
    @MethodSource("firstPsns")
    void unreliableConnectionsGoRound(int firstPsn) {
        long start = System.nanoTime();
        QueuePair one = a.queuePair(QpType.UC);
        QueuePair other = b.queuePair(QpType.UC);
        long received = 0;
        try {
            world.connect(one, other, firstPsn, options());
            world.faults(NetworkFaults.of(LOSS, 0, 0));
            postReceives(other, 0, SLOTS);
            long next = 0;
            while (done * PACKETS < PSNS_USED) {
                if (posted == done) {
                    try (SendBatch batch = one.sendBatch()) {
                        for (int i = 0; i < 4; i++) {
                            batch.sendWithImmediate(posted, (int) posted)
                                    .sge(a.tape, place(posted), LENGTH)
                                    .signaled();
                            posted++;
                        }
                        batch.submit();
                    }
                }
                assertThat(world.step()).isTrue();
                long before = received;
                while (b.device.poll(b.receiveCq, wc)) {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    assertThat(wc.byteLength()).isEqualTo(LENGTH);
                    assertThat((long) wc.immediate()).isBetween(next, posted - 1);
                    next = wc.immediate() + 1L;
                    checkReceived(wc.wrId(), wc.immediate());
                    received++;
                }
                postReceives(other, before + SLOTS, (int) (received - before));
                while (a.device.poll(a.cq, wc)) {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    assertThat(wc.wrId()).isEqualTo(done);
                    done++;
                }
            }
        } catch (AssertionError | RuntimeException e) {
            throw Goal.failure(world, e, getClass());
        }
        assertThat(other.state()).isEqualTo(QpState.RTS);
        double expected = done * Math.pow(1 - LOSS, PACKETS);
        assertThat((double) received).isBetween(0.97 * expected, 1.03 * expected);
        Goal.report(
                "N5",
                start,
                "UC used %,d PSNs from %,d on at 5 %% loss: of %,d messages of %d packets %,d arrived, all whole, %,d packets, %,d lost"
                        .formatted(
                                PSNS_USED,
                                firstPsn,
                                done,
                                PACKETS,
                                received,
                                world.network().sent(),
                                world.network().lost()));
    }

    private void postReceives(QueuePair qp, long from, int count) {
        if (count == 0) {
            return;
        }
        try (ReceiveBatch batch = qp.receiveBatch()) {
            for (long number = from; number < from + count; number++) {
                batch.receive(number).sge(b.slots, slot(number), LENGTH);
            }
            batch.submit();
        }
    }

    private void checkReceived(long receive, int message) {
        int slot = slot(receive);
        int place = place(message);
        long mismatch =
                MemorySegment.mismatch(b.slots.segment(), slot, slot + LENGTH, b.tape.segment(), place, place + LENGTH);
        assertThat(mismatch).as("message %d differs", message).isEqualTo(-1);
    }
}
