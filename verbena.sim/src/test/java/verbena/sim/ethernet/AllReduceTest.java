package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// How long an all-reduce takes, against what its algorithm promises on links that nothing else uses.
class AllReduceTest {
    private static final double RATE = 100e9;
    private static final long BYTES = 16_000_000;
    private static final int ALL = 1 << 20;

    private static EthernetNetwork star(int hosts) {
        var network = new EthernetNetwork(1);
        new Topologies(RATE, 1_000, SwitchOptions.LOSSLESS).star(network, hosts);
        return network;
    }

    /// With both algorithms a host sends 2 (n - 1) / n of the vector.
    @ParameterizedTest
    @CsvSource({"RING, 8, 1.75", "RING, 5, 1.6", "HALVING_DOUBLING, 8, 1.75", "HALVING_DOUBLING, 2, 1"})
    void itTakesTheTimeOfTheBytesThatEachHostSends(AllReduce.Algorithm algorithm, int hosts, double vectors) {
        EthernetNetwork network = star(hosts);
        AllReduce reduction = AllReduce.start(network, algorithm, BYTES, TransferOptions.window(ALL));
        network.runToEnd(1_000_000_000);
        double wire = BYTES * vectors * 1_082 / 1_000 * 8 / RATE * 1e9;
        assertThat(reduction.nanos() / wire).isCloseTo(1, within(0.03));
    }

    @Test
    void aTreeSendsTheWholeVectorTwiceAlongItsDepth() {
        EthernetNetwork network = star(8);
        AllReduce reduction = AllReduce.start(network, AllReduce.Algorithm.TREE, BYTES, TransferOptions.window(ALL));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(network.transfers()).hasSize(2 * 7);
        double vector = BYTES * 1_082.0 / 1_000 * 8 / RATE * 1e9;
        assertThat(reduction.nanos()).isGreaterThan((long) (6 * vector * 0.97));
    }

    @Test
    void theRingSendsEachPieceOnceInEachStep() {
        EthernetNetwork network = star(4);
        AllReduce.start(network, AllReduce.Algorithm.RING, BYTES, TransferOptions.window(ALL));
        network.runToEnd(1_000_000_000);
        assertThat(network.transfers())
                .hasSize(4 * 6)
                .allSatisfy(each -> assertThat(each.bytes()).isEqualTo(BYTES / 4));
    }

    @Test
    void hostsThatDoNotFitAreRefused() {
        EthernetNetwork network = star(3);
        assertThatThrownBy(() -> AllReduce.start(network, AllReduce.Algorithm.TREE, BYTES, TransferOptions.window(ALL)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("power of two hosts, not 3");
    }
}
