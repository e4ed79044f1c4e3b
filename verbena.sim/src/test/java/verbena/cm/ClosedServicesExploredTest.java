package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.cm.ClosedServicesWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// A listener that is closed while a client asks, in every order of the steps of both ends.
class ClosedServicesExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void aListenerIsClosed() {
        explore("a connection", false, DEEP ? 3 : 1);
    }

    @Test
    void aListenerForDatagramsIsClosed() {
        explore("datagrams", true, DEEP ? 4 : 2);
    }

    private static void explore(String what, boolean isDatagram, int deviations) {
        System.out.println(Explorer.explore(
                "closed services, " + what,
                () -> new ClosedServicesWorld(isDatagram, Plant.NOTHING),
                ClosedServicesWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aNameThatIsFreeAtOnceIsFound() {
        for (boolean isDatagram : new boolean[] {false, true}) {
            assertThat(find(isDatagram, Plant.FREES_AT_ONCE)).hasMessageContaining("the name is kept as long as");
        }
    }

    @Test
    void aNameThatIsFreeWhenTheServerHasDecidedIsFound() {
        assertThat(find(false, Plant.FREES_WHEN_DECIDED)).hasMessageContaining("the name is kept as long as");
    }

    @Test
    void aNameThatIsNeverFreeIsFound() {
        assertThat(find(true, Plant.NEVER_FREES)).hasMessageContaining("the name is kept for ever");
    }

    private static Counterexample find(boolean isDatagram, Plant plant) {
        return Explorer.find(
                "closed services",
                () -> new ClosedServicesWorld(isDatagram, plant),
                ClosedServicesWorld.fingerprint(),
                1);
    }
}
