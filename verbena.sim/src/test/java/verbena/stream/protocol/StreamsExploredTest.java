package verbena.stream.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import verbena.sim.explore.Counterexample;
import verbena.sim.explore.Explorer;
import verbena.stream.protocol.StreamsWorld.Plant;

/// The rings and credits of streams, in every order of the steps of both ends.
class StreamsExploredTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    @Test
    void oneEndSends() {
        explore(DEEP ? 4 : 3, 0);
    }

    @Test
    void oneByteGoesEachWay() {
        Assumptions.assumeTrue(DEEP, "half a minute");
        explore(1, 1);
    }

    private static void explore(int fromA, int fromB) {
        System.out.println(Explorer.explore(
                "streams, " + fromA + " and " + fromB + " bytes",
                () -> new StreamsWorld(fromA, fromB, Plant.NOTHING),
                StreamsWorld.fingerprint(),
                0));
    }

    // ---- planted faults

    @Test
    void aCreditThatIsLostIsFound() {
        assertThat(find(3, Plant.LOSES_A_CREDIT)).hasMessageContaining("b waits for byte 3");
    }

    @Test
    void aMessageThatComesTwiceIsFound() {
        assertThat(find(3, Plant.REPEATS_A_MESSAGE)).hasMessageContaining("b");
    }

    @Test
    void aChangedByteIsFound() {
        assertThat(find(2, Plant.CHANGES_A_BYTE)).hasMessageContaining("b has read 0 as byte 1");
    }

    private static Counterexample find(int bytes, Plant plant) {
        return Explorer.find("streams", () -> new StreamsWorld(bytes, 0, plant), StreamsWorld.fingerprint(), 0);
    }
}
