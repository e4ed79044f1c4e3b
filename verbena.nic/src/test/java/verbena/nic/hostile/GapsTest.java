package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.transport.PacketFate;
import verbena.transport.queue.SpareFrames;
import verbena.verbs.Endpoint;
import verbena.verbs.GidType;
import verbena.verbs.LocalMemory;
import verbena.verbs.Mtu;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.wire.ib.Psn;

/// Peers that leave gaps: what a device keeps for them has a limit, is judged in its turn, and comes back.
class GapsTest {
    private static final int PEER_QPN = 0x77;
    /// So near to the end that the numbers wrap.
    private static final int FIRST_PSN = 0xFF_FFC0;
    private static final int AHEAD_MAX = 127;

    private final Cable cable = new Cable(GoalRun.seed(), true);
    /// The device; the test plays its peer.
    private final Cable.End here = cable.b;

    private final List<QueuePair> queuePairs = new ArrayList<>();

    private QueuePair connected() {
        QueuePair qp = here.domain.createQueuePair(QueuePairOptions.rc(here.cq));
        queuePairs.add(qp);
        connect(qp);
        return qp;
    }

    private void connect(QueuePair qp) {
        qp.connect(new Endpoint(cable.a.gid.gid(), GidType.ROCE_V2, PEER_QPN, FIRST_PSN, Mtu.MTU_1024));
    }

    private void write(QueuePair qp, int ahead) {
        write(qp, ahead, here.memory.rkey());
    }

    private void write(QueuePair qp, int ahead, int rkey) {
        here.inject("WRITE_ONLY psn %d va 0x%x rkey 0x%x len 8 | 8 qp 0x%x"
                .formatted(Psn.add(FIRST_PSN, ahead), here.memory.address(), rkey, qp.qpn()));
        cable.settle();
    }

    private int inUse() {
        return here.context.engines().first().spareFrames().inUse();
    }

    private void fillUp() {
        for (int i = 0; i * AHEAD_MAX < SpareFrames.FRAMES_MAX + AHEAD_MAX; i++) {
            QueuePair qp = connected();
            for (int ahead = 1; ahead < 200; ahead++) {
                write(qp, ahead);
            }
        }
    }

    @Test
    void gapsThatAreNeverFilledHoldNoMoreThanTheLimit() {
        fillUp();
        assertThat(inUse()).isEqualTo(SpareFrames.FRAMES_MAX);
        assertThat(here.count("early.requests")).isEqualTo(SpareFrames.FRAMES_MAX);

        QueuePair other = connected();
        long accepted = here.count(PacketFate.ACCEPTED.label());
        write(other, 1);
        write(other, 0);
        write(other, 1);
        assertThat(here.count(PacketFate.ACCEPTED.label()) - accepted)
                .as("another connection goes back, and goes on")
                .isEqualTo(2);
    }

    @Test
    void whatWasKeptComesBackWithTheConnection() {
        fillUp();
        queuePairs.removeFirst().modify(new Transition.ToReset());
        queuePairs.removeFirst().modify(new Transition.ToError());
        assertThat(inUse()).isEqualTo(SpareFrames.FRAMES_MAX - 2 * AHEAD_MAX);
        queuePairs.forEach(QueuePair::close);
        assertThat(inUse()).isZero();
    }

    @Test
    void whatIsWrongBehindAGapEndsTheConnectionInItsTurn() {
        QueuePair qp = connected();
        write(qp, 1);
        write(qp, 2, 0x1234_5678);
        write(qp, 3);
        assertThat(qp.state()).isEqualTo(QpState.RTS);
        assertThat(inUse()).isEqualTo(3);
        write(qp, 0);
        assertThat(qp.state()).isEqualTo(QpState.ERR);
        assertThat(here.count("sent.nak.access")).isEqualTo(1);
        assertThat(inUse()).isZero();
    }

    @Test
    void theNumbersWrapWhileGapsComeAndGo() {
        QueuePair qp = connected();
        long accepted = here.count(PacketFate.ACCEPTED.label());
        for (int first = 0; first < 1_000; first += 100) {
            for (int ahead = 99; ahead >= 0; ahead--) {
                write(qp, first + ahead);
            }
            assertThat(inUse()).isZero();
        }
        assertThat(here.count("early.requests")).isEqualTo(990);
        assertThat(here.count(PacketFate.ACCEPTED.label()) - accepted).isEqualTo(10);
        assertThat(qp.state()).isEqualTo(QpState.RTS);
    }

    @Test
    void aRepairAllocatesNothing() {
        FlightRecorder.getFlightRecorder(); // there may have been a recording
        cable.connect();
        cable.a.loseEvery = 37;
        cable.b.loseEvery = 23;
        var wc = new WorkCompletion();
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        LocalMemory from = cable.a.memory.slice(0, 64 << 10);
        RemoteMemory to = here.memory.remote();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 300 && least > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20; i++) {
                cable.a.qp.postWrite(i, from, to);
                while (!cable.a.cq.poll(wc)) {
                    cable.pass(100_000);
                }
                if (!wc.ok()) {
                    throw new AssertionError(wc.toString());
                }
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(here.count("early.requests")).isPositive();
        assertThat(least).as("bytes for 20 WRITEs of 64 KiB with losses").isZero();
    }
}
