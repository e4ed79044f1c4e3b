import org.jspecify.annotations.NullMarked;

/// An InfiniBand subnet without input and output: links with credits and lanes, switches, topologies; the agents in
/// its nodes, and its manager. Functions of packets, datagrams and time.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.subnet {
    requires static org.jspecify;
    requires transitive verbena.wire;

    exports verbena.subnet.agent to
            verbena.nic,
            verbena.tools;
    exports verbena.subnet.fabric to
            verbena.nic,
            verbena.tools;
    exports verbena.subnet.link to
            verbena.nic,
            verbena.tools;
    exports verbena.subnet.manager to
            verbena.tools;
    exports verbena.subnet.node to
            verbena.nic,
            verbena.tools;
    exports verbena.subnet.topology to
            verbena.tools;
}
