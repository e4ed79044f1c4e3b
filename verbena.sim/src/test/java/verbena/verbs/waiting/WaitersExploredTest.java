package verbena.verbs.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;
import verbena.verbs.waiting.WaitersWorld.Plant;

/// Threads that wait for one source, in every order of their steps, with interrupts as the deviations.
class WaitersExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void twoThreadsAndOneThatMakesAThing() {
        explore(2, true, 1);
    }

    @Test
    void threeThreads() {
        explore(3, false, DEEP ? 2 : 0);
    }

    private static void explore(int waiting, boolean isMade, int deviations) {
        System.out.println(Explorer.explore(
                waiting + " threads that wait" + (isMade ? ", and one that makes" : ""),
                () -> new WaitersWorld(waiting, isMade, Plant.NOTHING),
                WaitersWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aLeadThatIsNotHandedOverIsFound() {
        assertThat(find(Plant.HANDS_NOTHING_OVER)).hasMessageContaining("waits for ever at sleep");
    }

    @Test
    void aThreadThatIsNotToldIsFound() {
        assertThat(find(Plant.TELLS_NOBODY)).hasMessageContaining("sleeps, and its thing is there");
    }

    @Test
    void aThreadThatIsToldTooEarlyIsFound() {
        assertThat(find(Plant.TELLS_TOO_EARLY)).hasMessageContaining("thread 0");
    }

    @Test
    void aLeaderThatIsNotCalledIsFound() {
        assertThat(find(Plant.CALLS_NO_LEADER)).hasMessageContaining("waits for ever at source");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find(
                "threads that wait", () -> new WaitersWorld(2, true, plant), WaitersWorld.fingerprint(), 1);
    }
}
