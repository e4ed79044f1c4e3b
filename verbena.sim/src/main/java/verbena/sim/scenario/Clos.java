package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.List;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.Switch;
import verbena.sim.ethernet.SwitchOptions;

/// The testbed of the DCQCN paper (figure 2): four racks, of which two share two leaves, and two spines above. All
/// links have 40 Gbit/s.
final class Clos {
    static final double RATE = 40e9;
    private static final long DELAY_NANOS = 1_000;

    final EthernetNetwork network;
    private final List<Switch> racks = new ArrayList<>();

    Clos(long seed, SwitchOptions options) {
        network = new EthernetNetwork(seed);
        List<Switch> spines = List.of(network.addSwitch("S1", options), network.addSwitch("S2", options));
        for (int pod = 0; pod < 2; pod++) {
            List<Switch> leaves = List.of(
                    network.addSwitch("L" + (2 * pod + 1), options), network.addSwitch("L" + (2 * pod + 2), options));
            for (Switch leaf : leaves) {
                spines.forEach(spine -> network.link(leaf, spine, RATE, DELAY_NANOS));
            }
            for (int i = 0; i < 2; i++) {
                Switch rack = network.addSwitch("T" + (2 * pod + i + 1), options);
                leaves.forEach(leaf -> network.link(rack, leaf, RATE, DELAY_NANOS));
                racks.add(rack);
            }
        }
    }

    /// Adds a host to a rack, 1 to 4.
    Host host(String name, int rack) {
        Host host = network.addHost(name);
        network.link(host, racks.get(rack - 1), RATE, DELAY_NANOS);
        return host;
    }
}
