package verbena.subnet.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.subnet.manager.ManagedFabric.SECOND;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.manager.SubnetManager.State;
import verbena.subnet.node.MadFate;
import verbena.subnet.node.Node;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Smp;

/// How a subnet comes up, and what happens when parts of it go (IBTA 14.4.1, 14.4.3, 14.4.4).
class SubnetManagerTest {
    private final ManagedFabric managed = new ManagedFabric();
    private final verbena.subnet.TinyFabric fabric = managed.fabric;

    @Test
    void twoAdaptersWithoutASwitchComeUp() {
        fabric.adapter("a");
        fabric.adapter("b");
        fabric.link("a:1", "b:1");
        SubnetManager manager = managed.manage("a", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        assertThat(manager.subnet()).isNotNull();
    }

    @Test
    void aTreeHasTheOnlyRoutesThereAre() {
        star(4);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        managed.assertNoCreditLoop();
        assertThat(fabric.walk("h1", managed.lid("h4"))).containsExactly("h1", "s1", "s0", "s4", "h4");
        assertThat(fabric.walk("h2", managed.lid("s3"))).containsExactly("h2", "s2", "s0", "s3");
        assertThat(fabric.node("h3").port(1).masterSmLid()).isEqualTo(managed.lid("h1"));
    }

    /// Edge, aggregation and core, k = 4: every way between pods has six hops, and all four cores carry some.
    @Test
    void aFatTreeOfThreeLevelsHasShortestRoutesAndSharesItsCores() {
        fatTree();
        SubnetManager manager = managed.manage("h000", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        managed.assertNoCreditLoop();
        var cores = new java.util.TreeMap<String, Integer>();
        for (String from : managed.adapters()) {
            for (String to : managed.adapters()) {
                List<String> walk = fabric.walk(from, managed.lid(to));
                boolean samePod = from.charAt(1) == to.charAt(1);
                boolean sameEdge = samePod && from.charAt(2) == to.charAt(2);
                int nodes = from.equals(to) ? 1 : sameEdge ? 3 : samePod ? 5 : 7;
                assertThat(walk).as("%s to %s", from, to).hasSize(nodes);
                walk.stream().filter(name -> name.startsWith("c")).forEach(core -> cores.merge(core, 1, Integer::sum));
            }
        }
        assertThat(cores.keySet()).containsExactly("c0", "c1", "c2", "c3");
        assertThat(cores.values()).allSatisfy(count -> assertThat(count).isEqualTo(48));
    }

    @Test
    void aTorusHasNoCreditLoopAndItsKnownRoutes() {
        torus(4);
        SubnetManager manager = managed.manage("h00", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        managed.assertNoCreditLoop();
        // The first switch is the root: from it and to it all ways are shortest, round the edge where that is nearer.
        for (int x = 0; x < 4; x++) {
            for (int y = 0; y < 4; y++) {
                int hops = Math.min(x, 4 - x) + Math.min(y, 4 - y);
                assertThat(fabric.walk("h" + x + y, managed.lid("h00")))
                        .hasSize(hops == 0 && x + y == 0 ? 1 : hops + 3);
                assertThat(fabric.walk("h00", managed.lid("h" + x + y)))
                        .hasSize(hops == 0 && x + y == 0 ? 1 : hops + 3);
            }
        }
    }

    @Test
    void noTopologyHasACreditLoop() {
        int topologies = Boolean.getBoolean("verbena.deep") ? 2_000 : 60;
        for (int seed = 1; seed <= topologies; seed++) {
            var world = new ManagedFabric();
            random(world, new Random(seed));
            SubnetManager manager = world.manage("h0", ManagerOptions.DEFAULT.withLmc(seed % 3));
            world.fabric.run(2 * SECOND);
            try {
                world.assertUp(manager);
                world.assertNoCreditLoop();
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    @Test
    void portsHaveAllLidsOfTheirMask() {
        star(3);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT.withLmc(2));
        fabric.run(SECOND);
        managed.assertUp(manager);
        assertThat(fabric.node("h2").port(1).lmc()).isEqualTo(2);
        assertThat(managed.lid("h2") % 4).isZero();
    }

    @Test
    void aLostLinkIsRoutedAround() {
        fatTree();
        SubnetManager manager = managed.manage("h000", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        int before = managed.lid("h311");
        long sweeps = manager.sweeps();
        fabric.cut("e00:3");
        fabric.run(SECOND);
        assertThat(manager.sweeps()).as("a trap has told it").isGreaterThan(sweeps);
        managed.assertUp(manager);
        managed.assertNoCreditLoop();
        assertThat(managed.lid("h311")).isEqualTo(before);
    }

    @Test
    void aLostSwitchIsRoutedAroundAndComesBack() {
        fatTree();
        SubnetManager manager = managed.manage("h000", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        fabric.remove("c2");
        fabric.run(SECOND);
        managed.assertUp(manager);
        managed.assertNoCreditLoop();
        fabric.switching("c2", 4);
        for (int pod = 0; pod < 4; pod++) {
            fabric.link("c2:" + (pod + 1), "a" + pod + "1:3");
        }
        fabric.run(SECOND);
        managed.assertUp(manager);
    }

    @Test
    void aLinkThatComesBackWhileTheManagerSweepsIsFound() {
        star(4);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT);
        fabric.run(20_000);
        assertThat(manager.isUp()).isFalse();
        fabric.cut("s4:1");
        fabric.run(200_000);
        fabric.link("s4:1", "s0:4");
        fabric.run(25 * SECOND);
        managed.assertUp(manager);
    }

    @Test
    void lostPacketsAreSentAgain() {
        star(4);
        var random = new Random(5);
        fabric.lost = _ -> random.nextInt(10) == 0;
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT);
        fabric.run(5 * SECOND);
        fabric.lost = _ -> false;
        fabric.run(40 * SECOND);
        managed.assertUp(manager);
    }

    /// No trap gets through: the light sweep finds it (IBTA 14.4.3).
    @Test
    void aChangeWithoutATrapIsFoundByTheNextSweep() {
        fatTree();
        SubnetManager manager = managed.manage("h000", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        fabric.lost = datagram -> Mad.method(datagram.mad()) == Mad.METHOD_TRAP;
        long sweeps = manager.sweeps();
        fabric.cut("e00:3");
        fabric.run(SECOND);
        assertThat(manager.sweeps()).isEqualTo(sweeps);
        fabric.run(10 * SECOND);
        assertThat(manager.sweeps()).isGreaterThan(sweeps);
        managed.assertUp(manager);
    }

    @Test
    void aQuietSubnetIsNotSweptAgain() {
        star(3);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        fabric.run(5 * SECOND); // what the first sweep itself has changed
        long sweeps = manager.sweeps();
        long carried = fabric.carried;
        fabric.run(100 * SECOND);
        assertThat(manager.sweeps()).isEqualTo(sweeps);
        assertThat(fabric.carried - carried).as("light sweeps only").isBetween(100L, 400L);
    }

    @Test
    void partitionsKeepPortsApart() {
        star(4);
        long h2 = fabric.node("h2").port(1).guid();
        long h3 = fabric.node("h3").port(1).guid();
        var partition = new Partition(0x12, Map.of(h2, true, h3, false), false);
        managed.manage("h1", ManagerOptions.DEFAULT.withPartitions(List.of(partition)));
        fabric.run(SECOND);
        assertThat(fabric.node("h2").port(1).pkey(0)).isEqualTo(0x8012);
        assertThat(fabric.node("h3").port(1).pkey(0)).isEqualTo(0x0012);
        assertThat(fabric.node("h3").port(1).hasPkey(0x8012)).isTrue();
        assertThat(fabric.node("h4").port(1).hasPkey(0x8012)).isFalse();
        // The switch enforces the same, and every port reaches the subnet administration.
        var edge = fabric.node("s4").port(2);
        assertThat(edge.enforcesInbound()).isTrue();
        assertThat(edge.enforcesOutbound()).isTrue();
        assertThat(edge.hasPkey(0x8012)).isFalse();
        assertThat(fabric.node("s2").port(2).hasPkey(0x8012)).isTrue();
        assertThat(fabric.node("h4").port(1).pkey(0)).as("limited").isEqualTo(0x7FFF);
        assertThat(fabric.node("h1").port(1).hasPkey(0x7FFF)).isTrue();
    }

    @Test
    void aManagementKeyIsGivenToAllPorts() {
        star(3);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT.withMkey(0x1234_5678_9ABCL));
        fabric.run(SECOND);
        managed.assertUp(manager);
        for (Node node : fabric.nodes.values()) {
            assertThat(PortInfo.M_KEY.get(node.endPort(1).info())).isEqualTo(0x1234_5678_9ABCL);
        }
        fabric.cut("s3:2");
        fabric.run(5 * SECOND);
        managed.assertUp(manager);
        assertThat(fabric.node("s3").count(MadFate.BAD_M_KEY)).isZero();
        assertThat(fabric.node("s3").count(MadFate.REPRESSED)).isPositive();
    }

    @Test
    void theHigherPriorityBecomesMasterAndTheStandbyTakesOver() {
        star(4);
        SubnetManager low = managed.manage("h1", ManagerOptions.DEFAULT.withPriority(2));
        SubnetManager high = managed.manage("h4", ManagerOptions.DEFAULT.withPriority(9));
        fabric.run(5 * SECOND);
        assertThat(high.state()).isEqualTo(State.MASTER);
        assertThat(low.state()).isEqualTo(State.STANDBY);
        managed.assertUp(high);
        assertThat(fabric.node("h2").port(1).masterSmLid()).isEqualTo(managed.lid("h4"));
        int lid = managed.lid("h2");
        fabric.remove("h4");
        fabric.run(10 * SECOND);
        assertThat(low.state()).isEqualTo(State.MASTER);
        managed.assertUp(low);
        assertThat(fabric.node("h2").port(1).masterSmLid()).isEqualTo(managed.lid("h1"));
        assertThat(managed.lid("h2")).as("LIDs stay").isEqualTo(lid);
    }

    @Test
    void ofEqualManagersTheLowerGuidIsMaster() {
        star(4);
        SubnetManager first = managed.manage("h1", ManagerOptions.DEFAULT);
        SubnetManager second = managed.manage("h4", ManagerOptions.DEFAULT);
        fabric.run(5 * SECOND);
        assertThat(first.state()).isEqualTo(State.MASTER);
        assertThat(second.state()).isEqualTo(State.STANDBY);
    }

    @Test
    void aMasterHandsOverToABetterOneThatComesLater() {
        star(4);
        SubnetManager low = managed.manage("h1", ManagerOptions.DEFAULT.withPriority(2));
        fabric.run(5 * SECOND);
        SubnetManager high = managed.manage("h4", ManagerOptions.DEFAULT.withPriority(9));
        assertThat(low.state()).isEqualTo(State.MASTER);
        fabric.run(15 * SECOND);
        assertThat(high.state()).isEqualTo(State.MASTER);
        assertThat(low.state()).isEqualTo(State.STANDBY);
        managed.assertUp(high);
        // One of the same priority that comes later waits.
        SubnetManager same = managed.manage("h2", ManagerOptions.DEFAULT.withPriority(9));
        fabric.run(15 * SECOND);
        assertThat(same.state()).isEqualTo(State.STANDBY);
        assertThat(high.state()).isEqualTo(State.MASTER);
        // A manager that is stopped is missed.
        high.stop(fabric.now);
        fabric.run(15 * SECOND);
        assertThat(List.of(same.state(), low.state())).containsExactly(State.MASTER, State.STANDBY);
        managed.assertUp(same);
    }

    @Test
    void aManagerAtASwitchManagesToo() {
        star(3);
        SubnetManager manager = managed.manage("s0", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        fabric.cut("s1:1");
        fabric.run(SECOND);
        assertThat(manager.isUp()).isTrue();
    }

    /// Goal H4: whatever arrives at a manager that is at work.
    @Test
    void hostileDatagramsDoNotStopIt() {
        star(4);
        SubnetManager manager = managed.manage("h1", ManagerOptions.DEFAULT);
        fabric.run(SECOND);
        managed.assertUp(manager);
        var random = new Random(Long.getLong("verbena.seed", 1L));
        int datagrams = Boolean.getBoolean("verbena.deep") ? 5_000_000 : 200_000;
        int[] classes = {1, 0x81, 3, 3, 3, 3};
        int[] attributes = {0x01, 0x02, 0x03, 0x11, 0x12, 0x14, 0x15, 0x20, 0x31, 0x35, 0x38};
        int[] methods = {1, 2, 5, 6, 0x12, 0x15, 0x81, 0x86};
        byte[] bytes = new byte[Mad.BYTES];
        for (int i = 0; i < datagrams; i++) {
            random.nextBytes(bytes);
            if (random.nextInt(20) != 0) {
                bytes[0] = 1;
                bytes[1] = (byte) classes[random.nextInt(classes.length)];
                bytes[2] = (byte) (bytes[1] == 3 ? 2 : 1);
                bytes[3] = (byte) methods[random.nextInt(methods.length)];
                bytes[16] = 0;
                bytes[17] = (byte) attributes[random.nextInt(attributes.length)];
                if (random.nextBoolean()) {
                    for (int at = 20; at < 120; at++) {
                        bytes[at] = (byte) (random.nextInt(4) == 0 ? random.nextInt(16) : 0);
                    }
                }
            }
            var route = new MadRoute(1, random.nextInt(12), 1, 0, 1, bytes[1] == 3 ? 1 : 0, 0xFFFF);
            manager.onMad(new Datagram(route, Mad.copyOf(java.lang.foreign.MemorySegment.ofArray(bytes))), fabric.now);
            int said = 0;
            for (var out = manager.poll(); out != null; out = manager.poll()) {
                said++;
            }
            // One question may set off a sweep, or reports to all that have asked.
            assertThat(said).isLessThan(5_000);
        }
        fabric.run(60 * SECOND);
        assertThat(manager.state()).isEqualTo(State.MASTER);
        managed.assertUp(manager);
        assertThat(manager.administration().groups()).isLessThanOrEqualTo(512);
    }

    @Test
    void optionsHaveTheirLimits() {
        assertThatThrownBy(() -> ManagerOptions.DEFAULT.withPriority(16)).hasMessage("priority: 0 to 15, got 16");
        assertThatThrownBy(() -> ManagerOptions.DEFAULT.withLmc(8)).hasMessage("lmc: 0 to 7, got 8");
        assertThatThrownBy(() -> new Partition(0x8000, Map.of(), true)).hasMessage("pkey: 1 to 0x7FFF, got 32768");
        assertThatThrownBy(() -> ManagerOptions.DEFAULT.withPartitions(List.of()))
                .hasMessage("partitions: 1 to 32, got 0");
        assertThat(Smp.QPN).isZero();
    }

    /// s0 in the middle; each s1, s2 … has an adapter at port 2.
    private void star(int arms) {
        fabric.switching("s0", 8);
        for (int i = 1; i <= arms; i++) {
            fabric.switching("s" + i, 4);
            fabric.adapter("h" + i);
            fabric.link("s" + i + ":1", "s0:" + i);
            fabric.link("s" + i + ":2", "h" + i + ":1");
        }
    }

    private void fatTree() {
        for (int core = 0; core < 4; core++) {
            fabric.switching("c" + core, 4);
        }
        for (int pod = 0; pod < 4; pod++) {
            for (int i = 0; i < 2; i++) {
                fabric.switching("e" + pod + i, 4);
                fabric.switching("a" + pod + i, 4);
            }
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) {
                    fabric.link("e" + pod + i + ":" + (j + 3), "a" + pod + j + ":" + (i + 1));
                    fabric.link("a" + pod + i + ":" + (j + 3), "c" + (2 * i + j) + ":" + (pod + 1));
                    fabric.adapter("h" + pod + i + j);
                    fabric.link("h" + pod + i + j + ":1", "e" + pod + i + ":" + (j + 1));
                }
            }
        }
        // c2 is at port 3 of each a?1.
    }

    private void torus(int side) {
        for (int x = 0; x < side; x++) {
            for (int y = 0; y < side; y++) {
                fabric.switching("s" + x + y, 5);
                fabric.adapter("h" + x + y);
                fabric.link("h" + x + y + ":1", "s" + x + y + ":5");
            }
        }
        for (int x = 0; x < side; x++) {
            for (int y = 0; y < side; y++) {
                fabric.link("s" + x + y + ":1", "s" + (x + 1) % side + y + ":2");
                fabric.link("s" + x + y + ":3", "s" + x + (y + 1) % side + ":4");
            }
        }
    }

    /// Switches in a random tree with more links between them, and adapters here and there.
    private static void random(ManagedFabric world, Random random) {
        int switches = 2 + random.nextInt(14);
        int ports = 12;
        int[] used = new int[switches];
        var candidates = new ArrayList<int[]>();
        for (int i = 0; i < switches; i++) {
            world.fabric.switching("s" + i, ports);
            if (i > 0) {
                candidates.add(new int[] {i, random.nextInt(i)});
            }
        }
        for (int i = random.nextInt(2 * switches); i > 0; i--) {
            candidates.add(new int[] {random.nextInt(switches), random.nextInt(switches)});
        }
        for (int i = 0; i < candidates.size(); i++) {
            int[] pair = candidates.get(i);
            boolean needed = i < switches - 1;
            if (pair[0] != pair[1] && used[pair[0]] < ports - 2 && used[pair[1]] < (needed ? ports : ports - 2)) {
                world.fabric.link("s" + pair[0] + ":" + ++used[pair[0]], "s" + pair[1] + ":" + ++used[pair[1]]);
            }
        }
        int adapters = 0;
        for (int i = 0; i < switches; i++) {
            if (used[i] < ports && (adapters == 0 || random.nextInt(3) > 0)) {
                world.fabric.adapter("h" + adapters);
                world.fabric.link("h" + adapters + ":1", "s" + i + ":" + ++used[i]);
                adapters++;
            }
        }
        if (adapters < 2) {
            world.fabric.adapter("h" + adapters);
            int at = 0;
            while (used[at] == ports) {
                at++;
            }
            world.fabric.link("h" + adapters + ":1", "s" + at + ":" + ++used[at]);
        }
    }
}
