package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nic.shm.GrantsWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Memory that is lent to a peer and taken back, in every order of the steps of both ends.
class GrantsExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void aRegionIsTakenBack() {
        Explorer.assumeDrawn(0, 2);
        explore(DEEP ? 3 : 2, false, DEEP ? 2 : 1);
    }

    @Test
    void aWindowIsTakenBack() {
        Explorer.assumeDrawn(1, 2);
        explore(DEEP ? 3 : 2, true, DEEP ? 2 : 1);
    }

    private static void explore(int writes, boolean byWindow, int deviations) {
        System.out.println(Explorer.explore(
                "grants, " + writes + " writes" + (byWindow ? " by a window" : ""),
                () -> new GrantsWorld(writes, byWindow, Plant.NOTHING),
                GrantsWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aWriterThatDoesNotSeeTheEndIsFound() {
        assertThat(find(Plant.HIDES_THE_STATE)).hasMessageContaining("not lent");
    }

    @Test
    void aNeighbourThatIsTakenForDeadIsFound() {
        assertThat(find(Plant.TAKES_FOR_DEAD)).hasMessageContaining("not lent");
    }

    @Test
    void aRightTooManyIsFound() {
        assertThat(find(Plant.GIVES_ALL_RIGHTS)).hasMessageContaining("not lent");
    }

    @Test
    void aDescriptorThatStaysOpenIsFound() {
        assertThat(find(Plant.KEEPS_A_DESCRIPTOR)).hasMessageContaining("descriptors that are open");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("grants", () -> new GrantsWorld(2, false, plant), GrantsWorld.fingerprint(), 1);
    }
}
