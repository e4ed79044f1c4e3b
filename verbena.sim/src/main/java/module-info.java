import org.jspecify.annotations.NullMarked;

/// A deterministic world for tests: virtual time, seeded faults, packet scripts, checkers.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.sim {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;
    requires transitive verbena.transport;
    requires transitive verbena.nic;

    exports verbena.sim;
    exports verbena.sim.card to
            verbena.tools;
    exports verbena.sim.ethernet to
            verbena.tools;
    exports verbena.sim.scenario to
            verbena.tools;
    exports verbena.sim.traffic to
            verbena.tools;
}
