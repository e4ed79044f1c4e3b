import org.jspecify.annotations.NullMarked;

/// An InfiniBand subnet without input and output: links with credits and lanes, switches, topologies; the agents in
/// its nodes, and its manager. Functions of packets, datagrams and time.
@NullMarked
module verbena.subnet {
    requires static org.jspecify;
    requires transitive verbena.wire;

    exports verbena.subnet;
    exports verbena.subnet.agent;
    exports verbena.subnet.fabric;
    exports verbena.subnet.link;
    exports verbena.subnet.manager;
    exports verbena.subnet.node;
    exports verbena.subnet.rmpp;
    exports verbena.subnet.routing;
    exports verbena.subnet.topology;
}
