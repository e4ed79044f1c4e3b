package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.messages.protocol.CallsWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Calls with time limits, given up or not, in every order of the steps of both ends.
class CallsExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void shortCalls() {
        explore(DEEP ? 3 : 2, false, false, DEEP ? 3 : 2);
    }

    @Test
    void longCalls() {
        explore(2, true, false, DEEP ? 3 : 0);
    }

    @Test
    void theConnectionEnds() {
        explore(DEEP ? 2 : 1, true, true, DEEP ? 3 : 2);
    }

    private static void explore(int calls, boolean areLong, boolean mayDie, int deviations) {
        System.out.println(Explorer.explore(
                calls + (areLong ? " long" : " short") + " calls" + (mayDie ? ", the connection may end" : ""),
                () -> new CallsWorld(calls, areLong, mayDie, Plant.NOTHING),
                CallsWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    /// As it was once: a place was free when its caller gave up, and the handler went on.
    @Test
    void aCallTooManyIsFound() {
        assertThat(find(3, false, Plant.FORGETS_WHAT_IS_UNDER_WAY)).hasMessageContaining("b ends the peer");
    }

    @Test
    void aPlaceThatIsNeverFreeIsFound() {
        assertThat(find(1, false, Plant.ANSWERS_NO_CANCELLED_CALL)).hasMessageContaining("outstanding for ever");
    }

    /// As it was once: a peer read a request from memory that its caller had back.
    @Test
    void aRequestThatChangesIsFound() {
        assertThat(find(1, true, Plant.EXPOSES_WHAT_MAY_CHANGE)).hasMessageContaining("what the handler sees");
    }

    @Test
    void anAnswerThatComesTwiceIsFound() {
        assertThat(find(1, false, Plant.ANSWERS_TWICE)).hasMessageContaining("a ends the peer");
    }

    private static Counterexample find(int calls, boolean areLong, Plant plant) {
        return Explorer.find("calls", () -> new CallsWorld(calls, areLong, false, plant), CallsWorld.fingerprint(), 3);
    }
}
