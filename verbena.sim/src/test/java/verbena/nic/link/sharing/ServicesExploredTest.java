package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nic.link.sharing.ServicesWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Requests that come early to links that share an address, in every order of what links and programs do.
class ServicesExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void requestsComeEarly() {
        int requests = DEEP ? 2 : 1;
        int deviations = 3;
        System.out.println(Explorer.explore(
                "early requests, " + requests,
                () -> new ServicesWorld(requests, Plant.NOTHING),
                ServicesWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aRequestThatIsLostIsFound() {
        assertThat(find(Plant.LOSES_WHAT_IS_PASSED)).hasMessageContaining("[requests]");
    }

    @Test
    void aRequestThatComesTwiceIsFound() {
        assertThat(find(Plant.KEEPS_WHAT_IS_PASSED)).hasMessageContaining("request 0, which");
    }

    @Test
    void aRequestThatIsRefusedForNothingIsFound() {
        assertThat(find(Plant.FINDS_NO_SERVER)).hasMessageContaining("which the other serves");
    }

    @Test
    void aRequestThatWaitsForEverIsFound() {
        assertThat(find(Plant.FORGETS_THE_TIME).schedule()).isNotEmpty();
    }

    private static Counterexample find(Plant plant) {
        return Explorer.find("early requests", () -> new ServicesWorld(1, plant), ServicesWorld.fingerprint(), 2);
    }
}
