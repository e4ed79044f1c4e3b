package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.cm.PathLoadingWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// LAP and APR, in every order of the steps of both ends.
class PathLoadingExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void onePathIsNamedAfterTheOther() {
        System.out.println(Explorer.explore(
                "LAP and APR",
                () -> new PathLoadingWorld(DEEP ? 3 : 2, Plant.NOTHING),
                PathLoadingWorld.fingerprint(),
                DEEP ? 4 : 3));
    }

    // ---- planted faults

    @Test
    void aCopyThatIsTakenForANewQuestionIsFound() {
        assertThat(find(Plant.TAKES_COPIES_FOR_NEW)).hasMessageContaining("again");
    }

    @Test
    void anAnswerToAnotherQuestionIsFound() {
        assertThat(find(Plant.TAKES_ANY_ANSWER)).hasMessageContaining("is loaded at one end");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("LAP and APR", () -> new PathLoadingWorld(2, plant), PathLoadingWorld.fingerprint(), 2);
    }
}
