import org.jspecify.annotations.NullMarked;

/// The transport protocols without input and output: functions of state, packet and time.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.transport {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;

    exports verbena.transport to
            verbena.nic,
            verbena.sim,
            verbena.tools;
    exports verbena.transport.congestion to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.iwarp to
            verbena.nic;
    exports verbena.transport.memory to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.near to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.psp to
            verbena.nic;
    exports verbena.transport.queue to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.rc to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.unreliable to
            verbena.nic,
            verbena.sim;
    exports verbena.transport.weak to
            verbena.nic,
            verbena.sim;
}
