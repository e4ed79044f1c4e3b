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
    requires jdk.jfr;
    requires jdk.net;
    requires java.management;

    exports verbena.nic;
    exports verbena.nic.capture;
    exports verbena.nic.link;
    exports verbena.nic.management;

    provides verbena.verbs.spi.Provider with
            verbena.nic.RoceV2Provider,
            verbena.nic.IwarpProvider;
}
