package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.verbs.Gid;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Packet;

/// Goal S3: an attacker who tries PSNs, or queue pair numbers, finds none, and is noticed. Meanwhile an honest pair
/// of devices goes on. By default the attacker tries those around the right one, deep all.
class SearchTest {
    private static final int ALL = 1 << 24;
    private static final int TRIED = GoalRun.size(1 << 20, ALL);
    /// Rounds of the honest pair before a figure of it is believed.
    private static final int ROUNDS = GoalRun.size(20_000, 100_000);
    private static final int BATCH = 32;
    private static final int WRITE_BYTES = 4_096;
    /// The offset that the attacker would like to write to.
    private static final int PRIZE = 60_000;

    private static final Gid STRANGER = Gid.parse("10.0.0.66");

    private final Cable cable = new Cable(GoalRun.seed());
    private final Cable.End victim = cable.b;
    private final Frame shot = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];
    private final WorkCompletion wc = new WorkCompletion();
    private long posted;
    private long written;

    /// A WRITE by an attacker who knows all but one number: key, address, and the numbers of both ends.
    SearchTest() {
        cable.connect();
        victim.write(
                shot,
                "WRITE_ONLY psn 0 ackreq qp 0x%x va 0x%x rkey 0x%x len 8 | 8"
                        .formatted(victim.qp.qpn(), victim.memory.address() + PRIZE, victim.memory.rkey()));
        shot.slot.set(ValueLayout.JAVA_LONG_UNALIGNED, Packet.payloadOffset(shot, Packet.opcode(shot)), -1);
    }

    /// Lets the honest pair continue: A has eight WRITEs under way, each with its number in it.
    private void goOn() {
        while (cable.a.cq.poll(wc)) {
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            written++;
        }
        while (posted - written < 8) {
            long offset = posted % 8 * WRITE_BYTES;
            cable.a.memory.segment().set(ValueLayout.JAVA_LONG, offset, posted);
            cable.a.qp.postWrite(
                    posted++,
                    cable.a.memory.slice(offset, WRITE_BYTES),
                    victim.memory.remote().slice(offset, WRITE_BYTES));
        }
        cable.nanos += 10_000;
        cable.a.context.drive();
        victim.context.drive();
    }

    private double writesPerSecondAlone() {
        for (int i = 0; i < ROUNDS; i++) {
            goOn(); // until it is compiled
        }
        long before = written;
        long started = System.nanoTime();
        for (int i = 0; i < ROUNDS; i++) {
            goOn();
        }
        return (written - before) * 1e9 / (System.nanoTime() - started);
    }

    private void assertUnharmed() {
        long target = posted;
        while (written < target) {
            goOn();
        }
        cable.settle();
        assertThat(victim.memory.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, PRIZE))
                .as("what the attacker would like to change")
                .isZero();
        for (long i = 0; i < 8; i++) {
            assertThat(victim.memory.segment().get(ValueLayout.JAVA_LONG, i * WRITE_BYTES))
                    .isEqualTo(cable.a.memory.segment().get(ValueLayout.JAVA_LONG, i * WRITE_BYTES));
        }
        assertThat(victim.count("refused")).isZero();
    }

    private interface Aim {
        /// Changes the frame to try this number; false for the right number, which would not be a guess.
        boolean at(Frame frame, int number);
    }

    /// Tries numbers, with `right` in their middle; returns how many seconds it took.
    private double sweep(int right, Aim aim) {
        long started = System.nanoTime();
        for (int tried = 0; tried < TRIED; ) {
            for (int i = 0; i < BATCH; i++, tried++) {
                if (aim.at(shot, (right - TRIED / 2 + tried) & (ALL - 1))) {
                    victim.arrival().copyFrom(shot);
                }
            }
            goOn();
        }
        return (System.nanoTime() - started) / 1e9;
    }

    @Test
    void psnsFromAWrongAddressFindNothing() {
        double alone = writesPerSecondAlone();
        long before = written;
        shot.sourceLow = STRANGER.low();
        var right = new boolean[1];
        double seconds = sweep(victim.qp.query().receiving().rqPsn(), (frame, psn) -> {
            right[0] |= psn == victim.qp.query().receiving().rqPsn();
            Bth.setPsn(frame.slot, frame.start, psn);
            return true;
        });
        long during = written - before;
        assertUnharmed();
        assertThat(right[0]).as("the right one was tried").isTrue();
        assertThat(victim.count("dropped.source")).isEqualTo(TRIED);
        assertThat(victim.count("searches")).isPositive();
        GoalRun.print(
                "S3",
                "%,d PSNs from a wrong address in %.1f s, %.1f million a second: 0 accepted; %,.0f WRITEs of 4 KiB a second before, %,.0f meanwhile"
                        .formatted(TRIED, seconds, TRIED / seconds / 1e6, alone, during / seconds));
    }

    @Test
    void queuePairNumbersFromThePeersAddressFindNothingAndAreNoticed() {
        long before = written;
        int own = victim.qp.qpn();
        var noticed = new long[] {-1};
        double seconds = sweep(own, (frame, qpn) -> {
            if (noticed[0] < 0 && victim.count("searches") > 0) {
                noticed[0] = victim.count("dropped.unknown-qp");
            }
            Bth.setDestinationQp(frame.slot, frame.start, qpn);
            return qpn != own;
        });
        long during = written - before;
        assertUnharmed();
        assertThat(victim.count("dropped.unknown-qp")).isEqualTo(TRIED - 1);
        assertThat(noticed[0]).as("packets until it was noticed").isBetween(1L, 1_000L + 2 * BATCH);
        GoalRun.print(
                "S3",
                "%,d queue pair numbers from the right address in %.1f s: 0 accepted, noticed within %d packets; %,.0f WRITEs of 4 KiB a second meanwhile"
                        .formatted(TRIED, seconds, noticed[0], during / seconds));
    }
}
