package verbena.sim.ethernet;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A host or a switch.
public abstract class Node {
    final String name;
    final List<Port> ports = new ArrayList<>();

    Node(String name) {
        this.name = name;
    }

    /// Takes a packet that has come in by `port`, and owns it from now on.
    abstract void arrived(LightPacket packet, Port port, long now);

    /// Returns the bytes of a packet that have to be there before it has arrived.
    int neededBytes(LightPacket packet, Port port) {
        return packet.bytes;
    }

    /// Gives a packet to a port that has nothing queued that may leave; null when there is none.
    abstract @Nullable LightPacket supply(Port port, long now);

    /// Returns whether [#supply] may give a packet soon; false only if it would not.
    abstract boolean mayHaveMore();

    /// Handles a packet from a queue of `port` that begins to leave, and takes no place here any more.
    abstract void leaves(LightPacket packet, Port port, long now);

    @Override
    public String toString() {
        return name;
    }
}
