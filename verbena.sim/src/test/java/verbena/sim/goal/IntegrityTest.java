package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import verbena.sim.NetworkFaults;
import verbena.sim.traffic.Account;
import verbena.sim.traffic.Feature;
import verbena.sim.traffic.Hazards;
import verbena.sim.traffic.Profile;
import verbena.sim.traffic.Simulation;

/// Goal N2: whatever the network loses, doubles, reorders and damages, RC delivers every message once, in order and
/// unharmed, and UC and UD deliver whole messages or none. All opcodes, every message compared byte for byte.
class IntegrityTest {
    private static final long OPERATIONS = Goal.size(1_250, 200_000);
    private static final double[] LOSS = {0, 0.01, 0.05, 0.1, 0.2, 0.3};
    private static final double[] DUPLICATE = {0, 0.1, 0.5};
    private static final int[] REORDER = {0, 8, 64};
    private static final double[] MARK = {0.02, 0.3, 1};
    private static final double[] CORRUPT = {0, 0.01};
    private static final double REORDER_SHARE = 0.1;

    @Test
    void everyMessageArrivesAsSentUnderEveryMixOfFaults() {
        tryEveryMixOfFaults(Set.of());
    }

    /// Long READs, and answers to them that come early are kept (decision 05).
    @Test
    void everyMessageArrivesAsSentWhereOnlyWhatIsMissingIsSentAgain() {
        long early = tryEveryMixOfFaults(Set.of(Feature.SELECTIVE_REPEAT, Feature.READ_PIECES));
        assertThat(early).as("answers that came early").isPositive();
    }

    private static long tryEveryMixOfFaults(Set<Feature> features) {
        long early = 0;
        long start = System.nanoTime();
        int cells = 0;
        long requests = 0;
        long packets = 0;
        long lost = 0;
        for (double loss : LOSS) {
            for (double duplicate : DUPLICATE) {
                for (int reorder : REORDER) {
                    for (double corrupt : CORRUPT) {
                        NetworkFaults faults = NetworkFaults.of(loss, duplicate, corrupt);
                        Account account = run(
                                reorder == 0 ? faults : faults.withReorder(REORDER_SHARE, reorder), features, cells);
                        early += account.happened().getOrDefault(Feature.SELECTIVE_REPEAT, 0L);
                        cells++;
                        requests += account.completed() + account.failed();
                        packets += account.packets();
                        lost += account.lost();
                        assertThat(account.broke() == 0 || loss + corrupt > 0)
                                .as("a connection broke without a loss")
                                .isTrue();
                    }
                }
            }
        }
        Goal.report(
                "N2",
                start,
                "%d mixes of faults, %,d requests over RC, UC and UD, %,d packets of which %,d were lost, %,d answers early: every message whole"
                        .formatted(cells, requests, packets, lost, early));
        return early;
    }

    @Test
    void everyMessageArrivesAsSentWhereMarksAndDelaySlowItDown() {
        long start = System.nanoTime();
        int cells = 0;
        long requests = 0;
        long marked = 0;
        long heeded = 0;
        for (double mark : MARK) {
            for (double loss : LOSS) {
                for (int reorder : REORDER) {
                    NetworkFaults faults = NetworkFaults.of(loss, 0, 0).withMarks(mark);
                    Account account = run(
                            reorder == 0 ? faults : faults.withReorder(REORDER_SHARE, reorder),
                            Set.of(Feature.MARKS),
                            cells);
                    cells++;
                    requests += account.completed() + account.failed();
                    marked += account.marked();
                    heeded += account.happened().get(Feature.MARKS);
                    assertThat(account.broke() == 0 || loss > 0)
                            .as("a connection broke without a loss")
                            .isTrue();
                }
            }
        }
        assertThat(heeded).as("marks slowed connections down").isPositive();
        Goal.report(
                "N2",
                start,
                "%d mixes of marks and faults, %,d requests, %,d packets marked, %,d times a rate fell: every message whole"
                        .formatted(cells, requests, marked, heeded));
    }

    private static Account run(NetworkFaults faults, Set<Feature> features, int cell) {
        String name = "cell " + cell + ", " + faults;
        return new Simulation(
                        Goal.seed() + cell,
                        new Profile(name, name, faults, Hazards.NONE, features),
                        OPERATIONS,
                        Goal.command(IntegrityTest.class) + "   # " + name,
                        link -> link)
                .run(Goal.captures());
    }
}
