package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.sim.NetworkFaults;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;

/// Goal N5 with reliable connections.
class ReliableWrapTest extends Wraps {
    private static final long TIME_WAIT_NANOS = 500_000_000;

    private long broke;

    /// WRITEs and READs take turns; each is compared when it has completed, before its slot is used again.
    @ParameterizedTest
    @MethodSource("firstPsns")
    void reliableConnectionsGoRound(int firstPsn) {
        long start = System.nanoTime();
        QueuePair one = a.queuePair(QpType.RC);
        QueuePair other = b.queuePair(QpType.RC);
        try {
            world.connect(one, other, firstPsn, options());
            world.faults(NetworkFaults.of(LOSS, 0, 0));
            while (done * PACKETS < PSNS_USED) {
                while (posted - done < 2) {
                    try (SendBatch batch = one.sendBatch()) {
                        if (isWrite(posted)) {
                            batch.write(posted, b.slots.address() + slot(posted), b.slots.rkey())
                                    .sge(a.tape, place(posted), LENGTH);
                        } else {
                            batch.read(posted, b.tape.address() + place(posted), b.tape.rkey())
                                    .sge(a.slots, slot(posted), LENGTH);
                        }
                        batch.signaled().submit();
                    }
                    posted++;
                }
                assertThat(world.step()).isTrue();
                while (a.device.poll(a.cq, wc)) {
                    assertThat(wc.wrId()).isEqualTo(done);
                    if (!wc.ok()) {
                        assertThat(wc.status()).as(wc.toString()).isEqualTo(WcStatus.RETRY_EXC_ERR);
                        reconnect(one, other, psn(firstPsn, done));
                        break;
                    }
                    (isWrite(done) ? b : a).check(done);
                    done++;
                }
            }
        } catch (AssertionError | RuntimeException e) {
            throw Goal.failure(world, e, getClass());
        }
        Goal.report(
                "N5",
                start,
                "RC used %,d PSNs from %,d on at 5 %% loss: %,d messages of %d packets, %,d packets, %,d lost, %d connections broke"
                        .formatted(
                                PSNS_USED,
                                firstPsn,
                                done,
                                PACKETS,
                                world.network().sent(),
                                world.network().lost(),
                                broke));
    }

    private static boolean isWrite(long number) {
        return number % 2 == 0;
    }

    /// What failed is posted again on a new life of the connection.
    private void reconnect(QueuePair one, QueuePair other, int psn) {
        broke++;
        while (a.device.poll(a.cq, wc)) {
            assertThat(wc.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        }
        long until = world.nowNanos() + TIME_WAIT_NANOS;
        world.stepAfter(TIME_WAIT_NANOS);
        assertThat(world.runUntil(() -> world.nowNanos() >= until, TIME_WAIT_NANOS))
                .isTrue();
        one.modify(new Transition.ToReset());
        other.modify(new Transition.ToReset());
        world.connect(one, other, psn, options());
        posted = done;
    }
}
