package verbena.subnet.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import verbena.subnet.link.Arbitration;
import verbena.subnet.link.LinkPort;
import verbena.subnet.manager.SubnetManager;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Smp;

/// Packets between hosts, through switches: IBTA chapters 7 and 18.
class FabricTest {
    private static final int LONG = 4_096 + Packets.SHORT;
    private static final String TWO_SWITCHES = """
            switch s1 4
            switch s2 4
            hca a
            hca b
            hca c
            link a s1:1
            link s1:4 s2:4
            link b s2:1
            link c s2:2
            """;

    private final ManagedRun run = new ManagedRun(TWO_SWITCHES);
    private final Fabric fabric = run.fabric;
    private final Switch s1 = (Switch) fabric.node("s1");
    private final Switch s2 = (Switch) fabric.node("s2");
    private final ChannelAdapter a = (ChannelAdapter) fabric.node("a");
    private final ChannelAdapter b = (ChannelAdapter) fabric.node("b");
    private final ChannelAdapter c = (ChannelAdapter) fabric.node("c");

    private void settle() {
        run.settle();
    }

    private static long count(FabricNode node, int port, PortCounter counter) {
        return node.node().port(port).count(counter);
    }

    private List<Integer> takeAll(ChannelAdapter at) {
        var numbers = new ArrayList<Integer>();
        while (at.arrivals() > 0) {
            numbers.add(Packets.take(at, fabric));
        }
        return numbers;
    }

    @Test
    void aPacketCrossesTwoSwitches() {
        run.comeUp("a");
        Packets.send(a, b.lid(), 7);
        settle();
        assertThat(takeAll(b)).containsExactly(7);
        assertThat(takeAll(c)).isEmpty();
        assertThat(count(s1, 1, PortCounter.RECEIVE_PACKETS)).isEqualTo(1);
        assertThat(count(s1, 4, PortCounter.TRANSMIT_PACKETS)).isEqualTo(1);
        assertThat(count(s2, 1, PortCounter.TRANSMIT_DATA)).isEqualTo(Packets.SHORT / 4);
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void thePathIsThatOfTheTablesAndSetByTheServiceLevel() {
        run.comeUp("a");
        Sets.route(s2, b.lid(), 2);
        Packets.send(a, b.lid(), 7);
        settle();
        assertThat(takeAll(b)).isEmpty();
        assertThat(count(c, 1, PortCounter.RECEIVE_ERRORS))
                .as("a packet for another LID")
                .isEqualTo(1);
        Sets.route(s2, b.lid(), 1);
        Sets.lane(s1, 1, 4, 5, LinkPort.MANAGEMENT_LANE);
        Packets.send(a, b.lid(), 5, 0xFFFF, 8, Packets.SHORT);
        Packets.send(a, b.lid(), 4, 0xFFFF, 9, Packets.SHORT);
        settle();
        assertThat(takeAll(b)).containsExactly(9);
        assertThat(count(s1, 4, PortCounter.TRANSMIT_DISCARDS)).isEqualTo(1);
    }

    @Test
    void aDestinationWithoutARouteIsCountedAndDropped() {
        run.comeUp("a");
        Sets.route(s1, b.lid(), LinearForwarding.NO_PORT);
        Packets.send(a, b.lid(), 1);
        Packets.send(a, 0xBFFF, 2);
        Packets.send(a, 0xFFFF, 3);
        Sets.route(s1, b.lid(), 1); // back where it came from
        Packets.send(a, b.lid(), 4);
        settle();
        assertThat(count(s1, 1, PortCounter.RECEIVE_SWITCH_RELAY_ERRORS)).isEqualTo(4);
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void withoutCreditsNoPacketLeavesAndNothingIsLost() {
        run.comeUp("a");
        int sent = 0;
        while (a.hasRoom() && sent < 10_000) { // b's host takes nothing
            Packets.send(a, b.lid(), sent++);
            settle();
        }
        // The buffers of b, s2 and s1 for one lane, and what waits in a.
        assertThat(sent).isEqualTo(3 * Fabric.BUFFER_BLOCKS + ChannelAdapter.DEPARTURES_MAX);
        assertThat(count(a, 1, PortCounter.TRANSMIT_WAIT)).isPositive();
        assertThat(b.arrivals()).isEqualTo(Fabric.BUFFER_BLOCKS);
        // Another lane is not held up.
        Packets.send(a, c.lid(), 1, 0xFFFF, 77, Packets.SHORT);
        settle();
        assertThat(takeAll(c)).containsExactly(77);
        var taken = new ArrayList<Integer>();
        do {
            taken.addAll(takeAll(b));
            settle();
        } while (b.arrivals() > 0);
        assertThat(taken).isEqualTo(IntStream.range(0, sent).boxed().toList());
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void manySendersToOneReceiverLoseNothingAndStayInOrder() {
        run.comeUp("a");
        var random = new Random(22);
        int[] next = new int[4];
        int[] expected = new int[4];
        int taken = 0;
        for (int step = 0; step < 40_000; step++) {
            for (ChannelAdapter from : List.of(a, c)) {
                int level = random.nextInt(2);
                int flow = (from == a ? 0 : 2) + level;
                if (next[flow] < 1_000 && from.hasRoom()) {
                    int bytes = random.nextBoolean() ? LONG : Packets.SHORT;
                    Packets.send(from, b.lid(), level, 0xFFFF, flow << 24 | next[flow]++, bytes);
                }
            }
            fabric.step(run.now);
            if (random.nextInt(3) == 0 && b.arrivals() > 0) {
                int number = Packets.take(b, fabric);
                assertThat(number & 0xFF_FFFF).isEqualTo(expected[number >>> 24]++);
                taken++;
            }
        }
        assertThat(taken).isEqualTo(4_000);
        assertThat(fabric.store().held()).isZero();
        for (FabricNode node : fabric.nodes()) {
            for (int port = 1; port <= node.ports(); port++) {
                assertThat(count(node, port, PortCounter.EXCESSIVE_BUFFER_OVERRUN_ERRORS))
                        .isZero();
                assertThat(count(node, port, PortCounter.TRANSMIT_DISCARDS)).isZero();
            }
        }
    }

    @Test
    void aSwitchThatEnforcesPartitionsDropsForeignOnes() {
        run.comeUp("a");
        Sets.pkeys(a, 1, 0xFFFF, 0x0001, 0x8001, 0x8003);
        var traps = new TreeSet<String>();
        fabric.watch((sender, _, memory, at, bytes) -> {
            boolean isDatagram =
                    bytes == Lrh.BYTES + Bth.BYTES + Deth.BYTES + Mad.BYTES + Packet.ICRC_BYTES + Vcrc.BYTES;
            MemorySegment mad =
                    isDatagram ? memory.asSlice(at + Lrh.BYTES + Bth.BYTES + Deth.BYTES, Mad.BYTES) : Mad.allocate();
            if (Mad.method(mad) == Mad.METHOD_TRAP) {
                MemorySegment notice = Smp.data(mad);
                traps.add(
                        sender + " " + Notice.TRAP_NUMBER.get(notice) + " from port " + Notice.P_KEY_PORT.get(notice));
            }
        });
        Sets.enforce(s1, 1, false, false);
        Sets.pkeys(s2, 1, 0x8001);
        Sets.enforce(s2, 1, false, true);
        Sets.pkeys(b, 1, 0x8001);
        Packets.send(a, b.lid(), 0, 0xFFFF, 1, Packets.SHORT);
        Packets.send(a, b.lid(), 0, 0x0001, 2, Packets.SHORT);
        settle();
        assertThat(takeAll(b)).containsExactly(2);
        assertThat(count(s2, 1, PortCounter.TRANSMIT_CONSTRAINT_ERRORS)).isEqualTo(1);
        Sets.pkeys(s1, 1, 0x8002, 0x0001);
        Sets.enforce(s1, 1, true, false);
        Packets.send(a, b.lid(), 0, 0x0001, 3, Packets.SHORT); // the adapter's own, of a limited member
        Packets.send(a, b.lid(), 0, 0x8001, 4, Packets.SHORT);
        Packets.send(a, b.lid(), 0, 0x8003, 5, Packets.SHORT);
        settle();
        assertThat(takeAll(b)).containsExactly(3, 4);
        assertThat(count(s1, 1, PortCounter.RECEIVE_CONSTRAINT_ERRORS)).isEqualTo(1);
        assertThat(traps).as("the manager is told by both").contains("s2 259 from port 1", "s1 259 from port 1");
    }

    /// IBTA 10.9.2: the adapter has the table, so a host is in a partition only when the manager says so.
    @Test
    void aHostSendsByThePkeysOfItsPortOnly() {
        run.comeUp("a");
        Sets.pkeys(a, 1, 0x7FFF, 0x8001);
        Sets.pkeys(b, 1, 0xFFFF, 0x8001, 0x8002);
        Packets.send(a, b.lid(), 0, 0xFFFF, 1, Packets.SHORT); // the port is a limited member
        Packets.send(a, b.lid(), 0, 0x8002, 2, Packets.SHORT);
        Packets.send(a, b.lid(), 0, 0x7FFF, 3, Packets.SHORT);
        Packets.send(a, b.lid(), 0, 0x8001, 4, Packets.SHORT);
        settle();
        assertThat(takeAll(b)).containsExactly(3);
        assertThat(count(a, 1, PortCounter.TRANSMIT_CONSTRAINT_ERRORS)).isEqualTo(2);
        assertThat(count(s1, 1, PortCounter.RECEIVE_CONSTRAINT_ERRORS))
                .as("the switch enforces what the manager has written there")
                .isEqualTo(1);
    }

    @Test
    void anAdapterDropsForeignPartitionsToo() {
        run.comeUp("a");
        Sets.pkeys(b, 1, 0x8001);
        Packets.send(a, b.lid(), 1);
        settle();
        assertThat(takeAll(b)).isEmpty();
        assertThat(count(b, 1, PortCounter.RECEIVE_CONSTRAINT_ERRORS)).isEqualTo(1);
    }

    @Test
    void aMulticastReachesEveryMemberOnce() {
        run.comeUp("a");
        Sets.group(s1, 0xC005, 1, 4);
        Sets.group(s2, 0xC005, 1, 2, 4);
        Packets.send(a, 0xC005, 1);
        Packets.send(b, 0xC005, 2);
        settle();
        assertThat(takeAll(a)).as("its own, and the other's").containsExactly(1, 2);
        assertThat(takeAll(b)).containsExactlyInAnyOrder(1, 2);
        assertThat(takeAll(c)).containsExactlyInAnyOrder(1, 2);
        Sets.group(s2, 0xC005);
        Packets.send(a, 0xC005, 3);
        settle();
        assertThat(takeAll(a)).containsExactly(3);
        assertThat(takeAll(c)).isEmpty();
        assertThat(count(s2, 4, PortCounter.RECEIVE_SWITCH_RELAY_ERRORS)).isEqualTo(1);
        assertThat(fabric.store().held()).isZero();
    }

    /// IBTA 7.2.7: data pass when both ends are armed, and the first packet makes the receiver active.
    @Test
    void aPortThatIsNotActiveTakesNoData() {
        settle();
        assertThat(a.info().state()).isEqualTo(PortInfo.INIT);
        Sets.lid(a, 1);
        Sets.lid(b, 2);
        Packets.send(a, 2, 1);
        assertThat(count(a, 1, PortCounter.TRANSMIT_DISCARDS)).isEqualTo(1);
        for (FabricNode node : List.of(a, s1, s2, b)) {
            for (int port = 1; port <= node.ports(); port++) {
                Sets.state(node, port, PortInfo.ARMED);
            }
        }
        settle();
        Sets.route(s1, 2, 4);
        Sets.route(s2, 2, 1);
        Packets.send(a, 2, 2);
        settle();
        assertThat(takeAll(b)).containsExactly(2);
        assertThat(b.info().state()).isEqualTo(PortInfo.ACTIVE);
        assertThat(c.info().state()).isEqualTo(PortInfo.INIT);
    }

    @Test
    void aPulledCableDropsWhatWaitsAndALaterOneBeginsAnew() {
        SubnetManager manager = run.comeUp("a");
        for (int i = 0; i < 600; i++) {
            Packets.send(a, b.lid(), i);
            settle();
        }
        fabric.plug(s1, 4, false, run.now);
        assertThat(s1.node().port(4).state()).isEqualTo(PortInfo.DOWN);
        assertThat(count(s1, 4, PortCounter.LINK_DOWNED)).isEqualTo(1);
        assertThat(count(s1, 4, PortCounter.TRANSMIT_DISCARDS)).isPositive();
        Packets.send(a, b.lid(), 500);
        settle();
        assertThat(takeAll(b)).hasSize(Fabric.BUFFER_BLOCKS);
        fabric.plug(s1, 4, true, run.now);
        run.until(() -> manager.isUp() && b.info().state() == PortInfo.ACTIVE);
        takeAll(b);
        Packets.send(a, b.lid(), 501);
        settle();
        assertThat(takeAll(b)).containsExactly(501);
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void aHostSendsInItsOwnNameOnlyAndToItself() {
        run.comeUp("a");
        a.send(Packets.of(c.lid(), b.lid(), 0, 0xFFFF, 1, Packets.SHORT), 0, Packets.SHORT);
        assertThat(count(a, 1, PortCounter.TRANSMIT_DISCARDS)).isEqualTo(1);
        Packets.send(a, a.lid(), 2);
        assertThat(takeAll(a)).containsExactly(2);
        settle();
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void lanesShareALinkByTheirWeights() {
        run.comeUp("a");
        Sets.arbitration(a, 1, new int[] {}, new int[] {0, 3, 1, 1}, 0);
        for (int i = 0; i < 40; i++) {
            Packets.send(a, b.lid(), i & 1, 0xFFFF, i, 62); // one unit of weight, almost
        }
        int[] first = new int[2];
        settle();
        for (int number : takeAll(b).subList(0, 16)) {
            first[number & 1]++;
        }
        assertThat(first).containsExactly(12, 4);
    }

    @Test
    void highPriorityGoesFirstUpToItsLimit() {
        run.comeUp("a");
        Sets.arbitration(a, 1, new int[] {1, 255}, new int[] {0, 1}, 1);
        for (int i = 0; i < 3; i++) {
            Packets.send(a, b.lid(), 0, 0xFFFF, 100 + i, Packets.SHORT);
            Packets.send(a, b.lid(), 1, 0xFFFF, i, LONG);
        }
        settle();
        assertThat(takeAll(b)).containsExactly(0, 100, 1, 101, 2, 102);
        Sets.arbitration(a, 1, new int[] {1, 255}, new int[] {0, 1}, Arbitration.UNLIMITED);
        for (int i = 0; i < 3; i++) {
            Packets.send(a, b.lid(), 0, 0xFFFF, 100 + i, Packets.SHORT);
            Packets.send(a, b.lid(), 1, 0xFFFF, i, LONG);
        }
        settle();
        assertThat(takeAll(b)).containsExactly(0, 1, 2, 100, 101, 102);
    }

    @Test
    void aFatTreeRoutesEveryPair() {
        var text = new StringBuilder();
        for (String each : List.of("l1", "l2", "l3", "r1", "r2")) {
            text.append("switch ").append(each).append(" 8\n");
        }
        for (int leaf = 1; leaf <= 3; leaf++) {
            text.append("link l%d r1\nlink l%d r2\n".formatted(leaf, leaf));
            for (int host = 1; host <= 3; host++) {
                text.append("hca h%d%d\nlink h%d%d l%d\n".formatted(leaf, host, leaf, host, leaf));
            }
        }
        var managed = new ManagedRun(text.toString());
        managed.comeUp("h11");
        Fabric tree = managed.fabric;
        for (ChannelAdapter from : tree.adapters()) {
            for (ChannelAdapter to : tree.adapters()) {
                Packets.send(from, to.lid(), from.lid());
            }
        }
        managed.settle();
        for (ChannelAdapter to : tree.adapters()) {
            var numbers = new ArrayList<Integer>();
            while (to.arrivals() > 0) {
                numbers.add(Packets.take(to, tree));
            }
            assertThat(numbers)
                    .containsExactlyInAnyOrderElementsOf(
                            tree.adapters().stream().map(ChannelAdapter::lid).toList());
        }
        long byFirst = count(tree.node("r1"), 1, PortCounter.TRANSMIT_PACKETS);
        long bySecond = count(tree.node("r2"), 1, PortCounter.TRANSMIT_PACKETS);
        assertThat(byFirst).as("both spines are used").isPositive();
        assertThat(bySecond).isPositive();
    }
}
