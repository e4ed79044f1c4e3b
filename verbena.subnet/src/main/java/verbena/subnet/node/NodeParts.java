package verbena.subnet.node;

import org.jspecify.annotations.Nullable;

/// The parts of a node: its ports, and the tables of a switch.
final class NodeParts {
    private final NodeSpec spec;
    private final NodePort[] ports;
    private final @Nullable SwitchTables tables;

    NodeParts(NodeSpec spec) {
        this.spec = spec;
        ports = new NodePort[spec.ports() + 1];
        for (int number = spec.isSwitch() ? 0 : 1; number < ports.length; number++) {
            ports[number] = new NodePort(
                    spec,
                    number,
                    spec.isSwitch() ? spec.guid() : spec.guid() + number,
                    spec.isSwitch() ? ports.length : 1);
        }
        tables = spec.isSwitch() ? new SwitchTables(spec.ports()) : null;
    }

    NodeSpec spec() {
        return spec;
    }

    boolean isSwitch() {
        return spec.isSwitch();
    }

    /// Returns the number of external ports.
    int ports() {
        return spec.ports();
    }

    /// Returns a port; the port must exist.
    NodePort port(int number) {
        NodePort port = portOrNull(number);
        if (port == null) {
            throw new IllegalArgumentException("number: no port " + number + " at " + spec.description());
        }
        return port;
    }

    @Nullable
    NodePort portOrNull(int number) {
        return number < 0 || number >= ports.length ? null : ports[number];
    }

    /// Returns the port that has the LID: port 0 of a switch, else this port.
    NodePort endPort(int port) {
        return ports[isSwitch() ? 0 : port];
    }

    /// Returns the forwarding tables of a switch.
    SwitchTables tables() {
        if (tables == null) {
            throw new IllegalStateException(spec.description() + " is no switch");
        }
        return tables;
    }
}
