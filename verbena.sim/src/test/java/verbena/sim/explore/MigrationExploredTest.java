package verbena.sim.explore;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.explore.MigrationWorld.Plant;

/// The migration of a connection to its alternate path, and how it gets another one, in every order of the steps of
/// both ends.
class MigrationExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void aPathIsCut() {
        int deviations = DEEP ? 3 : 2;
        System.out.println(Explorer.explore(
                "migration",
                () -> new MigrationWorld(3, deviations, Plant.NOTHING),
                MigrationWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aPathThatIsNotLoadedIsFound() {
        assertThat(find(Plant.LOADS_NOTHING)).hasMessageContaining("no alternate path");
    }

    @Test
    void anEndThatStaysBehindIsFound() {
        assertThat(find(Plant.STAYS_BEHIND)).hasMessageContaining("send 1 has failed");
    }

    @Test
    void anAnswerThatIsForgottenIsFound() {
        assertThat(find(Plant.FORGETS_THE_ANSWER)).hasMessageContaining("no alternate path");
    }

    @Test
    void aQuestionThatIsNotRepeatedIsFound() {
        assertThat(find(Plant.ASKS_ONCE)).hasMessageContaining("no alternate path");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("migration", () -> new MigrationWorld(3, 2, plant), MigrationWorld.fingerprint(), 2);
    }
}
