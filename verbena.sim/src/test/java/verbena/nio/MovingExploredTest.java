package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import verbena.nio.MovingWorld.Kind;
import verbena.nio.MovingWorld.Plant;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;

/// The move of a connection from TCP to RDMA, in every order of what the threads of both ends do.
class MovingExploredTest {
    /// Ends of data only: they come before, in and after the move.
    private static final Kind ENDS = new Kind(0, 0, false, false, false);
    private static final Kind SERVER = new Kind(0, 1, false, false, false);
    /// Nothing but the second byte wakes the client.
    private static final Kind CONVERSES = new Kind(0, 2, false, false, false, true);
    private static final Kind WAITS = new Kind(1, 1, false, true, false);

    @Test
    void bothEndsSayTheirEnd() {
        Explorer.assumeDrawn(2, 3);
        explore("ends of data", ENDS);
    }

    @Test
    void programsThatSelectMove() {
        Explorer.assumeDrawn(0, 3);
        explore("a byte for a program that selects", SERVER);
    }

    @Test
    void programsThatSelectAndWaitForEachOtherMove() {
        explore("two bytes for a program that selects", CONVERSES);
    }

    /// Programs that wait in the kernel are woken by the mark.
    @Test
    void threadsThatWaitMove() {
        Explorer.assumeDrawn(2, 3);
        explore("a byte each way by threads that wait", WAITS);
    }

    @Test
    void bothEndsGoBack() {
        explore("ends of data, and back", new Kind(0, 0, false, false, true));
    }

    @Test
    void aByteIsOnTheWayWhileBothEndsGoBack() {
        explore("a byte, and back", new Kind(0, 1, false, false, true));
    }

    @Test
    void threadsThatWaitGoBack() {
        explore("a byte each way by threads that wait, and back", new Kind(1, 1, false, true, true));
    }

    /// One thing goes wrong.
    @Test
    void threadsThatWaitGoBackAndSomethingFails() {
        Explorer.assumeDrawn(1, 6);
        explore("threads that wait, and back, with a fault", new Kind(0, 0, false, true, true), 1);
    }

    @Test
    void theListenerRefuses() {
        explore("a byte each way, refused", new Kind(1, 1, true, false, false));
    }

    /// One thing goes wrong: an end closes, TCP is reset or the stream fails, at any moment.
    @Test
    void theListenerRefusesAndSomethingFails() {
        explore("ends of data, refused, with a fault", new Kind(0, 0, true, false, false), 1);
    }

    /// An end closes, TCP is reset or the stream fails, in a move that else goes well.
    @Test
    void bothEndsSayTheirEndAndSomethingFails() {
        Explorer.assumeDrawn(0, 3);
        explore("ends of data, with a fault", ENDS, 1);
    }

    @Test
    void bothEndsGoBackAndSomethingFails() {
        Explorer.assumeDrawn(4, 6);
        explore("ends of data, and back, with a fault", new Kind(0, 0, false, false, true), 1);
    }

    @Test
    void threadsThatWaitMoveAndSomethingFails() {
        assumeTrue(Boolean.getBoolean("verbena.deep"), "deep");
        explore("ends of data by threads that wait, with a fault", new Kind(0, 0, false, true, false), 1);
    }

    /// A byte goes each way meanwhile.
    @Test
    void threadsThatWaitMoveTheirBytesAndSomethingFails() {
        assumeTrue(Boolean.getBoolean("verbena.deep"), "deep");
        explore("a byte each way by threads that wait, with a fault", WAITS, 1);
    }

    /// Or an end waits in vain for the other, which is late.
    @Test
    void programsThatSelectMoveAndSomethingFails() {
        assumeTrue(Boolean.getBoolean("verbena.deep"), "deep");
        explore("two bytes for a program that selects, with a fault", CONVERSES, 1);
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
    void aMarkThatIsLostIsFound() {
        assertThat(find(WAITS, Plant.LOSES_THE_MARK)).hasMessageContaining("waits for ever");
    }

    @Test
    void aSelectorThatIsNotToldIsFound() {
        assertThat(find(SERVER, Plant.TELLS_NOBODY)).hasMessageContaining("waits for ever");
    }

    @Test
    void aSelectorThatAReaderDoesNotTellIsFound() {
        assertThat(find(CONVERSES, Plant.TELLS_NO_READER)).hasMessageContaining("waits for ever");
    }

    private static Counterexample find(Kind kind, Plant plant) {
        return Explorer.find("moving to RDMA", () -> new MovingWorld(kind, plant), MovingWorld.fingerprint(), 0);
    }
}
