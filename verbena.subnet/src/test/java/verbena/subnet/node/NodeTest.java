package verbena.subnet.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.Requests;
import verbena.subnet.TinyFabric;
import verbena.wire.mad.ClassPortInfo;
import verbena.wire.mad.GuidInfo;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortCounters;
import verbena.wire.mad.PortCountersExtended;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SlToVl;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;
import verbena.wire.mad.VlArbitration;

/// The agents of nodes, asked by directed route from an adapter: a - s1 - s2 - b.
class NodeTest {
    private final TinyFabric fabric = new TinyFabric();
    private Requests requests = new Requests(fabric, "a");

    @BeforeEach
    void build() {
        fabric.adapter("a");
        fabric.switching("s1", 8);
        fabric.switching("s2", 8);
        fabric.adapter("b", 2);
        fabric.link("a:1", "s1:1");
        fabric.link("s1:2", "s2:3");
        fabric.link("s2:4", "b:2");
        requests = new Requests(fabric, "a");
    }

    @Test
    void aDirectedRouteFindsEachNodeAndComesBack() {
        int[][] paths = {{}, {1}, {1, 2}, {1, 2, 4}};
        String[] names = {"a", "s1", "s2", "b"};
        for (int i = 0; i < paths.length; i++) {
            MemorySegment answer = requests.get(NodeDescription.ATTRIBUTE, 0, paths[i]);
            assertThat(Smp.status(answer)).isZero();
            assertThat(Smp.DIRECTION.getBoolean(answer)).isTrue();
            assertThat(Smp.HOP_POINTER.getInt(answer)).isZero();
            assertThat(NodeDescription.get(Smp.data(answer))).isEqualTo(names[i]);
        }
        MemorySegment info = Smp.data(requests.get(NodeInfo.ATTRIBUTE, 0, 1, 2, 4));
        assertThat(NodeInfo.NODE_TYPE.getInt(info)).isEqualTo(NodeInfo.CHANNEL_ADAPTER);
        assertThat(NodeInfo.LOCAL_PORT_NUM.getInt(info)).isEqualTo(2);
        assertThat(NodeInfo.NUM_PORTS.getInt(info)).isEqualTo(2);
        assertThat(NodeInfo.PORT_GUID.get(info))
                .isEqualTo(fabric.node("b").spec().guid() + 2);
    }

    @Test
    void aRouteThroughAnAdapterOrADeadPortIsDropped() {
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1, 2, 4, 1))
                .isNull();
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1, 7))
                .isNull();
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1, 200))
                .isNull();
        assertThat(fabric.node("s1").count(MadFate.BAD_ROUTE)).isEqualTo(2);
        assertThat(fabric.node("b").count(MadFate.BAD_ROUTE)).isEqualTo(1);
    }

    @Test
    void whatAnAgentDoesNotKnowHasItsStatus() {
        assertThat(Smp.status(requests.get(0x77, 0, 1))).isEqualTo(Mad.STATUS_BAD_ATTRIBUTE);
        assertThat(Smp.status(requests.get(SwitchInfo.ATTRIBUTE, 0))).isEqualTo(Mad.STATUS_BAD_ATTRIBUTE);
        assertThat(Smp.status(set(NodeInfo.ATTRIBUTE, 0, _ -> {}, 1))).isEqualTo(Mad.STATUS_BAD_ATTRIBUTE);
        assertThat(Smp.status(requests.get(PortInfo.ATTRIBUTE, 9, 1))).isEqualTo(Mad.STATUS_BAD_VALUE);
        assertThat(Smp.status(requests.get(LinearForwarding.ATTRIBUTE, 768, 1))).isEqualTo(Mad.STATUS_BAD_VALUE);
        assertThat(Smp.status(requests.get(PkeyTable.ATTRIBUTE, PkeyTable.modifier(1, 4), 1)))
                .isEqualTo(Mad.STATUS_BAD_VALUE);
        assertThat(Smp.status(requests.get(VlArbitration.ATTRIBUTE, VlArbitration.modifier(5, 1), 1)))
                .isEqualTo(Mad.STATUS_BAD_VALUE);
    }

    @Test
    void aPortIsArmedAndThenActivated() {
        assertThat(state("s1", 2)).isEqualTo(PortInfo.INIT);
        // IBTA 7.2.7: not from INIT to ACTIVE, and never to INIT by a Set.
        assertThat(Smp.status(setState(PortInfo.ACTIVE, 2, 1))).isEqualTo(Mad.STATUS_BAD_VALUE);
        assertThat(Smp.status(setState(PortInfo.INIT, 2, 1))).isEqualTo(Mad.STATUS_BAD_VALUE);
        assertThat(state("s1", 2)).isEqualTo(PortInfo.INIT);
        assertThat(Smp.status(setState(PortInfo.ARMED, 2, 1))).isZero();
        assertThat(state("s1", 2)).isEqualTo(PortInfo.ARMED);
        assertThat(Smp.status(setState(PortInfo.ACTIVE, 2, 1))).isZero();
        assertThat(state("s1", 2)).isEqualTo(PortInfo.ACTIVE);
        // A port without link is neither.
        assertThat(Smp.status(setState(PortInfo.ARMED, 7, 1))).isEqualTo(Mad.STATUS_BAD_VALUE);
        // Down, and it trains again: both ends wait.
        assertThat(Smp.status(setState(PortInfo.DOWN, 2, 1))).isZero();
        assertThat(state("s1", 2)).isEqualTo(PortInfo.INIT);
        assertThat(state("s2", 3)).isEqualTo(PortInfo.INIT);
        assertThat(fabric.node("s2").port(3).count(PortCounter.LINK_DOWNED)).isEqualTo(1);
    }

    @Test
    void aDisabledPortStaysDown() {
        MemorySegment info = Smp.data(requests.get(PortInfo.ATTRIBUTE, 2, 1));
        PortInfo.PORT_STATE.put(info, 0);
        PortInfo.PHYSICAL_STATE.put(info, PortInfo.PHYSICAL_DISABLED);
        assertThat(Smp.status(set(PortInfo.ATTRIBUTE, 2, data -> data.copyFrom(info), 1)))
                .isZero();
        assertThat(state("s1", 2)).isEqualTo(PortInfo.DOWN);
        assertThat(state("s2", 3)).isEqualTo(PortInfo.DOWN);
        assertThat(fabric.node("s1").port(2).physicalState()).isEqualTo(PortInfo.PHYSICAL_DISABLED);
    }

    @Test
    void wrongValuesLeaveThePortAsItWas() {
        var before = Smp.data(requests.get(PortInfo.ATTRIBUTE, 0));
        for (int wrong = 0; wrong < 6; wrong++) {
            int which = wrong;
            MemorySegment answer = set(PortInfo.ATTRIBUTE, 0, data -> {
                data.copyFrom(before);
                PortInfo.PORT_STATE.put(data, 0);
                PortInfo.PHYSICAL_STATE.put(data, 0);
                PortInfo.SUBNET_TIMEOUT.put(data, 5);
                switch (which) {
                    case 0 -> PortInfo.LID.put(data, 0xC000);
                    case 1 -> PortInfo.NEIGHBOR_MTU.put(data, 6);
                    case 2 -> PortInfo.OPERATIONAL_VLS.put(data, 5);
                    case 3 -> PortInfo.PHYSICAL_STATE.put(data, 4);
                    case 4 -> PortInfo.LINK_WIDTH_ENABLED.put(data, 8);
                    default -> {
                        PortInfo.LID.put(data, 5);
                        PortInfo.LMC.put(data, 2);
                    }
                }
            });
            assertThat(Smp.status(answer)).as("case %d", wrong).isEqualTo(Mad.STATUS_BAD_VALUE);
        }
        assertThat(Smp.data(requests.get(PortInfo.ATTRIBUTE, 0)).mismatch(before))
                .isEqualTo(-1);
    }

    @Test
    void aPortHasAllItsLids() {
        set(PortInfo.ATTRIBUTE, 0, data -> {
            data.copyFrom(fabric.node("a").port(1).info());
            PortInfo.PORT_STATE.put(data, 0);
            PortInfo.PHYSICAL_STATE.put(data, 0);
            PortInfo.LID.put(data, 8);
            PortInfo.LMC.put(data, 2);
        });
        NodePort port = fabric.node("a").port(1);
        assertThat(port.hasLid(7)).isFalse();
        assertThat(port.hasLid(8)).isTrue();
        assertThat(port.hasLid(11)).isTrue();
        assertThat(port.hasLid(12)).isFalse();
    }

    @Test
    void tablesAreSetAndRead() {
        set(LinearForwarding.ATTRIBUTE, 1, data -> LinearForwarding.put(data, 3, 5), 1);
        SwitchTables tables = fabric.node("s1").tables();
        assertThat(tables.port(67)).as("above the top").isEqualTo(-1);
        set(SwitchInfo.ATTRIBUTE, 0, data -> SwitchInfo.LINEAR_FDB_TOP.put(data, 100), 1);
        assertThat(tables.port(67)).isEqualTo(5);
        assertThat(tables.port(0xC001)).isEqualTo(-1);
        set(
                MulticastForwarding.ATTRIBUTE,
                MulticastForwarding.modifier(0, 1),
                data -> MulticastForwarding.put(data, 2, 0b1010),
                1);
        assertThat(tables.members(0xC000 + 34)).isEqualTo(0b1010);
        assertThat(tables.members(0xFFFE)).isZero();
        set(PkeyTable.ATTRIBUTE, PkeyTable.modifier(2, 0), data -> PkeyTable.put(data, 1, 0x0005), 1);
        NodePort port = fabric.node("s1").port(2);
        assertThat(port.pkey(1)).isEqualTo(5);
        assertThat(port.hasPkey(0x8005)).isTrue();
        assertThat(port.hasPkey(0x0005)).as("two limited members").isFalse();
        assertThat(port.hasPkey(0)).isFalse();
        set(SlToVl.ATTRIBUTE, SlToVl.modifier(1, 2), data -> SlToVl.put(data, 3, 6), 1);
        assertThat(port.lane(1, 3)).isEqualTo(6);
        assertThat(port.lane(3, 3)).isEqualTo(3);
        set(VlArbitration.ATTRIBUTE, VlArbitration.modifier(4, 2), data -> VlArbitration.put(data, 31, 7, 9), 1);
        assertThat(port.arbitrationLane(true, 63)).isEqualTo(7);
        assertThat(port.arbitrationWeight(true, 63)).isEqualTo(9);
        set(GuidInfo.ATTRIBUTE, 0, data -> GuidInfo.put(data, 1, 77));
        MemorySegment guids = Smp.data(requests.get(GuidInfo.ATTRIBUTE, 0));
        assertThat(GuidInfo.get(guids, 0)).isEqualTo(fabric.node("a").port(1).guid());
        assertThat(GuidInfo.get(guids, 1)).isEqualTo(77);
    }

    /// IBTA 14.2.4.
    @Test
    void aManagementKeyProtects() {
        MemorySegment info = Smp.data(requests.get(PortInfo.ATTRIBUTE, 0, 1));
        PortInfo.M_KEY.put(info, 0xABCL);
        PortInfo.M_KEY_PROTECT_BITS.put(info, 1);
        PortInfo.M_KEY_LEASE_PERIOD.put(info, 3);
        set(PortInfo.ATTRIBUTE, 0, data -> data.copyFrom(info), 1);
        MemorySegment seen = Smp.data(requests.get(PortInfo.ATTRIBUTE, 0, 1));
        assertThat(PortInfo.M_KEY.get(seen)).as("hidden").isZero();
        assertThat(requests.directed(Mad.METHOD_SET, SwitchInfo.ATTRIBUTE, 0, 0xABD, _ -> {}, 1))
                .isNull();
        assertThat(requests.directed(Mad.METHOD_SET, SwitchInfo.ATTRIBUTE, 0, 0xABC, _ -> {}, 1))
                .isNotNull();
        PortInfo.M_KEY_PROTECT_BITS.put(info, 2);
        requests.directed(Mad.METHOD_SET, PortInfo.ATTRIBUTE, 0, 0xABC, data -> data.copyFrom(info), 1);
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1))
                .isNull();
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0xABC, _ -> {}, 1))
                .isNotNull();
        assertThat(fabric.node("s1").count(MadFate.BAD_M_KEY)).isEqualTo(2);
        // The lease runs out when no packet with the key has come since.
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1))
                .isNull();
        fabric.run(3_000_000_000L);
        assertThat(requests.directed(Mad.METHOD_GET, NodeInfo.ATTRIBUTE, 0, 0, _ -> {}, 1))
                .isNotNull();
    }

    @Test
    void aSwitchTellsThatALinkIsLostUntilItIsRepressed() {
        adopt();
        requests.heard.clear();
        fabric.cut("s2:4");
        fabric.run(4_000_000_000L);
        assertThat(requests.heard).hasSizeBetween(3, Traps.TIMES);
        MemorySegment trap = requests.heard.getFirst().mad();
        assertThat(Mad.method(trap)).isEqualTo(Mad.METHOD_TRAP);
        assertThat(Notice.TRAP_NUMBER.getInt(Smp.data(trap))).isEqualTo(Notice.LINK_STATE_CHANGE);
        assertThat(Notice.SWITCH_LID.getInt(Smp.data(trap))).isEqualTo(3);
        assertThat(requests.heard).allMatch(one -> Mad.transactionId(one.mad()) == Mad.transactionId(trap));
        MemorySegment repress = Mad.copyOf(trap);
        Mad.answer(repress, Mad.METHOD_TRAP_REPRESS, 0);
        requests.ask(new Datagram(MadRoute.subnet(1, 1, 3, 0), repress));
        requests.heard.clear();
        fabric.run(30_000_000_000L);
        assertThat(requests.heard).isEmpty();
        assertThat(fabric.node("s2").count(MadFate.REPRESSED)).isEqualTo(1);
        assertThat(SwitchInfo.PORT_STATE_CHANGE.getBoolean(Smp.data(requests.get(SwitchInfo.ATTRIBUTE, 0, 1, 2))))
                .isTrue();
    }

    @Test
    void aTrapThatNobodyHearsEnds() {
        adopt();
        fabric.cut("s2:4");
        requests.heard.clear();
        fabric.run(100_000_000_000L);
        assertThat(requests.heard).hasSize(Traps.TIMES);
        assertThat(fabric.node("s2").deadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aWrongKeyIsCountedAndTold() {
        adopt();
        requests.heard.clear();
        var packet = new MadRoute(1, 3, 1, 2, 17, 18, 0x8001);
        fabric.node("a").onBadKey(Notice.BAD_P_KEY, packet, 0x8001, fabric.now);
        fabric.run(1_000_000);
        MemorySegment notice = Smp.data(requests.heard.getFirst().mad());
        assertThat(Notice.TRAP_NUMBER.getInt(notice)).isEqualTo(257);
        assertThat(Notice.KEY.getInt(notice)).isEqualTo(0x8001);
        assertThat(Notice.SECOND_QPN.getInt(notice)).isEqualTo(18);
        assertThat(PortInfo.P_KEY_VIOLATIONS.getInt(fabric.node("a").port(1).info()))
                .isEqualTo(1);
    }

    @Test
    void countersAreReadAndReset() {
        adopt();
        NodePort port = fabric.node("s2").port(3);
        port.count(PortCounter.TRANSMIT_DATA, 5_000_000_000L);
        port.count(PortCounter.VL15_DROPPED, 3);
        fabric.node("s2").port(1).count(PortCounter.VL15_DROPPED, 4);
        MemorySegment classic = performance(Mad.METHOD_GET, PortCounters.ATTRIBUTE, 3, 0);
        assertThat(value(classic, PortCounter.TRANSMIT_DATA, false)).as("stops").isEqualTo(0xFFFF_FFFFL);
        assertThat(value(classic, PortCounter.VL15_DROPPED, false)).isEqualTo(3);
        MemorySegment wide = performance(Mad.METHOD_GET, PortCountersExtended.ATTRIBUTE, 3, 0);
        assertThat(value(wide, PortCounter.TRANSMIT_DATA, true)).isEqualTo(5_000_000_000L);
        MemorySegment all = performance(Mad.METHOD_GET, PortCounters.ATTRIBUTE, PortCounters.ALL_PORTS, 0);
        assertThat(value(all, PortCounter.VL15_DROPPED, false)).isEqualTo(7);
        // Only what is selected is set, and the wide counter goes on.
        performance(Mad.METHOD_SET, PortCounters.ATTRIBUTE, 3, 1 << 12);
        MemorySegment after = performance(Mad.METHOD_GET, PortCounters.ATTRIBUTE, 3, 0);
        assertThat(value(after, PortCounter.TRANSMIT_DATA, false)).isZero();
        assertThat(value(after, PortCounter.VL15_DROPPED, false)).isEqualTo(3);
        wide = performance(Mad.METHOD_GET, PortCountersExtended.ATTRIBUTE, 3, 0);
        assertThat(value(wide, PortCounter.TRANSMIT_DATA, true)).isEqualTo(5_000_000_000L);
        MemorySegment wrong = performance(Mad.METHOD_GET, PortCounters.ATTRIBUTE, 99, 0);
        assertThat(Mad.status(wrong)).isEqualTo(Mad.STATUS_BAD_VALUE);
        MemorySegment can = performance(Mad.METHOD_GET, ClassPortInfo.ATTRIBUTE, 0, 0);
        assertThat(ClassPortInfo.CAPABILITY_MASK.getInt(PortCounters.data(can)) & ClassPortInfo.EXTENDED_WIDTH)
                .isNotZero();
    }

    /// Goal H4: whatever arrives, at a node that is at work.
    @Test
    void hostileDatagramsDoNoHarm() {
        long datagrams = Boolean.getBoolean("verbena.deep") ? 20_000_000 : 400_000;
        long seed = Long.getLong("verbena.seed", 1);
        var random = new Random(seed);
        int[] attributes = {
            0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x01, 0x02, 0x1D, 0x30
        };
        int[] classes = {1, 0x81, 0x81, 4, 3, 7};
        byte[] bytes = new byte[Mad.BYTES];
        MemorySegment mad = MemorySegment.ofArray(bytes);
        long answered = 0;
        adopt();
        for (Node node : fabric.nodes.values()) {
            for (long i = 0; i < datagrams / 4; i++) {
                random.nextBytes(bytes);
                int shape = random.nextInt(8);
                if (shape > 0) {
                    bytes[0] = 1;
                    bytes[1] = (byte) classes[random.nextInt(classes.length)];
                    bytes[2] = 1;
                    bytes[3] = (byte) (1 + random.nextInt(7));
                    bytes[16] = 0;
                    bytes[17] = (byte) attributes[random.nextInt(attributes.length)];
                    if (shape > 1) { // near what is right
                        bytes[4] &= (byte) 0x80;
                        bytes[7] = (byte) random.nextInt(5);
                        bytes[6] = (byte) random.nextInt(6);
                        bytes[20] = 0;
                        bytes[21] = 0;
                        bytes[22] = 0;
                        bytes[23] &= 0xF;
                        for (int hop = 0; hop < 8; hop++) {
                            bytes[128 + hop] &= 0xF;
                            bytes[192 + hop] &= 0xF;
                        }
                    }
                    if (shape > 4) {
                        mad.asSlice(24, 8).fill((byte) 0);
                    }
                }
                var route = new MadRoute(
                        random.nextInt(10), random.nextInt(8), random.nextInt(8), 0, 1, bytes[1] == 4 ? 1 : 0, 0xFFFF);
                MadFate fate = node.onMad(random.nextInt(50) == 0 ? mad.asSlice(0, 100) : mad, route, i);
                answered += fate == MadFate.ANSWERED ? 1 : 0;
                int out = 0;
                for (var d = node.poll(); d != null; d = node.poll()) {
                    out++;
                    int port = d.route().port();
                    assertThat(port).isBetween(0, node.ports());
                }
                assertThat(out).as("one in, one out at most").isLessThanOrEqualTo(1);
                drain(node);
                if (i % 64 == 0) {
                    node.onDeadline(i);
                    drain(node);
                }
            }
            long sum = 0;
            for (MadFate fate : MadFate.values()) {
                sum += node.count(fate);
            }
            assertThat(sum).as("fates").isGreaterThanOrEqualTo(datagrams / 4);
            assertThat(node.count(MadFate.NO_ROOM)).isZero();
        }
        assertThat(answered).as("the attacker gets somewhere").isGreaterThan(datagrams / 20);
    }

    private static void drain(Node node) {
        boolean more = true;
        while (more) {
            more = node.poll() != null || node.pollForManager() != null || node.pollReset() >= 0;
        }
    }

    @Test
    void aSpecSaysWhatIsWrong() {
        assertThatThrownBy(() -> NodeSpec.switching(1, "s", 255)).hasMessage("ports: 1 to 254, got 255");
        assertThatThrownBy(() -> fabric.node("a").port(2)).hasMessage("number: no port 2 at a");
        assertThatThrownBy(() -> fabric.node("a").tables()).hasMessage("a is no switch");
    }

    @Test
    void requestsForAManagerAreLeftToIt() {
        requests.get(NodeInfo.ATTRIBUTE, 0);
        assertThat(requests.directed(Mad.METHOD_GET, SmInfo.ATTRIBUTE, 0, 0, _ -> {}, 1))
                .as("nobody manages from there")
                .isNull();
        assertThat(fabric.node("s1").count(MadFate.FOR_MANAGER)).isEqualTo(1);
    }

    /// Gives LIDs 1 to 4 by hand, routes by them, and makes a the manager of all.
    private void adopt() {
        int[][] paths = {{}, {1}, {1, 2}, {1, 2, 4}};
        int[][] routes = {{}, {0, 1, 0, 2, 2}, {0, 3, 3, 0, 4}, {}};
        for (int i = 0; i < paths.length; i++) {
            int lid = i + 1;
            int[] forwarding = routes[i];
            MemorySegment info = Smp.data(requests.get(PortInfo.ATTRIBUTE, 0, paths[i]));
            set(
                    PortInfo.ATTRIBUTE,
                    0,
                    data -> {
                        data.copyFrom(info);
                        PortInfo.PORT_STATE.put(data, 0);
                        PortInfo.PHYSICAL_STATE.put(data, 0);
                        PortInfo.LID.put(data, lid);
                        PortInfo.MASTER_SM_LID.put(data, 1);
                        PortInfo.SUBNET_TIMEOUT.put(data, 18);
                    },
                    paths[i]);
            if (forwarding.length > 0) {
                set(
                        LinearForwarding.ATTRIBUTE,
                        0,
                        data -> {
                            data.fill((byte) 0xFF);
                            for (int to = 1; to < forwarding.length; to++) {
                                LinearForwarding.put(data, to, forwarding[to]);
                            }
                        },
                        paths[i]);
                set(SwitchInfo.ATTRIBUTE, 0, data -> SwitchInfo.LINEAR_FDB_TOP.put(data, 10), paths[i]);
            }
        }
    }

    private MemorySegment set(
            int attribute, int modifier, java.util.function.Consumer<MemorySegment> data, int... path) {
        return Objects.requireNonNull(requests.directed(Mad.METHOD_SET, attribute, modifier, 0, data, path));
    }

    private MemorySegment setState(int state, int port, int... path) {
        return set(
                PortInfo.ATTRIBUTE,
                port,
                data -> {
                    data.copyFrom(fabric.node("s1").port(port).info());
                    PortInfo.PORT_STATE.put(data, state);
                    PortInfo.PHYSICAL_STATE.put(data, 0);
                },
                path);
    }

    private int state(String node, int port) {
        return fabric.node(node).port(port).state();
    }

    private MemorySegment performance(int method, int attribute, int port, int select) {
        MemorySegment mad = Mad.allocate();
        Mad.write(mad, Mad.CLASS_PERFORMANCE, 1, method, 5000 + fabric.now, attribute, 0);
        PortCounters.PORT_SELECT.put(PortCounters.data(mad), port);
        PortCounters.COUNTER_SELECT.put(PortCounters.data(mad), select);
        return Objects.requireNonNull(requests.ask(new Datagram(new MadRoute(1, 1, 3, 0, 1, 1, 0xFFFF), mad)));
    }

    private static long value(MemorySegment mad, PortCounter counter, boolean extended) {
        return Objects.requireNonNull(extended ? counter.extended() : counter.classic())
                .get(PortCounters.data(mad));
    }
}
