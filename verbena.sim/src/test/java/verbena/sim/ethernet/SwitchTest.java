package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// What a switch pauses, drops and marks, and which ways it takes.
class SwitchTest {
    private static final int ALL = 1 << 20;
    private static final Topologies LOSSLESS = new Topologies(40e9, 1_000, SwitchOptions.LOSSLESS);

    @Test
    void aLosslessSwitchPausesAndDropsNothing() {
        var network = new EthernetNetwork(1);
        LOSSLESS.star(network, 9);
        incast(network, 2_000_000);
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        Switch middle = network.switches().getFirst();
        assertThat(middle.pausesSent()).isPositive();
        assertThat(middle.dropped()).isZero();
        assertThat(network.transfers())
                .allSatisfy(each -> assertThat(each.resentPackets()).isZero());
    }

    @Test
    void withoutEnoughHeadroomEvenALosslessSwitchDrops() {
        var network = new EthernetNetwork(1);
        new Topologies(40e9, 10_000, SwitchOptions.LOSSLESS.buffer(400_000).headroom(5_000)).star(network, 9);
        incast(network, 2_000_000);
        network.run(20_000_000);
        assertThat(network.switches().getFirst().dropped()).isPositive();
    }

    @Test
    void aSwitchWithoutPausesDropsWhatIsMoreThanItsShare() {
        var network = new EthernetNetwork(1);
        new Topologies(40e9, 1_000, SwitchOptions.LOSSY.buffer(200_000)).star(network, 9);
        incast(network, 200_000);
        network.runToEnd(1_000_000_000);
        Switch middle = network.switches().getFirst();
        assertThat(middle.dropped()).isPositive();
        assertThat(middle.pausesSent()).isZero();
        assertThat(middle.mostUsed()).isLessThanOrEqualTo(200_000 / 2 + 1_082); // alpha is 1: half at most
    }

    @Test
    void aPauseOfOnePriorityLeavesTheOthersAlone() {
        var network = new EthernetNetwork(1);
        LOSSLESS.star(network, 10);
        List<Host> hosts = network.hosts();
        for (int i = 1; i < 9; i++) {
            network.transfer(hosts.get(i), hosts.get(0), 1L << 40, 0, priority(3));
        }
        Transfer other = network.transfer(hosts.get(1), hosts.get(9), 10_000_000, 5_000_000, priority(5));
        network.run(20_000_000);
        assertThat(network.switches().getFirst().pausesSent()).isPositive();
        assertThat(other.isOver()).isTrue();
        assertThat(other.slowdown()).isLessThan(1.2);
    }

    private static TransferOptions priority(int priority) {
        return new TransferOptions(
                TransferOptions.Recovery.GO_BACK_N,
                1_000,
                82,
                84,
                priority,
                16,
                100_000_000,
                100_000_000,
                0,
                _ -> new ConstantWindow(ALL));
    }

    @Test
    void aQueueBelowTheFirstThresholdIsNotMarkedAndOneAboveTheLastAlways() {
        var network = new EthernetNetwork(1);
        new Topologies(40e9, 1_000, SwitchOptions.LOSSLESS.marking(3_000_000, 3_000_000, 1)).star(network, 3);
        network.transfer(network.hosts().get(1), network.hosts().get(0), 1_000_000, 0, TransferOptions.window(ALL));
        network.transfer(network.hosts().get(2), network.hosts().get(0), 1_000_000, 0, TransferOptions.window(ALL));
        network.runToEnd(1_000_000_000);
        assertThat(network.switches().getFirst().marked()).isZero();

        var marking = new EthernetNetwork(1);
        new Topologies(40e9, 1_000, SwitchOptions.LOSSLESS.marking(0, 1, 1)).star(marking, 2);
        marking.transfer(marking.hosts().get(1), marking.hosts().get(0), 1_000_000, 0, TransferOptions.window(ALL));
        marking.runToEnd(1_000_000_000);
        // A flow alone never finds anything queued before it.
        assertThat(marking.switches().getFirst().marked()).isZero();
    }

    @Test
    void aPacketIsMarkedByTheQueueThatItFindsOrByTheOneThatItLeaves() {
        SwitchOptions options = SwitchOptions.LOSSLESS.marking(1, 1, 1);
        assertThat(marksOfTheFirst(options)).isZero();
        assertThat(marksOfTheFirst(options.markingLeaving())).isEqualTo(1);
    }

    /// How many notifications come of a packet that waits for the wire, finds no queue, and leaves seven others
    /// behind.
    private static long marksOfTheFirst(SwitchOptions options) {
        var network = new EthernetNetwork(1);
        new Topologies(40e9, 1_000, options).star(network, 10);
        TransferOptions rule = TransferOptions.window(ALL).control(1, _ -> new ConstantWindow(ALL));
        List<Host> hosts = network.hosts();
        network.transfer(hosts.get(9), hosts.getFirst(), 8_000, 0, rule.payload(8_000));
        Transfer first = network.transfer(hosts.get(1), hosts.getFirst(), 1_000, 1_500, rule);
        for (int i = 2; i < 9; i++) {
            network.transfer(hosts.get(i), hosts.getFirst(), 1_000, 1_510, rule);
        }
        network.runToEnd(1_000_000_000);
        return first.notifications();
    }

    @Test
    void aPauseEndsWhenAsMuchHasLeftAsCameAfterIt() {
        var network = new EthernetNetwork(1);
        LOSSLESS.star(network, 9);
        incast(network, 2_000_000);
        network.runToEnd(1_000_000_000);
        // Headroom empties first, so each pause lasts for a few packets, and not until what came after it leaves.
        assertThat(network.switches().getFirst().pausesSent()).isGreaterThan(400);
    }

    @Test
    void aBadCableLosesItsShareInEachDirection() {
        var network = new EthernetNetwork(1);
        Host from = network.addHost("a");
        Host to = network.addHost("b");
        network.link(from, to, 40e9, 1_000, 0.1);
        network.begin();
        Transfer transfer = network.transfer(
                from, to, 10_000_000, 0, TransferOptions.window(64).selective(100_000, 100_000));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(transfer.arrivedBytes()).isEqualTo(10_000_000);
        assertThat(transfer.resentPackets()).isBetween(900L, 1_500L);
        assertThatThrownBy(() -> new EthernetNetwork(1).link(from, to, 40e9, 1_000, 1.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loss: 1.5");
    }

    @Test
    void flowsSpreadOverAllEqualWaysAndOneFlowStaysOnOne() {
        var network = new EthernetNetwork(1);
        LOSSLESS.leafSpine(network, 2, 4, 1);
        for (int i = 0; i < 200; i++) {
            network.transfer(
                    network.hosts().get(0), network.hosts().get(1), 100_000, i * 100_000L, TransferOptions.window(ALL));
        }
        network.runToEnd(1_000_000_000);
        assertThat(network.transfers())
                .allSatisfy(each -> assertThat(each.resentPackets())
                        .as("one way keeps the order")
                        .isZero());
        Map<String, Long> spines = new TreeMap<>();
        for (Switch each : network.switches()) {
            if (each.name.startsWith("spine")) {
                spines.put(
                        each.name,
                        each.ports.stream().mapToLong(Port::sentBytes).sum());
            }
        }
        assertThat(spines).hasSize(4);
        assertThat(spines.values()).allSatisfy(bytes -> assertThat(bytes).isGreaterThan(200 * 100_000 / 8));
    }

    @Test
    void aFatTreeHasAWayOverEachCoreBetweenPods() {
        var network = new EthernetNetwork(1);
        LOSSLESS.fatTree(network, 4);
        assertThat(network.hosts()).hasSize(16);
        assertThat(network.switches()).hasSize(20);
        Switch rack = (Switch) network.hosts().getFirst().port().peer().owner;
        assertThat(rack.waysTo(network.hosts().getLast().number)).hasSize(2);
        Switch up = (Switch) rack.waysTo(network.hosts().getLast().number)[0].peer().owner;
        assertThat(up.waysTo(network.hosts().getLast().number)).hasSize(2);
        Workloads.permutation(network, 1, 100_000, TransferOptions.window(ALL));
        assertThat(network.runToEnd(100_000_000)).isTrue();
    }

    @Test
    void hostsThatCannotReachEachOtherAreNamed() {
        var network = new EthernetNetwork(1);
        Switch one = network.addSwitch("one", SwitchOptions.LOSSLESS);
        Switch other = network.addSwitch("other", SwitchOptions.LOSSLESS);
        network.link(network.addHost("a"), one, 40e9, 1_000);
        network.link(network.addHost("b"), other, 40e9, 1_000);
        assertThatThrownBy(network::begin)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no way from");
    }

    @Test
    void headroomThatFillsTheBufferIsRefused() {
        var network = new EthernetNetwork(1);
        assertThatThrownBy(() -> new Topologies(40e9, 1_000, SwitchOptions.LOSSLESS.buffer(100_000)).star(network, 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("headroomBytes");
    }

    private static void incast(EthernetNetwork network, long bytes) {
        List<Host> hosts = network.hosts();
        Workloads.incast(
                network,
                hosts.subList(1, hosts.size()),
                hosts.getFirst(),
                bytes,
                0,
                TransferOptions.window(ALL).timeout(1_000_000_000));
    }
}
