import org.jspecify.annotations.NullMarked;

/// What a program imports to do RDMA: the verbs, and the interface that providers of devices implement.
@NullMarked
@SuppressWarnings("module") // the users of `counting`, `internal` and `waiting` are compiled later
module verbena.verbs {
    requires static org.jspecify;
    requires java.management;

    exports verbena.verbs;
    exports verbena.verbs.cm;
    exports verbena.verbs.counting to
            verbena.messages,
            verbena.micrometer,
            verbena.netty,
            verbena.nic,
            verbena.ibverbs,
            verbena.nio,
            verbena.stream;
    exports verbena.verbs.internal to
            verbena.abi,
            verbena.check,
            verbena.messages,
            verbena.netty,
            verbena.nic,
            verbena.nio,
            verbena.stream,
            verbena.tools;
    exports verbena.verbs.spi;
    exports verbena.verbs.waiting to
            verbena.messages,
            verbena.stream;

    uses verbena.verbs.internal.DeviceLayer;
    uses verbena.verbs.spi.Provider;
}
