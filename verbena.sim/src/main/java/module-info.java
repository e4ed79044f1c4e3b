import org.jspecify.annotations.NullMarked;

/// A deterministic world for tests: virtual time, seeded faults, packet scripts, checkers.
@NullMarked
module verbena.sim {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;
    requires transitive verbena.transport;
    requires transitive verbena.nic;

    exports verbena.sim;
    exports verbena.sim.ethernet;
    exports verbena.sim.scenario;
    exports verbena.sim.traffic;
}
