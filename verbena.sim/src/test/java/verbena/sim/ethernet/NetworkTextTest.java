package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetworkTextTest {
    private static final String GOOD = """
            # two racks
            switch left buffer=16MB headroom=60KB alpha=0.25 mark=5KB:200KB:0.01 watchdog=1ms
            switch right drop cut-through spray
            host a   # here
            host b

            link a left 100G 1us
            link b right 25G 500ns
            link left right 40G 1.5us loss=0
            """;

    private static EthernetNetwork build(String text) {
        var network = new EthernetNetwork(1);
        NetworkText.build(network, text.lines().toList());
        return network;
    }

    @Test
    void aNetworkInWordsCarriesMessages() {
        EthernetNetwork network = build(GOOD);
        Transfer transfer = network.transfer(
                network.hosts().get(0), network.hosts().get(1), 1_000_000, 0, TransferOptions.window(100));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        // 25 Gbit/s are the slowest of the way.
        assertThat(transfer.nanos()).isGreaterThan(1_000 * 1_082 * 8 / 25);
        assertThat(network.hosts().get(0).port().picosPerByte).isEqualTo(80);
        assertThat(network.hosts().get(1).port().delayPicos()).isEqualTo(500_000);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "swich a | line 1: 'swich' is none of",
                "link a b 100G 1us | line 1: there is no 'a' above",
                "switch a buffer=lots | line 1: a size, such as 65536, 64K, 64KiB or 64KB, got",
                "switch a colour=red | line 1: 'colour=red' is none of",
                "switch a mark=5KB | line 1: mark=FROM:ALL:CHANCE",
                "host a b | line 1: host NAME [bus=RATE[:BYTES]]",
                "host a bus=fast | line 1: 'fast' is not bits per second",
                "host a bus=0G | line 1: a bus of no rate",
                "host a bus=1G:much | line 1: a size, such as 65536, 64K, 64KiB or 64KB, got",
                "link a b 100G 1us lost=1 | line 1: link NAME NAME RATE DELAY [loss=SHARE]",
                "link a b 100G 1us loss=few | line 1: 'few' is not a share",
                "fat-tree 3 100G 1us | line 1: k: 3 is not an even number",
                "fat-tree x 100G 1us | line 1: 'x' is not a number",
                "fat-tree 4 | line 1: fat-tree has 1 number, a rate and a delay",
                "dragonfly 9 2 1 1 100G 1us | line 1: groups: 9",
                "host a | two hosts at least; there are 1"
            })
    void aMistakeIsToldWithItsLine(String text, String message) {
        assertThatThrownBy(() -> build(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aSwitchThatSpraysUsesAllEqualWaysForOneFlow() {
        long keeping = nanosOverTwoWays("");
        long spraying = nanosOverTwoWays(" spray");
        assertThat(keeping).isGreaterThan(10_000_000L * 8 / 50); // one way of 50 Gbit/s
        // Packets that others overtake are taken for lost and sent again, so both ways are less than twice as fast.
        assertThat(spraying).isLessThan(keeping * 17 / 20);
    }

    private static long nanosOverTwoWays(String option) {
        EthernetNetwork network = build("""
                switch near%s
                switch far
                switch one
                switch other
                host a
                host b
                link a near 100G 1us
                link b far 100G 1us
                link near one 50G 1us
                link near other 50G 1us
                link one far 50G 1us
                link other far 50G 1us
                """.formatted(option));
        Transfer transfer = network.transfer(
                network.hosts().get(0),
                network.hosts().get(1),
                10_000_000,
                0,
                TransferOptions.window(1_000).selective(100_000, 100_000));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        return transfer.nanos();
    }

    @Test
    void aHostBehindASlowBusTakesInAsMuchAsTheBusBringsAndLosesNothing() {
        EthernetNetwork network = build("""
                switch s
                host a
                host b bus=10G:64KB
                link a s 40G 1us
                link b s 40G 1us
                """);
        Transfer transfer = network.transfer(
                network.hosts().get(0), network.hosts().get(1), 1_000_000, 0, TransferOptions.window(1_000));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        assertThat(transfer.nanos()).isBetween(1_000_000L * 8 / 10, 1_100_000L * 8 / 10);
        assertThat(network.switches().getFirst().dropped()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "star 5 100G 1us, 5, 1",
        "dumb-bell 2 3 100G 1us, 5, 2",
        "leaf-spine 3 2 4 100G 1us, 12, 5",
        "fat-tree 4 100G 1us buffer=16MB mark=1KB:2KB:1, 16, 20",
        "dragonfly 3 2 1 1 400G 100ns, 6, 6"
    })
    void aShapeIsOneLine(String line, int hosts, int switches) {
        EthernetNetwork network = build("# a shape\n" + line);
        assertThat(network.hosts()).hasSize(hosts);
        assertThat(network.switches()).hasSize(switches);
    }

    @Test
    void aNameStandsForOnePart() {
        assertThatThrownBy(() -> build("host a\nswitch a\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 2: there is a 'a' already");
    }

    @Test
    void aDragonflyReachesAllWithThreeLinksBetweenSwitches() {
        var network = new EthernetNetwork(1);
        new Topologies(100e9, 100, SwitchOptions.LOSSLESS).dragonfly(network, 9, 4, 2, 2);
        assertThat(network.hosts()).hasSize(72);
        assertThat(network.switches()).hasSize(36);
        Workloads.allToAll(network, 1_000, TransferOptions.window(100));
        assertThat(network.runToEnd(1_000_000_000)).isTrue();
        Switch first = (Switch) network.hosts().getFirst().port().peer().owner;
        for (Host to : network.hosts().subList(8, 72)) {
            int links = 0;
            for (Switch at = first; at != to.port().peer().owner; links++) {
                at = (Switch) at.waysTo(to.number)[0].peer().owner;
            }
            assertThat(links).isBetween(1, 3);
        }
    }
}
