package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;
import verbena.verbs.WaiterWorld.Plant;

/// A waiter with several sources, in every order of the steps of the threads that bring events.
class WaiterExploredTest {
    @Test
    void allThatIsBroughtIsTaken() {
        int events = Boolean.getBoolean("verbena.deep") ? 4 : 3;
        System.out.println(Explorer.explore(
                "a waiter, " + events + " events and a wake-up",
                () -> new WaiterWorld(events, Plant.NOTHING),
                WaiterWorld.fingerprint(),
                0));
    }

    // ---- planted faults

    @Test
    void aListenerThatDoesNotRunIsFound() {
        assertThat(find(Plant.TELLS_NOBODY)).hasMessageContaining("waits for ever at sleep");
    }

    @Test
    void aListenerThatRunsTooEarlyIsFound() {
        assertThat(find(Plant.TELLS_TOO_EARLY)).hasMessageContaining("waits for ever at sleep");
    }

    @Test
    void aThreadThatIsNotWokenIsFound() {
        assertThat(find(Plant.WAKES_NOBODY)).hasMessageContaining("waits for ever at sleep");
    }

    @Test
    void aResultThatDoesNotEndIsFound() {
        assertThat(find(Plant.NEVER_ENDS)).hasMessageContaining("a result is given twice");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("a waiter", () -> new WaiterWorld(3, plant), WaiterWorld.fingerprint(), 0);
    }
}
