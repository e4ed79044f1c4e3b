package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nic.link.sharing.SurveyWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Links that join an address, share it and die, in every order of their steps.
class SurveyExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void linksJoin() {
        explore(DEEP ? 3 : 2, 0, 1);
    }

    @Test
    void linksDie() {
        explore(DEEP ? 3 : 2, 1, DEEP ? 2 : 1);
    }

    private static void explore(int links, int deaths, int deviations) {
        System.out.println(Explorer.explore(
                "sharing an address, " + links + " links, " + deaths + " deaths",
                () -> new SurveyWorld(links, deaths, Plant.NOTHING),
                SurveyWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aNeighbourThatIsKeptIsFound() {
        assertThat(find(Plant.KEEPS_THE_DEAD)).hasMessageContaining("knows link");
    }

    @Test
    void anAnswerWithAnotherIndexIsFound() {
        assertThat(find(Plant.ANSWERS_ANOTHER_INDEX)).hasMessageContaining("there is no rest");
    }

    @Test
    void aLinkThatIsNotLetInIsFound() {
        assertThat(find(Plant.LETS_NOBODY_IN)).hasMessageContaining("knows link");
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("sharing an address", () -> new SurveyWorld(2, 1, plant), SurveyWorld.fingerprint(), 2);
    }
}
