package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.messages.protocol.RendezvousWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Long messages whose ends stop, cancel or close memory at any moment, in every order of the steps.
class RendezvousExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void messagesAreRead() {
        explore(2, false, DEEP ? 3 : 1);
    }

    @Test
    void theConnectionEnds() {
        explore(DEEP ? 2 : 1, true, DEEP ? 2 : 3);
    }

    private static void explore(int messages, boolean mayDie, int deviations) {
        System.out.println(Explorer.explore(
                "rendezvous, " + messages + " messages" + (mayDie ? ", the connection may end" : ""),
                () -> new RendezvousWorld(messages, mayDie, Plant.NOTHING),
                RendezvousWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void memoryThatIsGivenBackTooEarlyIsFound() {
        assertThat(find(Plant.GIVES_BACK_TOO_EARLY)).hasMessageContaining("not exposed any more");
    }

    @Test
    void memoryThatIsNeverGivenBackIsFound() {
        assertThat(find(Plant.GIVES_NOTHING_BACK)).hasMessageContaining("[messages]");
    }

    @Test
    void aReceiveThatIsStillThereIsFound() {
        assertThat(find(Plant.KEEPS_A_RECEIVE)).hasMessageContaining("times that a receive was told");
    }

    @Test
    void memoryThatIsWithdrawnTooEarlyIsFound() {
        assertThat(find(Plant.WITHDRAWS_TOO_EARLY)).hasMessageContaining("b ends the peer");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find(
                "rendezvous", () -> new RendezvousWorld(1, false, plant), RendezvousWorld.fingerprint(), 1);
    }
}
