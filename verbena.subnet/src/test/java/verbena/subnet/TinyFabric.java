package verbena.subnet;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodeSpec;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Smp;

/// A fabric in memory and virtual time, for tests: nodes that a map of links joins. It carries management
/// datagrams only, one microsecond for each link.
public final class TinyFabric {
    /// A port of a node.
    public record End(String node, int port) {
        @Override
        public String toString() {
            return node + ":" + port;
        }
    }

    /// Who takes what a node does not answer itself.
    public interface Inhabitant {
        void onMad(Datagram datagram, long nowNanos);

        @Nullable
        Datagram poll();

        long deadlineNanos();

        void onDeadline(long nowNanos);
    }

    private record Flight(long due, long order, End to, Datagram datagram) {}

    private static final long HOP_NANOS = 1_000;
    private static final int FORWARDS_MAX = 64;

    public final Map<String, Node> nodes = new LinkedHashMap<>();
    public final Map<End, End> links = new HashMap<>();
    public final Map<String, Inhabitant> inhabitants = new LinkedHashMap<>();
    /// General management datagrams that arrived at a node without an inhabitant.
    public final List<Datagram> strays = new ArrayList<>();
    /// Datagrams that are lost on purpose.
    public Predicate<Datagram> lost = _ -> false;

    public long now = 1_000_000;
    public long carried;
    private long order;
    private long guids = 0x0002_C900_0000_1000L;
    private final PriorityQueue<Flight> flights =
            new PriorityQueue<>(Comparator.comparingLong(Flight::due).thenComparingLong(Flight::order));

    public Node adapter(String name) {
        return adapter(name, 1);
    }

    public Node adapter(String name, int ports) {
        return add(name, new Node(NodeSpec.channelAdapter(nextGuid(), name, ports)));
    }

    public Node switching(String name, int ports) {
        return add(name, new Node(NodeSpec.switching(nextGuid(), name, ports)));
    }

    private long nextGuid() {
        guids += 0x100;
        return guids;
    }

    private Node add(String name, Node node) {
        nodes.put(name, node);
        return node;
    }

    public Node node(String name) {
        return Objects.requireNonNull(nodes.get(name), name);
    }

    /// Joins two ports, each `node:port`.
    public void link(String a, String b) {
        End one = end(a);
        End other = end(b);
        links.put(one, other);
        links.put(other, one);
        node(one.node).onLinkUp(one.port, 2, 4, 2, now);
        node(other.node).onLinkUp(other.port, 2, 4, 2, now);
    }

    /// Takes a link away.
    public void cut(String a) {
        End one = end(a);
        End other = Objects.requireNonNull(links.remove(one), a);
        links.remove(other);
        node(one.node).onLinkDown(one.port, now);
        node(other.node).onLinkDown(other.port, now);
    }

    /// Takes a node away, with its links.
    public void remove(String name) {
        for (End end : List.copyOf(links.keySet())) {
            if (end.node.equals(name)) {
                cut(end.toString());
            }
        }
        nodes.remove(name);
        inhabitants.remove(name);
    }

    public static End end(String text) {
        int colon = text.lastIndexOf(':');
        return new End(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    /// A general datagram, or one by LID, that leaves a node.
    public void send(String from, Datagram datagram) {
        depart(from, datagram);
    }

    /// Lets time pass until this much later.
    public void run(long nanos) {
        long end = now + nanos;
        pump();
        while (true) {
            long next = Long.MAX_VALUE;
            if (!flights.isEmpty()) {
                next = flights.peek().due;
            }
            for (Node node : nodes.values()) {
                next = Math.min(next, node.deadlineNanos());
            }
            for (Inhabitant one : inhabitants.values()) {
                next = Math.min(next, one.deadlineNanos());
            }
            if (next > end) {
                now = end;
                return;
            }
            now = Math.max(now, next);
            while (!flights.isEmpty() && flights.peek().due <= now) {
                arrive(flights.poll());
            }
            for (Node node : nodes.values()) {
                if (node.deadlineNanos() <= now) {
                    node.onDeadline(now);
                }
            }
            for (Inhabitant one : inhabitants.values()) {
                if (one.deadlineNanos() <= now) {
                    one.onDeadline(now);
                }
            }
            pump();
        }
    }

    private void pump() {
        boolean more = true;
        while (more) {
            more = false;
            for (var entry : List.copyOf(nodes.entrySet())) {
                Node node = entry.getValue();
                Inhabitant inhabitant = inhabitants.get(entry.getKey());
                for (Datagram d = node.pollForManager(); d != null; d = node.pollForManager()) {
                    more = true;
                    if (inhabitant != null) {
                        inhabitant.onMad(d, now);
                    }
                }
                if (inhabitant != null) {
                    for (Datagram d = inhabitant.poll(); d != null; d = inhabitant.poll()) {
                        more = true;
                        if (d.route().destinationQpn() == Smp.QPN) {
                            node.send(d, now);
                        } else {
                            depart(entry.getKey(), d);
                        }
                    }
                }
                for (Datagram d = node.poll(); d != null; d = node.poll()) {
                    more = true;
                    depart(entry.getKey(), d);
                }
                for (int port = node.pollReset(); port >= 0; port = node.pollReset()) {
                    more = true;
                    retrain(new End(entry.getKey(), port));
                }
            }
        }
    }

    private void retrain(End end) {
        End peer = links.get(end);
        if (peer != null) {
            node(peer.node).onLinkDown(peer.port, now);
            if (node(end.node).port(end.port).physicalState() == PortInfo.PHYSICAL_POLLING) {
                link(end.toString(), peer.toString());
            }
        }
    }

    private void depart(String from, Datagram datagram) {
        if (lost.test(datagram)) {
            return;
        }
        Node node = node(from);
        MadRoute route = datagram.route();
        if (route.dlid() != Smp.PERMISSIVE_LID
                && node.endPort(Math.max(1, route.port())).hasLid(route.dlid())) {
            flights.add(new Flight(now + HOP_NANOS, order++, new End(from, Math.max(1, route.port())), datagram));
            return;
        }
        int port = route.port();
        if (port == 0) {
            port = node.tables().port(route.dlid());
        }
        cross(new End(from, port), datagram);
    }

    private void cross(End from, Datagram datagram) {
        End to = links.get(from);
        if (to != null && nodes.containsKey(to.node)) {
            carried++;
            flights.add(new Flight(now + HOP_NANOS, order++, to, datagram));
        }
    }

    private void arrive(Flight flight) {
        End at = flight.to;
        Node node = nodes.get(at.node);
        if (node == null) {
            return;
        }
        MadRoute route = flight.datagram.route();
        if (route.dlid() != Smp.PERMISSIVE_LID
                && node.isSwitch()
                && !node.port(0).hasLid(route.dlid())) {
            int next = node.tables().port(route.dlid());
            if (next > 0) {
                cross(new End(at.node, next), flight.datagram);
            }
            return;
        }
        if (route.dlid() != Smp.PERMISSIVE_LID
                && !node.isSwitch()
                && !node.port(at.port).hasLid(route.dlid())) {
            return;
        }
        var here = new MadRoute(
                at.port,
                route.slid(),
                route.dlid(),
                route.serviceLevel(),
                route.sourceQpn(),
                route.destinationQpn(),
                route.pkey());
        var copy = new Datagram(here, Mad.copyOf(flight.datagram.mad()));
        switch (node.onMad(copy.mad(), here, now)) {
            case FOR_OTHERS -> {
                Inhabitant inhabitant = inhabitants.get(at.node);
                if (inhabitant != null) {
                    inhabitant.onMad(copy, now);
                } else {
                    strays.add(copy);
                }
            }
            default -> {}
        }
    }

    /// Where a packet for a LID gets to by the tables: the nodes that it passes, the last one its target; empty
    /// when it is lost.
    public List<String> walk(String from, int dlid) {
        var passed = new ArrayList<String>();
        passed.add(from);
        End at = links.get(new End(from, 1));
        if (node(from).port(1).hasLid(dlid)) {
            return passed;
        }
        for (int i = 0; i < FORWARDS_MAX && at != null; i++) {
            Node node = node(at.node);
            passed.add(at.node);
            if (node.endPort(at.port).hasLid(dlid)) {
                return passed;
            }
            if (!node.isSwitch()
                    || node.tables().port(dlid) < 1
                    || node.tables().port(dlid) == LinearForwarding.NO_PORT) {
                return List.of();
            }
            End out = new End(at.node, node.tables().port(dlid));
            if (node.port(out.port).state() != PortInfo.ACTIVE) {
                return List.of();
            }
            at = links.get(out);
        }
        return List.of();
    }
}
