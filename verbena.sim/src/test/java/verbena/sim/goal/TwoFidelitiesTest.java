package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;
import verbena.sim.ethernet.TransferOptions.Recovery;
import verbena.transport.congestion.LossWindow;
import verbena.transport.congestion.PeerWindow;

/// The transports themselves, and the light packets of `verbena.sim.ethernet`, on the same wire with the same chance
/// of loss and the same window ([LossWindow]): they have the same goodput.
class TwoFidelitiesTest {
    private static final double RATE = 8e9;
    /// A device hands packets to its link up to 100 us before they leave, and one that is sent again waits behind
    /// them. A host of light packets does not. So the way is much longer than that.
    private static final long LATENCY_NANOS = 1_000_000;
    private static final int MESSAGE_BYTES = 1 << 20;
    private static final long TOTAL_BYTES = Goal.size(16 << 20, 256 << 20);
    private static final long SEEDS = 16;
    /// A packet in a world has BTH and ICRC around its payload of 4,096 bytes, and an ACK has an AETH in its place.
    private static final int HEADER_BYTES = 16;

    private static final int ANSWER_BYTES = 20;
    /// A connection probes after twice the round trip.
    private static final long TIMEOUT_NANOS = 4 * LATENCY_NANOS;

    @ParameterizedTest
    @CsvSource({
        "GO_BACK_N, 0", "GO_BACK_N, 0.01", "GO_BACK_N, 0.05",
        "SELECTIVE_REPEAT, 0", "SELECTIVE_REPEAT, 0.01", "SELECTIVE_REPEAT, 0.05"
    })
    void lightPacketsGetAsMuchThroughAsTheTransports(Recovery recovery, double loss) {
        long start = System.nanoTime();
        double whole = mean(seed -> whole(seed, recovery, loss));
        double light = mean(seed -> light(seed, recovery, loss));
        Goal.report(
                "two fidelities",
                start,
                "%s at %.1f %% loss: %.3f Gbit/s by the transports, %.3f by light packets: %+.1f %%"
                        .formatted(recovery, 100 * loss, whole, light, 100 * (light / whole - 1)));
        assertThat(light / whole).isBetween(0.9, 1.1);
    }

    private static double mean(LongToDoubleFunction goodput) {
        return LongStream.range(Goal.seed(), Goal.seed() + SEEDS)
                .mapToDouble(goodput)
                .average()
                .orElseThrow();
    }

    private static double whole(long seed, Recovery recovery, double loss) {
        return SelectiveGoodputTest.goodput(
                seed,
                SelectiveGoodputTest.Request.WRITE,
                MESSAGE_BYTES,
                loss,
                LATENCY_NANOS,
                TOTAL_BYTES,
                recovery == Recovery.SELECTIVE_REPEAT);
    }

    private static double light(long seed, Recovery recovery, double loss) {
        var network = new EthernetNetwork(seed);
        Host from = network.addHost("a");
        Host to = network.addHost("b");
        network.link(from, to, RATE, LATENCY_NANOS, loss);
        network.begin();
        var options = new TransferOptions(
                recovery,
                4_096,
                HEADER_BYTES,
                ANSWER_BYTES,
                3,
                2 * PeerWindow.RUN,
                TIMEOUT_NANOS,
                TIMEOUT_NANOS,
                0,
                _ -> new LossWindow(PeerWindow.PACKETS_MAX));
        Transfer transfer = network.transfer(from, to, TOTAL_BYTES, 0, options);
        assertThat(network.runToEnd(Long.MAX_VALUE / 2_000)).isTrue();
        assertThat(transfer.arrivedBytes()).isEqualTo(TOTAL_BYTES);
        return TOTAL_BYTES * 8.0 / transfer.nanos();
    }
}
