import org.jspecify.annotations.NullMarked;

/// The software device: its objects, the kinds of device that they stand on, the engine that schedules, the
/// links that move frames and streams.
@NullMarked
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

    exports verbena.nic;
    exports verbena.nic.capture;
    exports verbena.nic.roce;
    exports verbena.nic.fabric;
    exports verbena.nic.link;
    exports verbena.nic.link.ethernet;
    exports verbena.nic.link.ib;
    exports verbena.nic.link.tap;
    exports verbena.nic.link.udp;
    exports verbena.nic.management;

    provides verbena.verbs.spi.Provider with
            verbena.nic.roce.RoceV2Provider,
            verbena.nic.roce.RoceV1Provider,
            verbena.nic.iwarp.IwarpProvider,
            verbena.nic.shm.ShmProvider,
            verbena.nic.ib.IbProvider;
}
