package verbena.subnet.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.subnet.manager.ManagedFabric.SECOND;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.Requests;
import verbena.subnet.TinyFabric;
import verbena.subnet.node.Node;
import verbena.wire.mad.InformInfo;
import verbena.wire.mad.Mad;
import verbena.wire.mad.McMemberRecord;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeRecord;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.PortInfoRecord;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Sa;
import verbena.wire.mad.ServiceRecord;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;

/// What ports ask of the subnet administration (IBTA 15.2.5), over the fabric: h1 has the manager, h2 asks, h3
/// and h4 are there.
class AdministrationTest {
    private static final long PREFIX = 0xFE80_0000_0000_0000L;

    private final ManagedFabric managed = new ManagedFabric();
    private final TinyFabric fabric = managed.fabric;
    private SubnetManager manager = build();
    private Requests client = new Requests(fabric, "h2");
    private long transactionId;

    private SubnetManager build() {
        fabric.switching("s0", 8);
        for (int i = 1; i <= 4; i++) {
            fabric.switching("s" + i, 20);
            fabric.adapter("h" + i);
            fabric.link("s" + i + ":1", "s0:" + i);
            fabric.link("s" + i + ":18", "h" + i + ":1");
        }
        long h3 = fabric.node("h3").port(1).guid();
        long h2 = fabric.node("h2").port(1).guid();
        return managed.manage(
                "h1",
                ManagerOptions.DEFAULT
                        .withLmc(1)
                        .withPartitions(
                                List.of(Partition.DEFAULT, new Partition(0x55, Map.of(h2, true, h3, true), false))));
    }

    @BeforeEach
    void comeUp() {
        fabric.run(SECOND);
        managed.assertUp(manager);
        client = new Requests(fabric, "h2");
    }

    @Test
    void aPathLeadsWhereItSays() {
        MemorySegment answer = path("h4", 0);
        assertThat(Mad.status(answer)).isZero();
        MemorySegment path = Sa.data(answer);
        assertThat(PathRecord.DLID.getInt(path)).isEqualTo(managed.lid("h4"));
        assertThat(PathRecord.SLID.getInt(path)).isEqualTo(managed.lid("h2"));
        assertThat(fabric.walk("h2", PathRecord.DLID.getInt(path))).endsWith("h4");
        assertThat(PathRecord.P_KEY.getInt(path)).isEqualTo(0xFFFF);
        assertThat(PathRecord.MTU.getInt(path)).isEqualTo(5);
        assertThat(PathRecord.RATE.getInt(path)).as("4x 25 Gb/s").isEqualTo(16);
        assertThat(PathRecord.REVERSIBLE.getBoolean(path)).isTrue();
    }

    @Test
    void aPathHasThePartitionThatIsWanted() {
        assertThat(PathRecord.P_KEY.getInt(Sa.data(path("h3", 0x8055)))).isEqualTo(0x8055);
        assertThat(Mad.status(path("h4", 0x8055))).isEqualTo(Sa.STATUS_NO_RECORDS);
    }

    @Test
    void nobodyHasAnUnknownGid() {
        MemorySegment answer = ask(
                Mad.METHOD_GET,
                PathRecord.ATTRIBUTE,
                PathRecord.HAS_DGID | PathRecord.HAS_SGID,
                data -> PathRecord.DGID_LOW.put(data, 99));
        assertThat(Mad.status(answer)).isEqualTo(Sa.STATUS_INVALID_GID);
    }

    @Test
    void allPathsOfAPortComeInALongAnswer() {
        byte[] all =
                table(PathRecord.ATTRIBUTE, PathRecord.HAS_SLID, data -> PathRecord.SLID.put(data, managed.lid("h2")));
        // To four adapters, itself among them, two LIDs each.
        assertThat(all).hasSize(8 * PathRecord.BYTES);
        var dlids = new ArrayList<Integer>();
        for (int i = 0; i < 8; i++) {
            dlids.add(PathRecord.DLID.getInt(record(all, i, PathRecord.BYTES)));
        }
        assertThat(dlids).doesNotHaveDuplicates();
    }

    /// opensm takes a manager with another SM_Key for none; 1 is its default.
    @Test
    void colleaguesKnowTheManagerByItsSmKey() {
        MemorySegment info = client.get(SmInfo.ATTRIBUTE, 0, 1, 1, 1, 18);
        assertThat(SmInfo.SM_KEY.get(Smp.data(info))).isEqualTo(1);
        assertThat(SmInfo.GUID.get(Smp.data(info)))
                .isEqualTo(fabric.node("h1").port(1).guid());
    }

    @Test
    void aTableOfAllPathsNeedsNoEnd() {
        assertThat(table(PathRecord.ATTRIBUTE, 0, _ -> {})).hasSize(4 * 4 * 2 * PathRecord.BYTES);
        assertThat(Mad.status(ask(Mad.METHOD_GET, PathRecord.ATTRIBUTE, 0, _ -> {})))
                .isEqualTo(Sa.STATUS_INSUFFICIENT_COMPONENTS);
    }

    @Test
    void nodesAreFoundByWhatTheyAre() {
        byte[] all = table(NodeRecord.ATTRIBUTE, 0, _ -> {});
        assertThat(all).hasSize(9 * 112);
        byte[] switches = table(NodeRecord.ATTRIBUTE, 1 << 4, data -> data.set(ValueLayout.JAVA_BYTE, 6, (byte) 2));
        assertThat(switches).hasSize(5 * 112);
        MemorySegment one =
                ask(Mad.METHOD_GET, NodeRecord.ATTRIBUTE, 1, data -> NodeRecord.LID.put(data, managed.lid("h3")));
        assertThat(Mad.status(one)).isZero();
        assertThat(NodeDescription.get(Sa.data(one).asSlice(NodeRecord.NODE_DESCRIPTION)))
                .isEqualTo("h3");
        assertThat(Mad.status(ask(Mad.METHOD_GET, NodeRecord.ATTRIBUTE, 0, _ -> {})))
                .isEqualTo(Sa.STATUS_TOO_MANY_RECORDS);
    }

    @Test
    void portsAreFoundByTheirState() {
        byte[] down = table(PortInfoRecord.ATTRIBUTE, 1L << 16 | 1, data -> {
            PortInfoRecord.LID.put(data, managed.lid("s0"));
            PortInfo.PORT_STATE.in(PortInfoRecord.PORT_INFO).put(data, PortInfo.DOWN);
        });
        assertThat(down).hasSize(4 * 72);
    }

    @Test
    void anEmptyTableIsALongAnswerToo() {
        assertThat(table(ServiceRecord.ATTRIBUTE, 0, _ -> {})).isEmpty();
    }

    /// Segments and acknowledgements are lost, and the answer comes whole.
    @Test
    void aLongAnswerSurvivesLoss() {
        int[] count = {0};
        var random = new Random(3);
        fabric.lost = datagram -> Mad.managementClass(datagram.mad()) == Mad.CLASS_SUBNET_ADMINISTRATION
                && Rmpp.ACTIVE.getBoolean(datagram.mad())
                && ++count[0] > 0
                && random.nextInt(5) == 0;
        assertThat(table(NodeRecord.ATTRIBUTE, 0, _ -> {})).hasSize(9 * 112);
        assertThat(count[0]).isGreaterThan(10);
        fabric.lost = _ -> false;
        fabric.run(10 * SECOND);
        assertThat(manager.administration().longAnswers()).isZero();
    }

    @Test
    void aReceiverThatDoesNotAnswerIsGivenUp() {
        ask(Mad.METHOD_GET_TABLE, NodeRecord.ATTRIBUTE, 0, _ -> {});
        assertThat(manager.administration().longAnswers()).isEqualTo(1);
        fabric.run(10 * SECOND);
        assertThat(manager.administration().longAnswers()).isZero();
    }

    @Test
    void aGroupHasATreeToAllMembersAndNoOther() {
        MemorySegment made = join("h2", 0xFF12_0000_0000_0001L, McMemberRecord.FULL_MEMBER, true);
        assertThat(Mad.status(made)).isZero();
        int mlid = McMemberRecord.MLID.getInt(Sa.data(made));
        assertThat(mlid).isEqualTo(0xC000);
        assertThat(Mad.status(join("h3", 0xFF12_0000_0000_0001L, McMemberRecord.FULL_MEMBER, false)))
                .isZero();
        fabric.run(1_000_000);
        assertThat(reached("h2", mlid)).containsExactlyInAnyOrder("h3");
        assertThat(reached("h3", mlid)).containsExactlyInAnyOrder("h2");
        join("h4", 0xFF12_0000_0000_0001L, McMemberRecord.NON_MEMBER, false);
        fabric.run(1_000_000);
        assertThat(reached("h2", mlid)).containsExactlyInAnyOrder("h3", "h4");
        // A lost link and back: the tree is written again.
        fabric.cut("s3:1");
        fabric.run(SECOND);
        assertThat(reached("h2", mlid)).containsExactlyInAnyOrder("h4");
        fabric.link("s3:1", "s0:7");
        fabric.run(SECOND);
        assertThat(Mad.status(join("h3", 0xFF12_0000_0000_0001L, McMemberRecord.FULL_MEMBER, false)))
                .as("a port that was away joins again")
                .isZero();
        fabric.run(1_000_000);
        assertThat(reached("h2", mlid)).containsExactlyInAnyOrder("h3", "h4");
        // The group ends with its last full member.
        leave("h2");
        leave("h3");
        assertThat(manager.administration().groups()).isZero();
        fabric.run(1_000_000);
        assertThat(reached("h2", mlid)).isEmpty();
    }

    /// Who has its answer gets what is sent from then on.
    @Test
    void aMemberHasItsAnswerWhenTheSwitchesForwardToIt() {
        long group = 0xFF12_0000_0000_0001L;
        assertThat(Mad.status(join("h2", group, McMemberRecord.FULL_MEMBER, true)))
                .isZero();
        int[] written = {0};
        fabric.lost = datagram -> Mad.attributeId(datagram.mad()) == MulticastForwarding.ATTRIBUTE
                && Mad.method(datagram.mad()) == Mad.METHOD_SET
                && written[0]++ == 0;
        client.heard.clear();
        tell("h3", group);
        assertThat(client.heard).as("as long as a table is not written").isEmpty();
        fabric.run(SECOND);
        assertThat(client.heard).hasSize(1);
        assertThat(written[0]).isGreaterThan(1);
        assertThat(reached("h2", 0xC000)).containsExactly("h3");
    }

    /// IBTA 15.2.5.17.2, JoinState SendOnlyFullMember: the group lives for it, and is not forwarded to it.
    @Test
    void aSenderKeepsAGroupAliveAndHearsNothing() {
        long group = 0xFF12_0000_0000_0001L;
        MemorySegment made = join("h2", group, McMemberRecord.SEND_ONLY_FULL_MEMBER, true);
        assertThat(Mad.status(made)).isZero();
        int mlid = McMemberRecord.MLID.getInt(Sa.data(made));
        assertThat(Mad.status(join("h3", group, McMemberRecord.FULL_MEMBER, false)))
                .isZero();
        assertThat(reached("h2", mlid)).containsExactly("h3");
        assertThat(reached("h3", mlid)).as("the sender is no target").isEmpty();
        leave("h3");
        assertThat(manager.administration().groups()).isEqualTo(1);
        leave("h2", McMemberRecord.SEND_ONLY_FULL_MEMBER);
        assertThat(manager.administration().groups()).isZero();
    }

    @Test
    void aGroupIsRefusedWithItsReason() {
        assertThat(Mad.status(join("h2", 0xFF12_0000_0000_0002L, McMemberRecord.FULL_MEMBER, false)))
                .isEqualTo(Sa.STATUS_INSUFFICIENT_COMPONENTS);
        assertThat(Mad.status(join("h2", 0x0012_0000_0000_0002L, McMemberRecord.FULL_MEMBER, true)))
                .isEqualTo(Sa.STATUS_REQUEST_INVALID);
        assertThat(Mad.status(join("h2", 0xFF12_0000_0000_0002L, 0, true))).isEqualTo(Sa.STATUS_REQUEST_INVALID);
        leave("h4");
        assertThat(manager.administration().groups()).isZero();
    }

    @Test
    void aServiceIsThereUntilItsLeaseEnds() {
        Consumer<MemorySegment> service = data -> {
            ServiceRecord.SERVICE_ID.put(data, 0x1234);
            ServiceRecord.GID_HIGH.put(data, PREFIX);
            ServiceRecord.GID_LOW.put(data, fabric.node("h2").port(1).guid());
            ServiceRecord.P_KEY.put(data, 0xFFFF);
            ServiceRecord.LEASE.put(data, 5);
        };
        assertThat(Mad.status(ask(Mad.METHOD_SET, ServiceRecord.ATTRIBUTE, 0, service)))
                .isZero();
        assertThat(Mad.status(ask(Mad.METHOD_SET, ServiceRecord.ATTRIBUTE, 0, service)))
                .isZero();
        assertThat(manager.administration().services()).isEqualTo(1);
        assertThat(Mad.status(ask(Mad.METHOD_GET, ServiceRecord.ATTRIBUTE, 1, service)))
                .isZero();
        fabric.run(5 * SECOND);
        assertThat(Mad.status(ask(Mad.METHOD_GET, ServiceRecord.ATTRIBUTE, 1, service)))
                .isEqualTo(Sa.STATUS_NO_RECORDS);
        ask(Mad.METHOD_SET, ServiceRecord.ATTRIBUTE, 0, service);
        assertThat(Mad.status(ask(Mad.METHOD_DELETE, ServiceRecord.ATTRIBUTE, 0, service)))
                .isZero();
        assertThat(manager.administration().services()).isZero();
    }

    @Test
    void thoseWhoAskHearOfPortsThatGoAndCome() {
        assertThat(Mad.status(subscribe(1))).isZero();
        client.heard.clear();
        fabric.cut("s4:18");
        fabric.run(SECOND / 4);
        assertThat(reports()).containsExactly(Notice.LINK_STATE_CHANGE, Notice.GID_OUT_OF_SERVICE);
        MemorySegment notice = Sa.data(client.heard.getLast().mad());
        assertThat(Notice.GID_LOW.get(notice))
                .isEqualTo(fabric.node("h4").port(1).guid());
        // What is not answered is told again, but not for ever.
        fabric.run(30 * SECOND);
        assertThat(reports()).hasSize(2 * Subscriptions.TIMES);
        client.heard.clear();
        fabric.link("s4:18", "h4:1");
        fabric.run(SECOND / 4);
        assertThat(reports()).contains(Notice.GID_IN_SERVICE);
        MemorySegment report = client.heard.getLast().mad();
        int before = reports().size();
        for (Datagram one : List.copyOf(client.heard)) {
            MemorySegment answer = Mad.copyOf(one.mad());
            Mad.answer(answer, Mad.METHOD_REPORT | Mad.RESPONSE, 0);
            fabric.send("h2", new Datagram(route(), answer));
        }
        fabric.run(30 * SECOND);
        assertThat(reports()).as("answered: %s", report).hasSize(before);
        assertThat(Mad.status(subscribe(0))).isZero();
        assertThat(manager.administration().subscriptions()).isZero();
        assertThat(Mad.status(subscribe(0))).isEqualTo(Sa.STATUS_REQUEST_INVALID);
    }

    @Test
    void whatIsNotKnownIsRefused() {
        assertThat(Mad.status(ask(Mad.METHOD_GET, 0x77, 0, _ -> {}))).isEqualTo(Mad.STATUS_BAD_ATTRIBUTE);
        assertThat(Mad.status(ask(Mad.METHOD_SET, NodeRecord.ATTRIBUTE, 0, _ -> {})))
                .isEqualTo(Mad.STATUS_BAD_ATTRIBUTE);
        assertThat(Mad.status(ask(0x13, NodeRecord.ATTRIBUTE, 0, _ -> {}))).isEqualTo(Mad.STATUS_BAD_METHOD);
    }

    private MemorySegment subscribe(int begin) {
        return ask(Mad.METHOD_SET, InformInfo.ATTRIBUTE, 0, data -> {
            InformInfo.LID_BEGIN.put(data, InformInfo.ANY);
            InformInfo.IS_GENERIC.put(data, 1);
            InformInfo.SUBSCRIBE.put(data, begin);
            InformInfo.TYPE.put(data, InformInfo.ANY);
            InformInfo.TRAP_NUMBER.put(data, InformInfo.ANY);
            InformInfo.QPN.put(data, 1);
            InformInfo.PRODUCER_TYPE.put(data, InformInfo.ANY_PRODUCER);
        });
    }

    private List<Integer> reports() {
        var traps = new ArrayList<Integer>();
        for (Datagram one : client.heard) {
            if (Mad.method(one.mad()) == Mad.METHOD_REPORT) {
                traps.add(Notice.TRAP_NUMBER.getInt(Sa.data(one.mad())));
            }
        }
        return traps;
    }

    /// Joins, and does not wait for the answer.
    private void tell(String port, long mgidHigh) {
        MemorySegment mad = Mad.allocate();
        long mask = McMemberRecord.HAS_MGID | McMemberRecord.HAS_PORT_GID | McMemberRecord.HAS_JOIN_STATE;
        Sa.write(mad, Mad.METHOD_SET, ++transactionId, McMemberRecord.ATTRIBUTE, mask);
        member(Sa.data(mad), port, mgidHigh, McMemberRecord.FULL_MEMBER);
        fabric.send("h2", new Datagram(route(), mad));
        fabric.run(1_000_000);
    }

    private MemorySegment join(String port, long mgidHigh, int state, boolean creates) {
        long mask = McMemberRecord.HAS_MGID | McMemberRecord.HAS_PORT_GID | McMemberRecord.HAS_JOIN_STATE;
        if (creates) {
            mask |= McMemberRecord.HAS_Q_KEY
                    | McMemberRecord.HAS_TRAFFIC_CLASS
                    | McMemberRecord.HAS_P_KEY
                    | McMemberRecord.HAS_SL
                    | McMemberRecord.HAS_FLOW_LABEL;
        }
        return ask(Mad.METHOD_SET, McMemberRecord.ATTRIBUTE, mask, data -> member(data, port, mgidHigh, state));
    }

    private void leave(String port) {
        leave(port, McMemberRecord.FULL_MEMBER);
    }

    private void leave(String port, int state) {
        ask(
                Mad.METHOD_DELETE,
                McMemberRecord.ATTRIBUTE,
                McMemberRecord.HAS_MGID | McMemberRecord.HAS_PORT_GID | McMemberRecord.HAS_JOIN_STATE,
                data -> member(data, port, 0xFF12_0000_0000_0001L, state));
    }

    private void member(MemorySegment data, String port, long mgidHigh, int state) {
        McMemberRecord.MGID_HIGH.put(data, mgidHigh);
        McMemberRecord.MGID_LOW.put(data, 7);
        McMemberRecord.PORT_GID_HIGH.put(data, PREFIX);
        McMemberRecord.PORT_GID_LOW.put(data, fabric.node(port).port(1).guid());
        McMemberRecord.Q_KEY.put(data, 5);
        McMemberRecord.P_KEY.put(data, 0xFFFF);
        McMemberRecord.JOIN_STATE.put(data, state);
    }

    private MemorySegment path(String to, int pkey) {
        return ask(
                Mad.METHOD_GET,
                PathRecord.ATTRIBUTE,
                PathRecord.HAS_DGID | PathRecord.HAS_SGID | (pkey != 0 ? PathRecord.HAS_P_KEY : 0),
                data -> {
                    PathRecord.DGID_HIGH.put(data, PREFIX);
                    PathRecord.DGID_LOW.put(data, fabric.node(to).port(1).guid());
                    PathRecord.SGID_HIGH.put(data, PREFIX);
                    PathRecord.SGID_LOW.put(data, fabric.node("h2").port(1).guid());
                    PathRecord.P_KEY.put(data, pkey);
                });
    }

    private MadRoute route() {
        return new MadRoute(1, managed.lid("h2"), managed.lid("h1"), 0, 1, 1, 0xFFFF);
    }

    private MemorySegment ask(int method, int attribute, long mask, Consumer<MemorySegment> data) {
        MemorySegment mad = Mad.allocate();
        Sa.write(mad, method, ++transactionId, attribute, mask);
        data.accept(Sa.data(mad));
        return Objects.requireNonNull(client.ask(new Datagram(route(), mad)));
    }

    /// Asks for a table, and acknowledges segments two at a time.
    private byte[] table(int attribute, long mask, Consumer<MemorySegment> data) {
        var payload = new ByteArrayOutputStream();
        @Nullable MemorySegment segment = ask(Mad.METHOD_GET_TABLE, attribute, mask, data);
        int next = 1;
        for (int tries = 0; tries < 200; tries++) {
            for (Datagram one : List.copyOf(client.heard)) {
                segment = one.mad();
                if (!Rmpp.ACTIVE.getBoolean(segment) || Rmpp.SEGMENT.getInt(segment) != next) {
                    continue;
                }
                next++;
                boolean last = Rmpp.LAST.getBoolean(segment);
                int bytes = last ? Rmpp.PAYLOAD_LENGTH.getInt(segment) - Sa.OWN_HEADER_BYTES : Sa.DATA_BYTES;
                payload.writeBytes(Sa.data(segment).asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
                if (last) {
                    acknowledge(segment, next - 1);
                    fabric.run(SECOND);
                    return payload.toByteArray();
                }
            }
            client.heard.clear();
            if (next > 1) {
                acknowledge(segment, next - 1);
            }
            fabric.run(next > 1 ? SECOND / 2 : SECOND);
        }
        throw new AssertionError("no end after segment " + next);
    }

    private void acknowledge(MemorySegment segment, int number) {
        MemorySegment ack = Mad.copyOf(segment);
        Sa.data(ack).fill((byte) 0);
        Rmpp.TYPE.put(ack, Rmpp.ACK);
        Rmpp.SEGMENT.put(ack, number);
        Rmpp.NEW_WINDOW_LAST.put(ack, number + 2);
        fabric.send("h2", new Datagram(route(), ack));
    }

    private static MemorySegment record(byte[] all, int index, int bytes) {
        return MemorySegment.ofArray(all).asSlice((long) index * bytes, bytes);
    }

    /// The adapters that a packet for a group gets to by the tables; each once.
    private List<String> reached(String from, int mlid) {
        var reached = new ArrayList<String>();
        spread(Objects.requireNonNull(fabric.links.get(new TinyFabric.End(from, 1))), mlid, reached, 0);
        return reached;
    }

    private void spread(TinyFabric.End at, int mlid, List<String> reached, int depth) {
        assertThat(depth).as("a loop").isLessThan(10);
        Node node = fabric.node(at.node());
        if (!node.isSwitch()) {
            reached.add(at.node());
            return;
        }
        for (int port = 1; port <= node.ports(); port++) {
            TinyFabric.End peer = fabric.links.get(new TinyFabric.End(at.node(), port));
            if (port != at.port() && peer != null && (node.tables().members(mlid) >> port & 1) != 0) {
                spread(peer, mlid, reached, depth + 1);
            }
        }
    }
}
