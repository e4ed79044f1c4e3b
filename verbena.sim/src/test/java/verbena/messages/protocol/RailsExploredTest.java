package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.messages.protocol.RailsWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Rails that break at any moment, in every order of the steps of both ends.
class RailsExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void oneOfTwoBreaks() {
        explore(2, false, DEEP ? 3 : 2, DEEP ? 1 : 0, 1);
    }

    @Test
    void someOfThreeBreak() {
        explore(3, false, 1, 0, DEEP ? 2 : 1);
    }

    @Test
    void oneOfTwoBreaksInALongMessage() {
        explore(2, true, DEEP ? 2 : 1, 0, 1);
    }

    private static void explore(int rails, boolean areLong, int fromA, int fromB, int deviations) {
        System.out.println(Explorer.explore(
                rails + " rails, " + fromA + " and " + fromB + (areLong ? " long" : "") + " messages",
                () -> new RailsWorld(rails, areLong, fromA, fromB, Plant.NOTHING),
                RailsWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aFrameThatComesTwiceIsFound() {
        assertThat(find(Plant.TELLS_TOO_FEW)).hasMessageContaining("ends the peer");
    }

    @Test
    void aWaitWithoutEndIsFound() {
        assertThat(find(Plant.TELLS_NOTHING)).hasMessageContaining("messages at b");
    }

    @Test
    void aSlotThatIsFreeTooEarlyIsFound() {
        assertThat(find(Plant.FREES_TOO_EARLY)).hasMessageContaining("b ends the peer");
    }

    @Test
    void aPartThatIsNotReadAgainIsFound() {
        assertThat(findLong(Plant.FORGETS_WHAT_IS_READ)).hasMessageContaining("what b has received");
    }

    @Test
    void aMessageThatIsNotWholeIsFound() {
        assertThat(findLong(Plant.READS_A_PART)).hasMessageContaining("what b has received");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("rails", () -> new RailsWorld(2, false, 2, 0, plant), RailsWorld.fingerprint(), 1);
    }

    private static Counterexample findLong(Plant plant) {
        return Explorer.find("rails", () -> new RailsWorld(2, true, 1, 0, plant), RailsWorld.fingerprint(), 1);
    }
}
