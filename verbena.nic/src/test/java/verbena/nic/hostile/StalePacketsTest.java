package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// Goal F3: packets of earlier lives of a queue pair are not accepted in its present life.
class StalePacketsTest {
    private static final int KEPT = 8_192;
    /// In virtual time: a test lasts longer than numbers rest.
    private static final long CYCLE_NANOS = 10_000_000;

    private final Cable cable = new Cable(GoalRun.seed());
    private final SplittableRandom chance = new SplittableRandom(GoalRun.seed());
    private final Tape toA = new Tape();
    private final Tape toB = new Tape();

    /// Records the last packets in one direction.
    private static final class Tape {
        private final Frame[] frames = Frame.allocate(Arena.ofAuto().allocate((long) KEPT * Frame.SLOT_BYTES, 64));
        private int count;

        void keep(Frame frame) {
            frames[count++ % KEPT].copyFrom(frame);
        }

        Frame any(SplittableRandom chance) {
            return frames[chance.nextInt(Math.min(count, KEPT))];
        }
    }

    /// Sends a SEND, a WRITE of three packets, a READ and an atomic each way.
    private void talk() {
        for (Cable.End from : new Cable.End[] {cable.a, cable.b}) {
            Cable.End to = from == cable.a ? cable.b : cable.a;
            to.qp.postReceive(0, to.memory.slice(0, 100));
            from.qp.postSend(1, from.memory.slice(0, 100));
            from.qp.postWrite(2, from.memory.slice(0, 300), to.memory.remote());
            from.qp.postRead(3, to.memory.remote().slice(0, 200), from.memory.slice(0, 200));
            from.qp.postFetchAdd(4, to.memory.remote(), 1, from.memory.slice(0, 8));
        }
        cable.settle();
        var wc = new WorkCompletion();
        int completed = 0;
        while (cable.a.cq.poll(wc) || cable.b.cq.poll(wc)) {
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            completed++;
        }
        assertThat(completed).isEqualTo(10);
    }

    /// Replays old packets at both ends of an idle connection; returns how many of them are accepted.
    private long replay(int packets) {
        long before = accepted();
        for (int i = 0; i < packets / 2; i++) {
            cable.a.arrival().copyFrom(toA.any(chance));
            cable.b.arrival().copyFrom(toB.any(chance));
        }
        cable.settle();
        return accepted() - before;
    }

    private long accepted() {
        return cable.a.count("accepted") + cable.b.count("accepted");
    }

    private long count(String fate) {
        return cable.a.count(fate) + cable.b.count(fate);
    }

    private void listen() {
        cable.a.tap = toB::keep;
        cable.b.tap = toA::keep;
    }

    private void ignore() {
        cable.a.tap = _ -> {};
        cable.b.tap = _ -> {};
    }

    @Test
    void packetsOfClosedQueuePairsNeverReachThoseThatFollow() {
        int cycles = 10_000;
        long accepted = 0;
        long replayed = 0;
        for (int cycle = 0; cycle < cycles; cycle++) {
            cable.connect();
            accepted += replayed == 0 && cycle == 0 ? 0 : replay(50);
            listen();
            talk();
            ignore();
            recreate(cable.a);
            recreate(cable.b);
            accepted += replay(50);
            replayed += 100;
            cable.nanos += CYCLE_NANOS;
        }
        assertThat(accepted).isZero();
        assertThat(count("dropped.closed-qp") + count("dropped.unknown-qp")).isEqualTo(replayed - 50);
        GoalRun.print(
                "F3",
                cycles + " queue pairs closed and made anew, " + (replayed - 50) + " packets of closed ones replayed: "
                        + accepted + " accepted, " + count("dropped.closed-qp") + " known to be late");
    }

    private static void recreate(Cable.End end) {
        QueuePair old = end.qp;
        old.close();
        end.qp = end.domain.createQueuePair(QueuePairOptions.rc(end.cq));
        assertThat(end.qp.qpn()).isNotEqualTo(old.qpn());
    }

    @Test
    void packetsFromBeforeAResetAreNotTakenForNewOnes() {
        int cycles = 2_000;
        long accepted = 0;
        for (int cycle = 0; cycle < cycles; cycle++) {
            cable.connect();
            accepted += cycle == 0 ? 0 : replay(100);
            listen();
            talk();
            ignore();
            cable.a.qp.modify(new Transition.ToReset());
            cable.b.qp.modify(new Transition.ToReset());
            cable.nanos += CYCLE_NANOS;
        }
        assertThat(accepted).isZero();
        GoalRun.print(
                "F3",
                cycles + " times the same two queue pairs reset and connected anew, " + 100 * (cycles - 1)
                        + " packets from before replayed: " + accepted + " accepted");
    }
}
