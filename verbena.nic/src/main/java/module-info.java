import org.jspecify.annotations.NullMarked;

/// The software device: verbs objects over the transport, the engine that schedules them, the links that move
/// frames.
@NullMarked
module verbena.nic {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;
    requires verbena.transport;
    requires verbena.cm;
    requires jdk.net;

    exports verbena.nic;
    exports verbena.nic.link;

    provides verbena.verbs.spi.Provider with
            verbena.nic.RoceV2Provider,
            verbena.nic.IwarpProvider;
}
