import org.jspecify.annotations.NullMarked;

/// The software device: its objects, the kinds of device that they stand on, the engine that schedules, the
/// links that move frames and streams.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.nic {
    requires static org.jspecify;
    requires verbena.foreign;
    requires verbena.provider;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;
    requires verbena.transport;
    requires verbena.cm;
    requires verbena.subnet;
    requires jdk.jfr;
    requires jdk.net;
    requires java.management;

    exports verbena.nic to
            verbena.sim,
            verbena.tools;
    exports verbena.nic.capture to
            verbena.tools;
    exports verbena.nic.roce to
            verbena.sim,
            verbena.tools;
    exports verbena.nic.fabric to
            verbena.tools;
    exports verbena.nic.link to
            verbena.sim,
            verbena.tools;
    exports verbena.nic.link.ethernet to
            verbena.tools;
    exports verbena.nic.link.ib to
            verbena.tools;
    exports verbena.nic.link.tap to
            verbena.tools;
    exports verbena.nic.link.udp to
            verbena.tools;
    exports verbena.nic.management;

    provides verbena.verbs.spi.Provider with
            verbena.nic.roce.RoceV2Provider,
            verbena.nic.roce.RoceV1Provider,
            verbena.nic.iwarp.IwarpProvider,
            verbena.nic.shm.ShmProvider,
            verbena.nic.ib.IbProvider;
}
