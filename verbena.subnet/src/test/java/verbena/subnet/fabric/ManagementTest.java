package verbena.subnet.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.agent.AgentMad;
import verbena.subnet.agent.AgentRefusal;
import verbena.subnet.agent.AgentSpec;
import verbena.subnet.agent.MadClient;
import verbena.subnet.link.PacketStore;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.manager.SubnetManager.State;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.Field;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeRecord;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortCounters;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.PortInfoRecord;
import verbena.wire.mad.Sa;
import verbena.wire.mad.Smp;

/// How subnet managers bring a fabric up and keep it up, by packets on its own links (IBTA chapters 13 and 14).
class ManagementTest {
    private static final long SECOND = 1_000_000_000L;
    private static final String RING = """
            switch s1 4
            switch s2 4
            switch s3 4
            link s1:1 s2:2
            link s2:1 s3:2
            link s3:1 s1:2
            hca a
            hca b
            hca c
            link a s1:3
            link b s2:3
            link c s3:3
            """;

    private final ManagedRun run = new ManagedRun(RING);
    private final Fabric fabric = run.fabric;
    private final ChannelAdapter a = (ChannelAdapter) fabric.node("a");
    private final ChannelAdapter b = (ChannelAdapter) fabric.node("b");
    private final ChannelAdapter c = (ChannelAdapter) fabric.node("c");

    private void assertUp() {
        for (FabricNode node : fabric.nodes()) {
            for (int port = 1; port <= node.ports(); port++) {
                int state = fabric.peer(node, port) == null ? PortInfo.DOWN : PortInfo.ACTIVE;
                assertThat(node.node().port(port).state())
                        .as("state of %s:%d", node, port)
                        .isEqualTo(state);
            }
        }
        List<ChannelAdapter> linked = fabric.adapters().stream()
                .filter(adapter -> fabric.peer(adapter, 1) != null)
                .toList();
        for (ChannelAdapter from : linked) {
            for (ChannelAdapter to : linked) {
                Packets.send(from, to.lid(), from.lid() << 8 | to.lid());
                run.settle();
                assertThat(to.arrivals()).as("from %s to %s", from, to).isEqualTo(1);
                assertThat(Packets.take(to, fabric)).isEqualTo(from.lid() << 8 | to.lid());
            }
        }
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void withoutAManagerPortsWait() {
        run.run(60 * SECOND);
        assertThat(fabric.adapters()).allSatisfy(adapter -> {
            assertThat(adapter.info().state()).isEqualTo(PortInfo.INIT);
            assertThat(adapter.lid()).isZero();
        });
        assertThat(fabric.deadlineNanos()).as("nothing is waited for").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aManagerBringsAllPortsUp() {
        run.comeUp("a");
        assertUp();
        assertThat(fabric.nodes()).extracting(FabricNode::lid).doesNotContain(0).doesNotHaveDuplicates();
        assertThat(c.info().masterSmLid()).isEqualTo(a.lid());
        assertThat(c.info().mtuBytes()).isEqualTo(4_096);
        assertThat(c.info().reregistrations()).isEqualTo(1);
    }

    @Test
    void aManagerAtASwitchDoesSoToo() {
        run.comeUp("s2");
        assertUp();
        assertThat(a.info().masterSmLid()).isEqualTo(fabric.node("s2").lid());
    }

    /// Trap 128 of a switch tells of it, long before the next regular look.
    @Test
    void aLostLinkIsRoutedAroundAtOnceAndComesBack() {
        SubnetManager manager = run.comeUp("a");
        long sweeps = manager.sweeps();
        for (FabricNode at : fabric.switches()) {
            fabric.plug(at, 1, false, run.now);
            run.run(SECOND);
            assertThat(manager.sweeps()).isGreaterThan(sweeps);
            assertUp();
            fabric.plug(at, 1, true, run.now);
            run.run(SECOND);
            assertUp();
        }
    }

    @Test
    void aSwitchIsLostUnderTrafficAndTheOthersGoOn() {
        run.comeUp("a");
        int taken = 0;
        for (int i = 0; i < 3_000; i++) {
            for (ChannelAdapter from : fabric.adapters()) {
                if (from.hasRoom()) {
                    Packets.send(from, fabric.adapters().get(i % 3).lid(), i);
                }
            }
            if (i == 1_000) {
                for (int port = 1; port <= 4; port++) {
                    fabric.plug(fabric.node("s3"), port, false, run.now);
                }
            }
            run.now += 1_000_000;
            fabric.onDeadline(run.now);
            boolean _ = fabric.step(run.now);
            for (ChannelAdapter to : List.of(a, b)) {
                while (to.arrivals() > 0) {
                    int number = Packets.take(to, fabric);
                    taken += number > 2_000 ? 1 : 0;
                }
            }
            while (c.arrivals() > 0) {
                c.taken();
            }
        }
        assertThat(taken).as("packets sent long after the loss").isGreaterThan(1_000);
        run.run(5 * SECOND);
        for (ChannelAdapter to : fabric.adapters()) {
            while (to.arrivals() > 0) {
                to.taken();
            }
        }
        assertUp();
    }

    @Test
    void aStandbyTakesOverWhenTheMasterIsLostAndAsksClientsToRegisterAgain() {
        SubnetManager low = run.manage("a", ManagerOptions.DEFAULT.withPriority(2));
        SubnetManager high = run.manage("b", ManagerOptions.DEFAULT.withPriority(9));
        run.run(5 * SECOND);
        assertThat(List.of(low.state(), high.state())).containsExactly(State.STANDBY, State.MASTER);
        assertUp();
        int lid = c.lid();
        int reregistrations = c.info().reregistrations();
        fabric.plug(b, 1, false, run.now);
        run.run(10 * SECOND);
        assertThat(low.state()).isEqualTo(State.MASTER);
        assertUp();
        assertThat(c.info().masterSmLid()).isEqualTo(a.lid());
        assertThat(c.lid()).as("LIDs stay").isEqualTo(lid);
        assertThat(c.info().reregistrations()).isGreaterThan(reregistrations);
        // The better one comes back, and is handed the subnet.
        fabric.plug(b, 1, true, run.now);
        run.run(30 * SECOND);
        assertThat(List.of(low.state(), high.state())).containsExactly(State.STANDBY, State.MASTER);
        assertUp();
    }

    /// Questions of a host, by packets to queue pair 1: counters of any port, and records of the subnet.
    @Test
    void aHostAsksAgentsAndTheAdministration() {
        run.comeUp("a");
        Packets.send(c, b.lid(), 1);
        run.settle();
        b.taken();
        MemorySegment counters = Mad.allocate();
        Mad.write(counters, Mad.CLASS_PERFORMANCE, 1, Mad.METHOD_GET, 7, PortCounters.ATTRIBUTE, 0);
        PortCounters.PORT_SELECT.put(PortCounters.data(counters), 1);
        MemorySegment answer = ask(c, b.lid(), counters);
        assertThat(PortCounter.RECEIVE_PACKETS.classic().getInt(PortCounters.data(answer)))
                .isEqualTo(2); // the number, and the question itself
        Mad.write(counters, Mad.CLASS_PERFORMANCE, 1, Mad.METHOD_GET, 9, PortCounters.ATTRIBUTE, 0);
        MemorySegment ofNoPort = ask(c, b.lid(), counters);
        assertThat(PortCounter.RECEIVE_PACKETS.classic().getInt(PortCounters.data(ofNoPort)))
                .as("without a port: the adapter's")
                .isEqualTo(3);
        MemorySegment query = Mad.allocate();
        Mad.write(query, Mad.CLASS_SUBNET_ADMINISTRATION, 2, Mad.METHOD_GET, 8, NodeRecord.ATTRIBUTE, 0);
        Sa.COMPONENT_MASK.put(query, 1);
        Sa.data(query).set(java.lang.foreign.ValueLayout.JAVA_BYTE, 1, (byte) b.lid());
        assertThat(Mad.status(ask(c, a.lid(), query))).isZero();
        assertThat(Mad.status(ask(a, a.lid(), query))).as("from its own host").isZero();
    }

    /// IBTA 13.5.1: an answer has a GRH when its question had one.
    @Test
    void aQuestionWithGrhIsAnsweredWithGrh() {
        run.comeUp("a");
        long prefix = 0xFE80_0000_0000_0000L;
        var gids = new MadRoute.Gids(prefix, c.info().guid(), prefix, b.info().guid());
        MemorySegment mad = Mad.allocate();
        Mad.write(mad, Mad.CLASS_PERFORMANCE, 1, Mad.METHOD_GET, 7, PortCounters.ATTRIBUTE, 0);
        for (MadRoute.Gids with : Arrays.asList(gids, null)) {
            sendDatagram(c, new MadRoute(1, c.lid(), b.lid(), 0, Mad.QPN, Mad.QPN, MadRoute.DEFAULT_PKEY, with), mad);
            run.settle();
            Datagram answer = new ManagementPackets(fabric.store()).read(c.arrival(), 1);
            c.taken();
            assertThat(answer).isNotNull();
            assertThat(answer.route().gids())
                    .isEqualTo(
                            with == null
                                    ? null
                                    : new MadRoute.Gids(
                                            prefix,
                                            b.info().guid(),
                                            prefix,
                                            c.info().guid()));
        }
    }

    private MemorySegment ask(ChannelAdapter from, int lid, MemorySegment mad) {
        sendDatagram(from, lid, mad);
        run.settle();
        assertThat(from.arrivals()).isEqualTo(1);
        Datagram answer = new ManagementPackets(fabric.store()).read(from.arrival(), 1);
        from.taken();
        assertThat(answer).isNotNull();
        assertThat(Mad.transactionId(answer.mad())).isEqualTo(Mad.transactionId(mad));
        return answer.mad();
    }

    private static void sendDatagram(ChannelAdapter from, int lid, MemorySegment mad) {
        sendDatagram(from, new MadRoute(1, from.lid(), lid, 0, Mad.QPN, Mad.QPN, MadRoute.DEFAULT_PKEY), mad);
    }

    private static void sendDatagram(ChannelAdapter from, MadRoute route, MemorySegment mad) {
        var store = new PacketStore();
        int packet = new ManagementPackets(store).add(new Datagram(route, Mad.copyOf(mad)));
        from.send(store.memory(packet), store.offset(packet), store.length(packet));
    }

    /// Goal H1 and H4: packets for queue pairs 0 and 1 with anything in them.
    // ---- programs at queue pairs 0 and 1

    private MadClient program(ChannelAdapter at, int managementClass, int version, long methods) {
        MadClient program = at.agents().open();
        assertThat(program.register(
                        0,
                        new AgentSpec(
                                managementClass,
                                version,
                                0,
                                managementClass == Mad.CLASS_SUBNET_ADMINISTRATION,
                                methods,
                                0)))
                .isEqualTo(AgentRefusal.NONE);
        at.onPrograms(run.now);
        return program;
    }

    private MemorySegment ask(ChannelAdapter at, MadClient program, int lid, MemorySegment mad) {
        int qpn = Smp.isDirected(mad) ? Smp.QPN : Mad.QPN;
        program.send(new AgentMad(0, 0, 1_000, 0, lid, qpn, 0, 0, 0, Mad.copyOf(mad)), run.now);
        at.onPrograms(run.now);
        run.settle();
        AgentMad answer = program.peek();
        assertThat(answer).as("an answer, without a time-out").isNotNull();
        program.taken();
        assertThat(answer.status()).isZero();
        return answer.bytes();
    }

    /// A manager of a program, opensm for one, sets the MTU of a port and takes its link down in one (IBTA
    /// 14.2.5.6).
    @Test
    void aManagerIsAnsweredBeforeTheLinkGoesByWhichItHasAsked() {
        MadClient program = program(a, Mad.CLASS_SUBNET_DIRECTED, 1, 1 << Mad.METHOD_TRAP);
        byte[] toB = {1, 1, 3};
        MemorySegment mad = Mad.allocate();
        Smp.writeDirected(mad, Mad.METHOD_GET, 1, PortInfo.ATTRIBUTE, 1, 0, toB);
        MemorySegment info = Smp.data(ask(a, program, Smp.PERMISSIVE_LID, mad));
        assertThat(PortInfo.PORT_STATE.getInt(info)).isEqualTo(PortInfo.INIT);
        Smp.writeDirected(mad, Mad.METHOD_SET, 2, PortInfo.ATTRIBUTE, 1, 0, toB);
        Smp.data(mad).copyFrom(info);
        PortInfo.PORT_STATE.put(Smp.data(mad), PortInfo.DOWN);
        PortInfo.PHYSICAL_STATE.put(Smp.data(mad), 0);
        PortInfo.NEIGHBOR_MTU.put(Smp.data(mad), 3);
        info = Smp.data(ask(a, program, Smp.PERMISSIVE_LID, mad));
        assertThat(PortInfo.NEIGHBOR_MTU.getInt(info)).isEqualTo(3);
        run.settle();
        assertThat(b.info().count(PortCounter.LINK_DOWNED))
                .as("at the port that was set")
                .isZero();
        assertThat(fabric.node("s2").node().port(3).count(PortCounter.LINK_DOWNED))
                .as("at its peer")
                .isEqualTo(1);
        assertThat(b.info().state()).as("the link is there again").isEqualTo(PortInfo.INIT);
    }

    @Test
    void aPortTellsOfTheManagerOfAProgram() {
        MadClient program = program(a, Mad.CLASS_SUBNET_LID, 1, 1 << Mad.METHOD_TRAP);
        assertThat(PortInfo.CAPABILITY_MASK.get(a.info().info()) & PortInfo.IS_SM)
                .isEqualTo(PortInfo.IS_SM);
        program.close();
        a.onPrograms(run.now);
        assertThat(PortInfo.CAPABILITY_MASK.get(a.info().info()) & PortInfo.IS_SM)
                .isZero();
    }

    /// IBTA 15.2.5.3: with the top bit of the modifier, a port matches that has all capabilities asked for.
    @Test
    void aProgramAsksWhereManagersAre() {
        run.comeUp("a");
        MadClient program = program(b, Mad.CLASS_SUBNET_ADMINISTRATION, 2, 0);
        MemorySegment mad = Mad.allocate();
        Sa.write(mad, Mad.METHOD_GET_TABLE, 1, PortInfoRecord.ATTRIBUTE, PortInfoRecord.CAPABILITY_MASK);
        PortInfo.CAPABILITY_MASK.in(PortInfoRecord.PORT_INFO).put(Sa.data(mad), PortInfo.IS_SM);
        assertThat(ask(b, program, a.lid(), mad).byteSize())
                .as("none has this and no other capability")
                .isEqualTo(Sa.HEADER_BYTES);
        Field.of(20, 32).put(mad, 0x8000_0000L);
        MemorySegment answer = ask(b, program, a.lid(), mad);
        assertThat(answer.byteSize()).isEqualTo(Sa.HEADER_BYTES + 72);
        assertThat(PortInfoRecord.LID.getInt(answer.asSlice(Sa.HEADER_BYTES))).isEqualTo(a.lid());
        Field.of(20, 32).put(mad, 0);
        Sa.COMPONENT_MASK.put(mad, 0);
        assertThat(ask(b, program, a.lid(), mad).byteSize())
                .as("all ports: three switches with five, three adapters")
                .isEqualTo(Sa.HEADER_BYTES + 18 * 72);
        assertThat(b.arrivals()).as("nothing of it is the host's").isZero();
        assertThat(fabric.store().held()).isZero();
    }

    @Test
    void hostilePacketsForAgentsAreDroppedOrAnswered() {
        SubnetManager manager = run.comeUp("a");
        var random = new Random(Long.getLong("verbena.seed", 1L));
        var store = new PacketStore();
        var packets = new ManagementPackets(store);
        int rounds = Boolean.getBoolean("verbena.deep") ? 500_000 : 10_000;
        byte[] bytes = new byte[Mad.BYTES];
        int[] classes = {1, 0x81, 3, 4, 7};
        for (int i = 0; i < rounds; i++) {
            random.nextBytes(bytes);
            bytes[0] = 1;
            bytes[1] = (byte) classes[random.nextInt(classes.length)];
            int lid = 1 + random.nextInt(8);
            int qpn = random.nextInt(3);
            var route = new MadRoute(1, c.lid(), lid, random.nextInt(16), random.nextInt(3), qpn, 0xFFFF);
            int packet = packets.add(new Datagram(route, MemorySegment.ofArray(bytes.clone())));
            MemorySegment memory = store.memory(packet);
            long at = store.offset(packet);
            int length = store.length(packet);
            if (random.nextBoolean()) {
                memory.set(
                        java.lang.foreign.ValueLayout.JAVA_BYTE, at + 8 + random.nextInt(24), (byte) random.nextInt());
                Vcrc.seal(memory, at, length - Vcrc.BYTES);
            }
            c.send(memory, at, length);
            store.release(packet);
            run.settle();
            for (ChannelAdapter to : fabric.adapters()) {
                while (to.arrivals() > 0) {
                    to.taken();
                }
            }
        }
        run.run(30 * SECOND);
        assertThat(manager.state()).isEqualTo(State.MASTER);
        assertUp();
    }

    /// What the order of up*/down* is for: with shortest routes all around, a ring of full buffers stands still for
    /// ever; with the manager's routes the same load passes.
    @Test
    void aRingWithShortestRoutesStandsStillAndTheManagersRoutesDoNot() {
        var ring = new ManagedRun(ring(4));
        ring.comeUp("h0");
        assertThat(passed(ring)).as("by the manager's routes").isEqualTo(4 * LOAD);
        for (int at = 0; at < 4; at++) {
            for (int to = 0; to < 4; to++) {
                int target = ring.fabric.node("h" + to).lid();
                Sets.route(ring.fabric.node("s" + at), target, at == to ? 3 : 1); // always on, never back
            }
        }
        assertThat(passed(ring)).as("by a circle of routes").isLessThan(4 * LOAD);
        assertThat(ring.fabric.store().held())
                .as("packets that wait for each other")
                .isPositive();
    }

    private static final int LOAD = 4_000;

    private static String ring(int switches) {
        var text = new StringBuilder();
        for (int i = 0; i < switches; i++) {
            text.append("switch s%d 3\nhca h%d\nlink h%d s%d:3\n".formatted(i, i, i, i));
        }
        for (int i = 0; i < switches; i++) {
            text.append("link s%d:1 s%d:2\n".formatted(i, (i + 1) % switches));
        }
        return text.toString();
    }

    /// How many of the packets arrive that each host sends, three hops along the ring, as fast as it can.
    private static int passed(ManagedRun ring) {
        var hosts = new ArrayList<ChannelAdapter>(ring.fabric.adapters());
        int[] sent = new int[hosts.size()];
        int taken = 0;
        int idle = 0;
        while (idle < 10) {
            boolean isBusy = ring.fabric.step(ring.now);
            for (int i = 0; i < sent.length; i++) {
                ChannelAdapter host = hosts.get(i);
                while (sent[i] < LOAD && host.hasRoom()) {
                    Packets.send(host, hosts.get((i + 3) % sent.length).lid(), sent[i]++);
                    isBusy = true;
                }
                while (host.arrivals() > 0) {
                    host.taken();
                    taken++;
                    isBusy = true;
                }
            }
            idle = isBusy ? 0 : idle + 1;
        }
        return taken;
    }
}
