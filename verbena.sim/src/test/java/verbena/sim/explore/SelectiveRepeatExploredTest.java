package verbena.sim.explore;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.explore.SelectiveRepeatWorld.Plant;

/// Selective repeat on a network that loses, doubles and mixes packets, in every order of the steps of both ends.
class SelectiveRepeatExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int SPARES = 4;

    @Test
    void requests() {
        explore(3, 0, SPARES, DEEP ? 2 : 1);
    }

    @Test
    void requestsWithOneFrameToKeep() {
        explore(3, 0, 1, DEEP ? 2 : 1);
    }

    @Test
    void answers() {
        explore(0, 1, SPARES, DEEP ? 3 : 2);
    }

    @Test
    void both() {
        explore(1, DEEP ? 2 : 1, SPARES, 1);
    }

    private static void explore(int sends, int reads, int spares, int deviations) {
        System.out.println(Explorer.explore(
                "selective repeat, " + sends + " SENDs and " + reads + " READs, " + spares + " spare frames",
                () -> new SelectiveRepeatWorld(sends, reads, spares, Plant.NOTHING),
                SelectiveRepeatWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aMessageThatComesTwiceIsFound() {
        assertThat(find(2, 0, Plant.REPEATS_AS_ANOTHER)).hasMessageContaining("b has received");
    }

    @Test
    void aWaitWithoutEndIsFound() {
        assertThat(find(2, 0, Plant.ANSWERS_NOTHING)).hasMessageContaining("has failed");
    }

    @Test
    void aChangedByteIsFound() {
        assertThat(find(0, 1, Plant.CHANGES_A_BYTE)).hasMessageContaining("other bytes");
    }

    @Test
    void successForWhatIsNotDeliveredIsFound() {
        assertThat(find(2, 0, Plant.ACKNOWLEDGES_TOO_MUCH)).hasMessageContaining("not delivered");
    }

    private static Counterexample find(int sends, int reads, Plant plant) {
        return Explorer.find(
                "selective repeat",
                () -> new SelectiveRepeatWorld(sends, reads, SPARES, plant),
                SelectiveRepeatWorld.fingerprint(),
                1);
    }
}
