package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import verbena.sim.Faults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Goal N5: PSNs go round and round under loss, and every message is as sent.
class WrapTest {
    private static final long WRAPS = Goal.size(4, 16);
    private static final int PSNS = 1 << 24;
    private static final double LOSS = 0.05;
    private static final int MTU = 256;
    private static final int PACKETS = 8;
    private static final int LENGTH = PACKETS * MTU;
    private static final int SLOTS = 16;
    private static final int TAPE = 1 << 16;
    private static final long TIME_WAIT_NANOS = 500_000_000;

    private final World world = new World(Goal.seed());
    private final WorkCompletion wc = new WorkCompletion();
    private final End a = new End();
    private final End b = new End();
    private long posted;
    private long done;
    private long broke;

    /// A device with what messages are sent from, and slots that they come to.
    private final class End {
        final SimDevice device = world.addDevice();
        final ProtectionDomain domain = device.context().allocateProtectionDomain();
        final CompletionQueue cq = device.context().createCompletionQueue(2 * SLOTS);
        final CompletionQueue receiveCq = device.context().createCompletionQueue(SLOTS);
        final MemoryRegion tape = device.register(domain, TAPE, Access.remoteAll());
        final MemoryRegion slots = device.register(domain, SLOTS * LENGTH, Access.remoteAll());

        End() {
            var random = new SplittableRandom(Goal.seed());
            for (int i = 0; i < TAPE; i += Long.BYTES) {
                tape.segment().set(ValueLayout.JAVA_LONG, i, random.nextLong());
            }
        }

        QueuePair queuePair(QpType type) {
            return domain.createQueuePair(
                    QueuePairOptions.of(type, cq).withReceiveCq(receiveCq).withDepth(SLOTS, SLOTS));
        }

        void check(long number) {
            int slot = slot(number);
            int place = place(number);
            long mismatch =
                    MemorySegment.mismatch(slots.segment(), slot, slot + LENGTH, tape.segment(), place, place + LENGTH);
            assertThat(mismatch).as("message %d differs", number).isEqualTo(-1);
        }
    }

    private static int slot(long number) {
        return (int) (number % SLOTS) * LENGTH;
    }

    private static int place(long number) {
        return (int) (number * 40_503 % ((TAPE - LENGTH) / 8)) * 8;
    }

    private static ConnectOptions options() {
        return ConnectOptions.defaults().withMtu(Mtu.ofBytes(MTU));
    }

    /// WRITEs and READs take turns; each is compared when it has completed, before its slot is used again.
    @Test
    void reliableConnectionsGoRound() {
        long start = System.nanoTime();
        QueuePair one = a.queuePair(QpType.RC);
        QueuePair other = b.queuePair(QpType.RC);
        try {
            world.connect(one, other, options());
            world.faults(Faults.of(LOSS, 0, 0));
            while (done * PACKETS < WRAPS * PSNS) {
                while (posted - done < 2) {
                    try (SendBatch batch = one.send()) {
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
                        reconnect(one, other);
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
                "RC went %d times through all PSNs at 5 %% loss: %,d messages of %d packets, %,d packets, %,d lost, %d connections broke"
                        .formatted(
                                WRAPS,
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
    private void reconnect(QueuePair one, QueuePair other) {
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
        world.connect(one, other, options());
        posted = done;
    }

    /// Messages carry their number as immediate data: those that come are whole, and in order.
    @Test
    void unreliableConnectionsGoRound() {
        long start = System.nanoTime();
        QueuePair one = a.queuePair(QpType.UC);
        QueuePair other = b.queuePair(QpType.UC);
        long received = 0;
        try {
            world.connect(one, other, options());
            world.faults(Faults.of(LOSS, 0, 0));
            postReceives(other, 0, SLOTS);
            long next = 0;
            while (done * PACKETS < WRAPS * PSNS) {
                if (posted == done) {
                    try (SendBatch batch = one.send()) {
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
                "UC went %d times through all PSNs at 5 %% loss: of %,d messages of %d packets %,d arrived, all whole, %,d packets, %,d lost"
                        .formatted(
                                WRAPS,
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
        try (ReceiveBatch batch = qp.receive()) {
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
