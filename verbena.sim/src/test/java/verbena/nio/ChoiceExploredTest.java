package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nio.ChoiceWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// The choice between RDMA and TCP, in every order of what may happen to an attempt to connect: answers, refusals,
/// losses, time, the program's giving up, the end of the server.
class ChoiceExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void theProgramNamesNoLimit() {
        explore("no limit", Long.MAX_VALUE);
    }

    @Test
    void theProgramNamesALimit() {
        explore("a limit", 5 * ChoiceWorld.WAIT);
    }

    private static void explore(String how, long limit) {
        System.out.println(Explorer.explore(
                "choice of RDMA or TCP, " + how,
                () -> new ChoiceWorld(limit, Plant.NOTHING),
                ChoiceWorld.fingerprint(),
                DEEP ? 8 : 4));
    }

    // ---- planted faults

    @Test
    void anAnswerThatIsConfirmedTooLateIsFound() {
        assertThat(find(Plant.CONFIRMS_ALWAYS)).hasMessageContaining("what the server has");
    }

    @Test
    void aTimerThatNoThreadWaitsForIsFound() {
        assertThat(find(Plant.NO_TIMER)).hasMessageContaining("the wait ends");
    }

    @Test
    void aCancelThatIsLostIsFound() {
        assertThat(find(Plant.CANCEL_IS_LOST)).hasMessageContaining("given up");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find(
                "choice of RDMA or TCP", () -> new ChoiceWorld(Long.MAX_VALUE, plant), ChoiceWorld.fingerprint(), 3);
    }
}
