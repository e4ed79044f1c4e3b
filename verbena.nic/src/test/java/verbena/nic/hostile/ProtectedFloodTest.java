package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// The goodput of a protected connection under a flood of forged packets, in virtual time. Each end opens so many
/// packets in a step of time and no more, whether they are good or forged. That is fair: of a forged packet a cipher
/// passes over as many bytes as of a good one ([verbena.nic.link.psp.ForgedFloodTest]).
class ProtectedFloodTest {
    private static final int PACKETS_A_STEP = 40;
    private static final long STEP_NANOS = 100_000;
    private static final int STEPS = GoalRun.size(400, 40_000);
    private static final int WRITE_BYTES = 16 << 10;
    private static final int WRITES_UNDER_WAY = 16;
    private static final int FORGED_BYTES = 1_064;
    /// A flood may cost its share of what an end can open, times this.
    private static final double ALLOWED = 1.2;

    private final Random random = new Random(GoalRun.seed());
    private final WorkCompletion wc = new WorkCompletion();

    /// The last protected packet of the active end.
    private byte[] seen = {};

    private static long packets(int forged) {
        return (long) STEPS * forged;
    }

    /// Returns the WRITEs that end well while so many forged packets come in each step.
    private long goodput(int forged) {
        Cable cable = Cable.withPsp(GoalRun.seed());
        cable.connect();
        cable.a.tap = frame -> seen = frame.packet().toArray(ValueLayout.JAVA_BYTE);
        long posted = 0;
        long done = 0;
        for (int step = 0; step < STEPS; step++) {
            for (; posted < done + WRITES_UNDER_WAY; posted++) {
                cable.a.qp.postWrite(1, cable.a.memory.slice(0, WRITE_BYTES), cable.b.memory.remote());
            }
            cable.a.allowance = PACKETS_A_STEP;
            cable.b.allowance = PACKETS_A_STEP;
            for (int i = 0; i < forged && seen.length > 0; i++) {
                forge(cable.b);
            }
            cable.pass(STEP_NANOS);
            for (; cable.a.cq.poll(wc); done++) {
                assertThat(wc.ok()).as(wc.toString()).isTrue();
            }
        }
        assertThat(cable.b.count("psp.dropped.forged")).isBetween(packets(forged) * 9 / 10, packets(forged));
        return done;
    }

    /// Lets a packet arrive that has the SPI and a coming IV of the peer, and anything else.
    private void forge(Cable.End at) {
        Frame frame = at.arrival();
        at.write(frame, "ACK psn 1 qp 1 msn 1"); // for its addresses
        byte[] forged = new byte[FORGED_BYTES];
        random.nextBytes(forged);
        MemorySegment into = MemorySegment.ofArray(forged);
        MemorySegment last = MemorySegment.ofArray(seen);
        PspHeader.write(
                into,
                0,
                RoceV2.PROTOCOL_UDP,
                0,
                PspVersion.AES_GCM_128,
                PspHeader.spi(last, 0),
                PspHeader.iv(last, 0) + 1_000);
        MemorySegment.copy(forged, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, forged.length);
        frame.length = forged.length;
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 10, 20})
    void aFloodCostsNoMoreThanItsShare(int forged) {
        double alone = goodput(0);
        double flooded = goodput(forged);
        double share = (double) forged / PACKETS_A_STEP;
        GoalRun.print(
                "psp flood",
                String.format(
                        Locale.ROOT,
                        "forged packets are %.0f %% of what an end can open: goodput is %.1f %%",
                        100 * share,
                        100 * flooded / alone));
        assertThat(flooded / alone).isBetween(1 - ALLOWED * share, 1.0);
    }
}
