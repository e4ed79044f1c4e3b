package verbena.subnet.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.TinyFabric;
import verbena.subnet.node.Node;
import verbena.wire.mad.PortInfo;

/// A fabric with subnet managers, and what has to be true of one that is up.
final class ManagedFabric {
    static final long SECOND = 1_000_000_000L;

    final TinyFabric fabric = new TinyFabric();
    final Map<String, SubnetManager> managers = new HashMap<>();
    private long firstTransactionId;

    /// Puts a manager at a node.
    SubnetManager manage(String at, ManagerOptions options) {
        Node node = fabric.node(at);
        firstTransactionId += 1L << 40;
        var manager = new SubnetManager(node, node.isSwitch() ? 0 : 1, options, firstTransactionId);
        managers.put(at, manager);
        fabric.inhabitants.put(at, new TinyFabric.Inhabitant() {
            @Override
            public void onMad(Datagram datagram, long nowNanos) {
                manager.onMad(datagram, nowNanos);
            }

            @Override
            public @Nullable Datagram poll() {
                return manager.poll();
            }

            @Override
            public long deadlineNanos() {
                return manager.deadlineNanos();
            }

            @Override
            public void onDeadline(long nowNanos) {
                manager.onDeadline(nowNanos);
            }
        });
        manager.start(fabric.now);
        return manager;
    }

    List<String> adapters() {
        var names = new ArrayList<String>();
        fabric.nodes.forEach((name, node) -> {
            if (!node.isSwitch() && fabric.links.containsKey(new TinyFabric.End(name, 1))) {
                names.add(name);
            }
        });
        return names;
    }

    int lid(String node) {
        return fabric.node(node).endPort(1).lid();
    }

    /// Every linked port is active, and every adapter finds every other, by each LID.
    void assertUp(SubnetManager manager) {
        assertThat(manager.isUp()).as("manager is up").isTrue();
        fabric.links.forEach(
                (one, _) -> assertThat(fabric.node(one.node()).port(one.port()).state())
                        .as("state of %s", one)
                        .isEqualTo(PortInfo.ACTIVE));
        Set<Integer> lids = new HashSet<>();
        for (Node node : fabric.nodes.values()) {
            var port = node.endPort(1);
            if (port.lid() != 0 && port.state() == PortInfo.ACTIVE) {
                assertThat(lids.add(port.lid()))
                        .as("LID %d is one port's", port.lid())
                        .isTrue();
            }
        }
        for (String from : adapters()) {
            for (String to : adapters()) {
                for (int i = 0; i < 1 << fabric.node(to).port(1).lmc(); i++) {
                    assertThat(fabric.walk(from, lid(to) + i))
                            .as("%s to LID %d of %s", from, lid(to) + i, to)
                            .isNotEmpty()
                            .endsWith(to);
                }
            }
        }
    }

    /// No circle of channels waits for itself: the dependencies of all routes from adapters have none (Dally and
    /// Seitz, 1987).
    void assertNoCreditLoop() {
        var after = new LinkedHashMap<String, Set<String>>();
        for (String from : adapters()) {
            for (Node target : fabric.nodes.values()) {
                int lid = target.endPort(1).lid();
                for (int i = 0; i < 1 << target.endPort(1).lmc(); i++) {
                    List<String> walk = fabric.walk(from, lid + i);
                    for (int hop = 2; hop < walk.size(); hop++) {
                        String before = walk.get(hop - 2) + ">" + walk.get(hop - 1);
                        after.computeIfAbsent(before, _ -> new HashSet<>())
                                .add(walk.get(hop - 1) + ">" + walk.get(hop));
                    }
                }
            }
        }
        assertThat(after).isNotEmpty();
        var done = new HashSet<String>();
        for (String channel : after.keySet()) {
            visit(channel, after, new HashSet<>(), done);
        }
    }

    private static void visit(String channel, Map<String, Set<String>> after, Set<String> path, Set<String> done) {
        if (done.contains(channel)) {
            return;
        }
        assertThat(path.add(channel))
                .as("credit loop through %s: %s", channel, path)
                .isTrue();
        after.getOrDefault(channel, Set.of()).forEach(next -> visit(next, after, path, done));
        path.remove(channel);
        done.add(channel);
    }
}
