package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.nio.MovingWorld.Kind;
import verbena.nio.MovingWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// The move of a connection from TCP to RDMA, in every order of what the threads of both ends do.
class MovingExploredTest {
    /// Ends of data only: they come before, in and after the move.
    private static final Kind ENDS = new Kind(0, 0, false);
    private static final Kind SERVER = new Kind(0, 1, false);

    @Test
    void bothEndsSayTheirEnd() {
        Explorer.assumeDrawn(2, 3);
        explore("ends of data", ENDS);
    }

    @Test
    void theListenerRefuses() {
        explore("a byte each way, refused", new Kind(1, 1, true));
    }

    /// One thing goes wrong: an end closes, TCP is reset or the stream fails, at any moment.
    @Test
    void theListenerRefusesAndSomethingFails() {
        explore("ends of data, refused, with a fault", new Kind(0, 0, true), 1);
    }

    private static void explore(String how, Kind kind) {
        explore(how, kind, 0);
    }

    private static void explore(String how, Kind kind, int deviations) {
        System.out.println(Explorer.explore(
                "moving to RDMA, " + how,
                () -> new MovingWorld(kind, Plant.NOTHING),
                MovingWorld.fingerprint(),
                deviations));
    }

    // ---- planted faults

    @Test
    void aByteThatIsLostIsFound() {
        assertThat(find(SERVER, Plant.LOSES_A_BYTE)).hasMessageContaining("the client is at the end after byte 0");
    }

    @Test
    void anAnswerThatIsLostIsFound() {
        assertThat(find(SERVER, Plant.LOSES_THE_ANSWER)).hasMessageContaining("the client");
    }

    @Test
    void aSelectorThatIsNotToldIsFound() {
        assertThat(find(SERVER, Plant.TELLS_NOBODY)).hasMessageContaining("waits for ever");
    }

    private static Counterexample find(Kind kind, Plant plant) {
        return Explorer.find("moving to RDMA", () -> new MovingWorld(kind, plant), MovingWorld.fingerprint(), 0);
    }
}
