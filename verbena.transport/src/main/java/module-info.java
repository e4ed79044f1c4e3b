import org.jspecify.annotations.NullMarked;

/// The transport protocols without input and output: functions of state, packet and time.
@NullMarked
module verbena.transport {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;

    exports verbena.transport;
    exports verbena.transport.congestion;
    exports verbena.transport.iwarp;
    exports verbena.transport.memory;
    exports verbena.transport.near;
    exports verbena.transport.queue;
    exports verbena.transport.rc;
    exports verbena.transport.unreliable;
}
