package verbena.nic.link.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nic.link.shm.RosterWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// Links over `shm` that open, take slots, meet, close and die, in every order of their steps.
class RosterExploredTest {
    @Test
    void aLinkTakesTheSlotOfOneThatDies() {
        explore(3, 2, 1, 1);
    }

    @Test
    void linksMeetAtTheSameMoment() {
        explore(2, 2, 0, 1);
    }

    @Test
    void linksMeetAtTheSameMomentAndEnd() {
        explore(2, 2, 1, 2); // no more than two can happen
    }

    private static void explore(int links, int slots, int endings, int deviations) {
        System.out.println(Explorer.explore(
                "neighbours over shm, " + links + " links, " + slots + " slots, " + endings + " endings",
                () -> new RosterWorld(links, slots, endings, Plant.NOTHING),
                RosterWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aLinkThatIsSentAwayIsFound() {
        assertThat(find(3, 1, 1, Plant.SENDS_AWAY)).hasMessageContaining("as link");
    }

    @Test
    void aLinkThatWaitsForEverIsFound() {
        assertThat(find(3, 1, 1, Plant.FORGETS_WHO_WAITS)).hasMessageContaining("has said");
    }

    @Test
    void aNeighbourThatIsTakenForGoneIsFound() {
        assertThat(find(3, 1, 1, Plant.TAKES_FOR_GONE)).hasMessageContaining("is taken for gone");
    }

    @Test
    void aHelloThatIsNotAnsweredIsFound() {
        assertThat(find(2, 0, 1, Plant.DOES_NOT_ANSWER)).hasMessageContaining("a greeting on both sides");
    }

    @Test
    void aLifelineThatStaysOpenIsFound() {
        assertThat(find(2, 1, 1, Plant.KEEPS_A_LIFELINE)).hasMessageContaining("told twice");
    }

    private static Counterexample find(int links, int endings, int deviations, Plant plant) {
        return Explorer.find(
                "neighbours over shm",
                () -> new RosterWorld(links, 2, endings, plant),
                RosterWorld.fingerprint(),
                deviations);
    }
}
