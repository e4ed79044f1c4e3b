package verbena.sim.explore;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.explore.DirectMessagesWorld.Harm;
import verbena.sim.explore.DirectMessagesWorld.Plant;

/// Messages without packets over shared memory, in every order of the steps of both ends.
class DirectMessagesExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void oneEndSends() {
        Explorer.assumeDrawn(0, 3);
        explore(DEEP ? 3 : 2, 0, Harm.NONE, 2);
    }

    @Test
    void bothEndsSend() {
        explore(1, 1, Harm.NONE, DEEP ? 2 : 0);
    }

    @Test
    void anEndIsReset() {
        Explorer.assumeDrawn(1, 3);
        explore(2, 0, Harm.RESET, DEEP ? 3 : 2);
    }

    @Test
    void anEndDies() {
        explore(2, 0, Harm.DEATH, DEEP ? 3 : 1);
    }

    private static void explore(int fromA, int fromB, Harm harm, int deviations) {
        System.out.println(Explorer.explore(
                "messages without packets, " + fromA + " and " + fromB + ", " + harm,
                () -> new DirectMessagesWorld(fromA, fromB, harm, Plant.NOTHING),
                DirectMessagesWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    /// As it was once: a question was answered as if nothing more were taken.
    @Test
    void aMessageThatComesTwiceIsFound() {
        assertThat(find(2, Plant.DECLINES_WHAT_IT_TAKES)).hasMessageContaining("b has received");
    }

    @Test
    void successForWhatIsNotDeliveredIsFound() {
        assertThat(find(1, Plant.ANSWERS_TOO_EARLY)).hasMessageContaining("is a success, and not delivered");
    }

    @Test
    void aWaitWithoutEndIsFound() {
        assertThat(find(1, Plant.ANSWERS_NO_QUESTION).schedule()).anyMatch(line -> line.startsWith("  b takes query"));
    }

    @Test
    void aChangedByteIsFound() {
        assertThat(find(1, Plant.CHANGES_A_BYTE)).hasMessageContaining("b has received");
    }

    /// @param numbers how many go one way
    private static Counterexample find(int numbers, Plant plant) {
        return Explorer.find(
                "direct messages",
                () -> new DirectMessagesWorld(numbers, 0, Harm.NONE, plant),
                DirectMessagesWorld.fingerprint(),
                2);
    }
}
