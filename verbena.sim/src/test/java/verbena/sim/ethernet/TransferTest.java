package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Messages between hosts of one small network.
class TransferTest {
    private static final double RATE = 100e9;
    private static final int ALL = 1 << 20;
    private static final SwitchOptions TINY = SwitchOptions.LOSSY.buffer(20_000);

    private static EthernetNetwork star(int hosts, SwitchOptions options) {
        var network = new EthernetNetwork(1);
        new Topologies(RATE, 1_000, options).star(network, hosts);
        return network;
    }

    private static Transfer send(EthernetNetwork network, int from, int to, long bytes, TransferOptions options) {
        return network.transfer(network.hosts().get(from), network.hosts().get(to), bytes, 0, options);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 999, 1_000, 1_001, 100_000, 12_345_678})
    void aMessageAloneTakesTheIdealTime(long bytes) {
        EthernetNetwork network = star(2, SwitchOptions.LOSSLESS);
        Transfer transfer = send(network, 0, 1, bytes, TransferOptions.window(ALL));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(transfer.slowdown()).isCloseTo(1, within(0.02));
        assertThat(transfer.arrivedBytes()).isEqualTo(bytes);
        assertThat(transfer.resentPackets()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 1_000, 12_345_678})
    void aMessageAloneTakesTheIdealTimeThroughSwitchesThatCutThrough(long bytes) {
        for (double outward : new double[] {100e9, 40e9, 25e9}) {
            var network = new EthernetNetwork(1);
            Host from = network.addHost("from");
            Host to = network.addHost("to");
            Switch near = network.addSwitch("near", SwitchOptions.LOSSLESS.cuttingThrough());
            Switch far = network.addSwitch("far", SwitchOptions.LOSSLESS.cuttingThrough());
            network.link(from, near, 40e9, 500);
            network.link(near, far, outward, 500);
            network.link(far, to, 40e9, 500);
            network.begin();
            Transfer transfer = network.transfer(from, to, bytes, 0, TransferOptions.window(ALL));
            assertThat(network.runToEnd(1_000_000_000)).isTrue();
            assertThat(transfer.slowdown()).as("%s", outward).isCloseTo(1, within(0.02));
            assertThat(transfer.resentPackets()).isZero();
        }
    }

    @Test
    void aSwitchThatCutsThroughSendsOnWhenTheHeadersAreThere() {
        // 1,000 bytes and 82 of headers at 40 Gbit/s: 216.4 ns. Headers, and an answer of 84 bytes: 12.8 and 16.8 ns.
        long stored = nanosAlone(SwitchOptions.LOSSLESS, 40e9);
        assertThat(stored - nanosAlone(SwitchOptions.LOSSLESS.cuttingThrough(), 40e9))
                .isBetween(216 - 13 + 4 - 1L, 217 - 12 + 4 + 1L);
        // A way out that is faster would run dry; the answer goes from the faster to the slower one.
        assertThat(nanosAlone(SwitchOptions.LOSSLESS, 100e9)
                        - nanosAlone(SwitchOptions.LOSSLESS.cuttingThrough(), 100e9))
                .isBetween(0L, 2L);
    }

    /// How long a packet of 1,000 bytes takes from a host at 40 Gbit/s, until its answer is there.
    private static long nanosAlone(SwitchOptions options, double outward) {
        var network = new EthernetNetwork(1);
        Host from = network.addHost("from");
        Host to = network.addHost("to");
        Switch middle = network.addSwitch("middle", options);
        network.link(from, middle, 40e9, 1_000);
        network.link(middle, to, outward, 1_000);
        network.begin();
        Transfer transfer = network.transfer(from, to, 1_000, 0, TransferOptions.window(ALL));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        return transfer.nanos();
    }

    @Test
    void onePacketTakesTwoHopsThereAndBack() {
        EthernetNetwork network = star(2, SwitchOptions.LOSSLESS);
        Transfer transfer = send(network, 0, 1, 1_000, TransferOptions.window(ALL));
        network.runToEnd(1_000_000);
        // 1,082 and 84 bytes at 80 ps, each on two links of 1 us.
        assertThat(transfer.nanos()).isEqualTo((2 * (1_082 + 84) * 80 + 4_000_000) / 1_000);
    }

    @Test
    void aWindowOfOnePacketSendsOneInARoundTrip() {
        EthernetNetwork network = star(2, SwitchOptions.LOSSLESS);
        Transfer transfer = send(network, 0, 1, 10_000, TransferOptions.window(1));
        network.runToEnd(1_000_000);
        assertThat(transfer.nanos()).isEqualTo(10 * (2 * (1_082 + 84) * 80 + 4_000_000) / 1_000);
    }

    @Test
    void hostsShareTheirReceiverEvenly() {
        EthernetNetwork network = star(5, SwitchOptions.LOSSLESS);
        for (int i = 1; i < 5; i++) {
            send(network, i, 0, 1L << 40, TransferOptions.window(ALL));
        }
        network.run(10_000_000);
        long most = network.transfers().stream()
                .mapToLong(Transfer::arrivedBytes)
                .max()
                .orElseThrow();
        assertThat(network.transfers())
                .allSatisfy(transfer ->
                        assertThat((double) transfer.arrivedBytes() / most).isGreaterThan(0.97));
    }

    @Test
    void whatATinyBufferDropsIsSentAgainByGoBackN() {
        EthernetNetwork network = star(3, TINY);
        Transfer one = send(network, 1, 0, 1_000_000, TransferOptions.window(64).timeout(100_000));
        Transfer other =
                send(network, 2, 0, 1_000_000, TransferOptions.window(64).timeout(100_000));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(network.switches().getFirst().dropped()).isPositive();
        assertThat(one.arrivedBytes()).isEqualTo(1_000_000);
        assertThat(other.arrivedBytes()).isEqualTo(1_000_000);
        assertThat(one.resentPackets() + other.resentPackets())
                .isGreaterThan(network.switches().getFirst().dropped());
    }

    @Test
    void selectiveRepeatSendsOnlyWhatWasDropped() {
        EthernetNetwork network = star(3, TINY);
        TransferOptions options = TransferOptions.window(64).selective(200_000, 50_000);
        Transfer one = send(network, 1, 0, 1_000_000, options);
        Transfer other = send(network, 2, 0, 1_000_000, options);
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        long dropped = network.switches().getFirst().dropped();
        assertThat(dropped).isPositive();
        assertThat(one.arrivedBytes()).isEqualTo(1_000_000);
        assertThat(other.arrivedBytes()).isEqualTo(1_000_000);
        // A timeout may send a packet again that was only late.
        assertThat(one.resentPackets() + other.resentPackets())
                .isBetween(dropped, dropped + one.timeouts() + other.timeouts());
    }

    @Test
    void aPacketThatIsSentAgainAndGetsLostIsSentOnceMoreWithoutATimeout() {
        var network = new EthernetNetwork(1);
        Host from = network.addHost("a");
        Host to = network.addHost("b");
        network.link(from, to, RATE, 1_000, 0.2);
        network.begin();
        TransferOptions options = TransferOptions.window(ALL).selective(1_000_000, 1_000_000);
        Transfer transfer = network.transfer(from, to, 10_000_000, 0, options);
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(transfer.resentPackets()).isGreaterThan(10_000 / 5);
        assertThat(transfer.timeouts())
                .as("only at the end, when nothing follows")
                .isLessThan(10);
    }

    @Test
    void telemetryTellsOfTheWayThereAndNotOfTheWayBack() {
        EthernetNetwork network = star(4, SwitchOptions.LOSSLESS);
        send(network, 2, 0, 10_000_000, TransferOptions.window(ALL));
        send(network, 3, 0, 10_000_000, TransferOptions.window(ALL));
        Transfer other =
                send(network, 0, 1, 1_000_000, TransferOptions.window(ALL).hpcc(4_200));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(other.slowdown()).isLessThan(1.2);
    }

    @Test
    void headersAndAnswersTakeTheirTime() {
        EthernetNetwork network = star(2, SwitchOptions.LOSSLESS);
        Transfer transfer =
                send(network, 0, 1, 1_000, TransferOptions.window(ALL).headers(250, 125));
        network.runToEnd(1_000_000);
        assertThat(transfer.nanos()).isEqualTo((2 * (1_250 + 125) * 80 + 4_000_000) / 1_000);
        assertThatThrownBy(() -> TransferOptions.window(1).headers(0, 84))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("headerBytes, answerBytes: 0 and 84");
    }

    @Test
    void theSameSeedDoesTheSameToTheNanosecond() {
        assertThat(fingerprint(5)).isEqualTo(fingerprint(5)).isNotEqualTo(fingerprint(6));
    }

    private static String fingerprint(long seed) {
        var network = new EthernetNetwork(seed);
        new Topologies(RATE, 1_000, SwitchOptions.LOSSLESS.marking(10_000, 50_000, 0.5)).leafSpine(network, 3, 2, 3);
        Workloads.random(
                network,
                seed,
                MessageSizes.HADOOP,
                0.6,
                300_000,
                TransferOptions.window(ALL).timeout(100_000));
        network.runToEnd(50_000_000);
        return network.events() + " "
                + network.transfers().stream().map(Transfer::nanos).toList();
    }

    @Test
    void aTransferThatMeansNothingIsRefusedByName() {
        EthernetNetwork network = star(2, SwitchOptions.LOSSLESS);
        assertThatThrownBy(() -> send(network, 0, 0, 1, TransferOptions.window(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("two hosts");
        assertThatThrownBy(() -> TransferOptions.window(1).payload(9_000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("payloadBytes: 9000");
    }
}
