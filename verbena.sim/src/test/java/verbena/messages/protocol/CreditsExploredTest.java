package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.messages.protocol.CreditsWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Credits, offers and receives of two ends, in every order of their steps.
class CreditsExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void oneEndSends() {
        explore(DEEP ? 4 : 3, 0, false, 0);
    }

    @Test
    void bothEndsSend() {
        explore(DEEP ? 2 : 1, DEEP ? 2 : 1, false, 0);
    }

    @Test
    void theConnectionEnds() {
        explore(2, 0, true, 1);
    }

    private static void explore(int fromA, int fromB, boolean mayDie, int deviations) {
        System.out.println(Explorer.explore(
                "credits, " + fromA + " and " + fromB + " messages" + (mayDie ? ", the connection may end" : ""),
                () -> new CreditsWorld(fromA, fromB, mayDie, Plant.NOTHING),
                CreditsWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aCreditThatIsLostIsFound() {
        assertThat(find(0, 3, Plant.LOSES_A_CREDIT)).hasMessageContaining("receives of a");
    }

    @Test
    void aFrameThatComesTwiceIsFound() {
        assertThat(find(1, 0, Plant.REPEATS_A_FRAME)).hasMessageContaining("frames of a, and receives");
    }

    @Test
    void aReserveThatIsNotGivenBackIsFound() {
        assertThat(find(0, 3, Plant.KEEPS_THE_RESERVE)).hasMessageContaining("receives of a");
    }

    @Test
    void aChangedByteIsFound() {
        assertThat(find(2, 0, Plant.CHANGES_A_BYTE)).hasMessageContaining("to contain only");
    }

    private static Counterexample find(int fromA, int fromB, Plant plant) {
        return Explorer.find(
                "credits", () -> new CreditsWorld(fromA, fromB, false, plant), CreditsWorld.fingerprint(), 1);
    }
}
