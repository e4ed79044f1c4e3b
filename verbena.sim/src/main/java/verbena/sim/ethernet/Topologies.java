package verbena.sim.ethernet;

import java.util.ArrayList;
import java.util.List;

/// Networks of usual shapes. All links have one rate and one delay.
///
/// @param bitsPerSecond of each link
/// @param delayNanos    how long a bit takes through a link
/// @param options       of each switch
public record Topologies(double bitsPerSecond, long delayNanos, SwitchOptions options) {
    /// Builds hosts on both sides of one link between two switches. The hosts of the left side come first.
    public void dumbBell(EthernetNetwork network, int left, int right) {
        Switch leftSwitch = network.addSwitch("left", options);
        Switch rightSwitch = network.addSwitch("right", options);
        for (int i = 0; i < left + right; i++) {
            link(network, network.addHost("h" + i), i < left ? leftSwitch : rightSwitch);
        }
        link(network, leftSwitch, rightSwitch);
        network.begin();
    }

    /// Builds hosts at one switch.
    public void star(EthernetNetwork network, int hosts) {
        Switch middle = network.addSwitch("switch", options);
        for (int i = 0; i < hosts; i++) {
            link(network, network.addHost("h" + i), middle);
        }
        network.begin();
    }

    /// Builds racks of hosts; the switch of each rack (leaf) has a link to each spine.
    public void leafSpine(EthernetNetwork network, int leaves, int spines, int hostsPerLeaf) {
        List<Switch> top = switches(network, "spine", spines);
        for (int leaf = 0; leaf < leaves; leaf++) {
            Switch rack = network.addSwitch("leaf" + leaf, options);
            top.forEach(spine -> link(network, rack, spine));
            addHosts(network, rack, hostsPerLeaf);
        }
        network.begin();
    }

    /// Builds a fat tree of switches with `k` ports each: k pods of k/2 racks with k/2 hosts (Al-Fares et al.,
    /// SIGCOMM 2008).
    ///
    /// @param k even
    public void fatTree(EthernetNetwork network, int k) {
        if (k < 2 || k % 2 != 0) {
            throw new IllegalArgumentException("k: " + k + " is not an even number from 2 on");
        }
        int half = k / 2;
        List<Switch> cores = switches(network, "core", half * half);
        for (int pod = 0; pod < k; pod++) {
            List<Switch> aggregations = switches(network, "pod" + pod + "-up", half);
            for (int i = 0; i < half; i++) {
                for (int j = 0; j < half; j++) {
                    link(network, aggregations.get(i), cores.get(i * half + j));
                }
            }
            for (Switch rack : switches(network, "pod" + pod + "-rack", half)) {
                aggregations.forEach(up -> link(network, rack, up));
                addHosts(network, rack, half);
            }
        }
        network.begin();
    }

    /// Builds groups of switches that are all linked to each other, and a link between each two groups (dragonfly,
    /// Kim et al., ISCA 2008). Packets take the shortest paths.
    ///
    /// @param groups           at most one more than a group has links to others
    /// @param switchesPerGroup all linked to each other
    /// @param hostsPerSwitch   at each
    /// @param linksPerSwitch   of each switch to other groups, at most
    public void dragonfly(
            EthernetNetwork network, int groups, int switchesPerGroup, int hostsPerSwitch, int linksPerSwitch) {
        if (groups < 2 || groups > switchesPerGroup * linksPerSwitch + 1) {
            throw new IllegalArgumentException("groups: " + groups + " is not between 2 and "
                    + (switchesPerGroup * linksPerSwitch + 1) + ", one more than the links of a group");
        }
        List<List<Switch>> all = new ArrayList<>();
        for (int group = 0; group < groups; group++) {
            List<Switch> members = switches(network, "group" + group + "-", switchesPerGroup);
            for (int i = 0; i < switchesPerGroup; i++) {
                for (int j = i + 1; j < switchesPerGroup; j++) {
                    link(network, members.get(i), members.get(j));
                }
                addHosts(network, members.get(i), hostsPerSwitch);
            }
            all.add(members);
        }
        for (int from = 0; from < groups; from++) {
            for (int to = from + 1; to < groups; to++) {
                // The k-th link of a group is that to the k-th other group.
                Switch here = all.get(from).get((to - 1) / linksPerSwitch);
                Switch there = all.get(to).get(from / linksPerSwitch);
                link(network, here, there);
            }
        }
        network.begin();
    }

    /// Builds switches in a ring with hosts at each. All packets go clockwise when `clockwise`, which closes a
    /// circle of buffers that wait for each other; otherwise they never cross the link that would close it, as in a
    /// tree.
    public void ring(EthernetNetwork network, int switches, int hostsEach, boolean clockwise) {
        List<Switch> ring = switches(network, "ring", switches);
        for (Switch each : ring) {
            addHosts(network, each, hostsEach);
        }
        for (int i = 0; i < switches; i++) {
            link(network, ring.get(i), ring.get((i + 1) % switches)); // its port to the next, the next one's from it
        }
        Routes routes = Routes.shortest(network.hosts(), network.switches());
        for (Host host : network.hosts()) {
            int home = host.number / hostsEach;
            for (int at = 0; at < switches; at++) {
                if (at != home) {
                    int towards = clockwise || at < home ? (at + 1) % switches : at - 1;
                    routes.set(ring.get(at), host, way(ring.get(at), ring.get(towards)));
                }
            }
        }
        network.begin(routes);
    }

    private static Port way(Switch at, Switch to) {
        return at.ports.stream()
                .filter(port -> port.peer().owner == to)
                .findFirst()
                .orElseThrow();
    }

    private List<Switch> switches(EthernetNetwork network, String name, int n) {
        List<Switch> made = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            made.add(network.addSwitch(name + i, options));
        }
        return made;
    }

    private void addHosts(EthernetNetwork network, Switch rack, int n) {
        for (int i = 0; i < n; i++) {
            link(network, network.addHost("h" + network.hosts().size()), rack);
        }
    }

    private void link(EthernetNetwork network, Node a, Node b) {
        network.link(a, b, bitsPerSecond, delayNanos);
    }
}
